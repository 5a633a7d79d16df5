"""The memory broker: the promises of a broker as the least code, for one process.

A message waits in the heap of delayed messages until it is due, then in the heap of ready ones, by
priority. A reservation is one more delay, and a receipt that names its reserver: an unfinished
message becomes due again. A heap entry whose turn is not the message's present turn is stale and
ignored.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heappop, heappush
from itertools import count
from threading import Condition, local

from sempre.brokers.lanes import check_lanes
from sempre.clock import Clock, SystemClock
from sempre.errors import BrokerError, BrokerUnavailable
from sempre.ports.broker import LARGEST_BODY, BrokerCapabilities, Delivery, Message

__all__ = ["MemoryBroker"]


@dataclass
class _Kept:
    """A message, its turn in a heap, the receipt of its reservation, and when it is due."""

    message: Message
    handle: str
    turn: int = 0
    receipt: str = ""
    due: float = 0.0


@dataclass
class _Lane:
    """Delayed turns by due time, and ready turns by priority."""

    delayed: list[tuple[float, int, str]] = field(default_factory=list)
    ready: list[tuple[int, int, str]] = field(default_factory=list)


class MemoryBroker:
    """A broker for the threads of one process, which ends with the process.

    Args:
        clock: by which delays end. A virtual clock that stands still never ends a wait: reserve
            with `wait=0` there.
        visibility: after how many seconds an unfinished message is delivered again.
    """

    capabilities = BrokerCapabilities(
        carries=True, horizon=timedelta(days=1), prioritises=True, shared=False
    )

    def __init__(self, clock: Clock | None = None, *, visibility: float = 120.0) -> None:
        """Begin empty."""
        self._clock = clock or SystemClock()
        self._visibility = visibility
        self._changed = Condition()
        self._numbers = count(1)
        self._kept: dict[str, _Kept] = {}
        self._lanes: defaultdict[str, _Lane] = defaultdict(_Lane)
        self._wakes = 0
        self._thread = local()
        self._closed = False

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Put messages; an empty handle for one that is too big."""
        check_lanes({message.lane for message in messages})
        with self._changed:
            self._check_open()
            handles = [self._keep(message) for message in messages]
            self._changed.notify_all()
        if messages and not any(handles):
            raise BrokerUnavailable(f"no broker takes more than {LARGEST_BODY} bytes.")
        return handles

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return due messages by priority, waiting for the first."""
        check_lanes(lanes)
        with self._changed:
            self._check_open()
            until = self._clock.elapsed() + wait
            while True:
                now = self._clock.elapsed()
                found = [self._reserve(kept, now) for kept in self._take(lanes, limit, now)]
                woken = self._is_woken()
                if found or woken or now >= until or self._closed:
                    return found
                self._changed.wait(min(until, self._next_due(lanes)) - now)

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Delete messages whose reservation still holds."""
        with self._changed:
            for kept in self._still_reserved(deliveries):
                del self._kept[kept.handle]

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Deliver messages again after a delay, if their reservation still holds."""
        with self._changed:
            for kept in self._still_reserved(deliveries):
                kept.receipt = ""
                self._delay(kept, self._clock.elapsed() + delay)
            self._changed.notify_all()

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Return whether the broker still has a message."""
        with self._changed:
            self._check_open()
            kept = self._kept.get(handle)
            return kept is not None and (kept.message.lane, kept.message.body) == (lane, body)

    def has_any(self, lane: str) -> bool:
        """Return whether a lane has a message without a valid reservation."""
        with self._changed:
            self._check_open()
            now = self._clock.elapsed()
            waiting = (kept for kept in self._kept.values() if not kept.receipt or kept.due <= now)
            return any(kept.message.lane == lane for kept in waiting)

    def empty(self, lanes: Sequence[str]) -> int:
        """Delete all messages of lanes, reserved ones included."""
        check_lanes(lanes)
        with self._changed:
            self._check_open()
            gone = [kept.handle for kept in self._kept.values() if kept.message.lane in lanes]
            for handle in gone:
                del self._kept[handle]
            return len(gone)

    def wake(self) -> None:
        """End every wait, and the next one of each thread that does not wait now."""
        with self._changed:
            self._wakes += 1
            self._changed.notify_all()

    def close(self) -> None:
        """End every wait, and refuse further calls."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _keep(self, message: Message) -> str:
        if len(message.body.encode("utf-8", "surrogateescape")) > LARGEST_BODY:
            return ""
        kept = _Kept(message._replace(delay=0.0), str(next(self._numbers)))
        self._kept[kept.handle] = kept
        self._delay(kept, self._clock.elapsed() + message.delay)
        return kept.handle

    def _delay(self, kept: _Kept, due: float) -> None:
        kept.turn, kept.due = next(self._numbers), due
        heappush(self._lanes[kept.message.lane].delayed, (due, kept.turn, kept.handle))

    def _take(self, lanes: Sequence[str], limit: int, now: float) -> Iterator[_Kept]:
        """Remove due messages from the heaps, the lowest priority first."""
        for lane in lanes:
            self._make_ready(self._lanes[lane], now)
        left = limit
        while left and (heaps := [heap for lane in lanes if (heap := self._lanes[lane].ready)]):
            _, turn, handle = heappop(min(heaps))
            if self._is_turn(handle, turn):
                left -= 1
                yield self._kept[handle]

    def _make_ready(self, lane: _Lane, now: float) -> None:
        while lane.delayed and lane.delayed[0][0] <= now:
            _, turn, handle = heappop(lane.delayed)
            if self._is_turn(handle, turn):
                heappush(lane.ready, (self._kept[handle].message.priority, turn, handle))

    def _is_turn(self, handle: str, turn: int) -> bool:
        return handle in self._kept and self._kept[handle].turn == turn

    def _reserve(self, kept: _Kept, now: float) -> Delivery:
        self._delay(kept, now + self._visibility)
        kept.receipt = str(kept.turn)
        return Delivery(kept.message, kept.handle, kept.receipt)

    def _still_reserved(self, deliveries: Sequence[Delivery]) -> Iterator[_Kept]:
        self._check_open()
        for delivery in deliveries:
            kept = self._kept.get(delivery.handle)
            if kept is not None and kept.receipt and kept.receipt == delivery.receipt:
                yield kept

    def _next_due(self, lanes: Sequence[str]) -> float:
        heads = (self._lanes[lane].delayed[:1] for lane in lanes)
        return min((head[0][0] for head in heads if head), default=float("inf"))

    def _is_woken(self) -> bool:
        """Return whether `wake` was called since this thread last asked."""
        seen = getattr(self._thread, "wakes", 0)
        self._thread.wakes = self._wakes
        return bool(seen < self._wakes)

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError("the memory broker is closed; open another one.")
