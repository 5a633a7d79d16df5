"""The Redis broker: the operations of the port, each as one script by the server's clock.

Each lane has a sorted set of delayed messages by due time, a sorted set of ready messages by
priority, and hashes of bodies and receipts by id. All keys share a hash tag, so that one script may
use several lanes. A message that is due before all others is published in the channel of its lane,
and waiting workers ask again: a publication reserves nothing, so a lost listener loses nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from math import ceil
from threading import Lock, local
from typing import NamedTuple, TypeVar
from uuid import uuid4
from weakref import WeakSet

from sempre.brokers.lanes import check_lanes
from sempre.brokers.redis.server import BrokerServer, Subscription
from sempre.brokers.waker import Ending, Waker
from sempre.clock import Clock, SystemClock
from sempre.errors import BrokerError, BrokerUnavailable
from sempre.forking import PerProcess
from sempre.ports.broker import LARGEST_BODY, BrokerCapabilities, Delivery, Message
from sempre.redis_server import PREFIX_FORM, is_prefix

__all__ = ["RedisBroker"]

# Messages per script: the server answers no other client while a script runs.
_BATCH = 1000
_MICROSECONDS = 1_000_000
_MOST = 2**31 - 1
T = TypeVar("T")


class RedisBroker:
    """The broker of a Redis or Valkey server, which threads and forked children may share.

    Args:
        url: of the server: `redis://`, `rediss://` or `unix://`.
        prefix: of all keys; a store with this prefix has other keys.
        clock: by which waits end.
        visibility: after how many seconds an unfinished message is delivered again.
        answer_after: for how many seconds the server may take to connect and to answer.

    Raises:
        BrokerError: the URL or prefix cannot be used.
        MissingExtra: the driver is not installed.
    """

    capabilities = BrokerCapabilities(
        carries=True, horizon=timedelta(days=1), prioritises=True, shared=True, remote=True
    )

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "sempre",
        clock: Clock | None = None,
        visibility: float = 120.0,
        answer_after: float = 5.0,
    ) -> None:
        """Check what can be checked without connecting."""
        if not is_prefix(prefix):
            raise BrokerError(f"the prefix {prefix!r} is not accepted; allowed: {PREFIX_FORM}.")
        # No prefix of a store has a dash, so no key of a store can be one of the broker.
        self._connect = partial(BrokerServer, url, root=f"{{{prefix}-bell}}:")
        self._answer_after = answer_after
        self._clock = clock or SystemClock()
        self._visibility = _microseconds(visibility)
        self._process = PerProcess(self._new_connections)
        self._closed = False

    def answer_within(self, seconds: float) -> None:
        """Let no call wait longer than this for the server, half of the time to connect."""
        if seconds / 2 < self._answer_after:
            self._answer_after = seconds / 2
            self._process = PerProcess(self._new_connections)

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Put messages, a thousand by each script; an empty handle for one that is too big."""
        check_lanes({message.lane for message in messages})
        self._check_open()
        fitting = [message for message in messages if not _is_too_big(message)]
        if messages and not fitting:
            raise BrokerUnavailable(f"no broker takes more than {LARGEST_BODY} bytes.")
        taken = iter([handle for part in _parts(fitting) for handle in self._put(part)])
        return ["" if _is_too_big(message) else next(taken) for message in messages]

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return due messages, waiting for the first."""
        check_lanes(lanes)
        self._check_open()
        connections, until = self._process.get(), self._clock.elapsed() + wait
        if limit < 1 or not lanes:
            connections.waker.wait(wait)
            return []
        if wait <= 0:
            return self._reserve(lanes, limit)[0]
        with connections.own() as subscriber:
            return self._wait(subscriber, connections.waker, _Request(lanes, limit, until))

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Delete messages whose reservation still holds."""
        self._check_open()
        for lane, receipt, handles in _reservations(deliveries):
            self._server.run("acknowledge", [lane, receipt, *handles])

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Deliver messages again after a delay, if their reservation still holds."""
        self._check_open()
        for lane, receipt, handles in _reservations(deliveries):
            self._server.run("put_back", [lane, receipt, _microseconds(delay), *handles])

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Return whether the server still has a message."""
        self._check_open()
        return bool(self._server.read("HGET", f"bodies:{lane}", handle) == body)

    def has_any(self, lane: str) -> bool:
        """Return whether a lane has a message without a valid reservation."""
        self._check_open()
        return bool(self._server.run("has_any", [lane]))

    def empty(self, lanes: Sequence[str]) -> int:
        """Delete all messages of lanes at once, reserved ones included."""
        check_lanes(lanes)
        self._check_open()
        gone: int = self._server.run("empty", dict.fromkeys(lanes))
        return gone

    def wake(self) -> None:
        """End every wait, and the next one of each thread that does not wait now."""
        self._process.get().waker.wake()

    def close(self) -> None:
        """Close every connection of this process; reservations expire in their time."""
        self._closed = True
        self._process.get().close()

    def _put(self, messages: Sequence[Message]) -> list[str]:
        given: list[str | int] = []
        for message in messages:
            priority = min(max(0, message.priority), _MOST)
            given += [message.lane, _microseconds(message.delay), priority, message.body]
        handles: list[str] = self._server.run("put", given)
        return handles

    def _wait(self, subscriber: "_Subscriber", waker: Waker, request: "_Request") -> list[Delivery]:
        """Reserve until messages come; wait between for publications, due times and wake-ups."""
        while not self._closed:
            subscription = subscriber.subscribed(request.lanes)
            found, due_in = self._reserve(request.lanes, request.limit)
            left = request.until - self._clock.elapsed()
            if found or left <= 0 or waker.is_woken():
                return found
            ending = waker.wait(min(left, due_in), subscription)
            if ending is Ending.WOKEN:
                break
            if ending is Ending.READABLE and not subscription.is_alive_after_reading():
                subscriber.close()
        return []

    def _reserve(self, lanes: Sequence[str], limit: int) -> tuple[list[Delivery], float]:
        """Return due messages, and the seconds until the next message is due if there are none."""
        found: list[Delivery] = []
        while len(found) < limit:
            asked = min(_BATCH, limit - len(found))
            more, due_in = self._reserve_batch(lanes, asked)
            found += more
            if len(more) < asked:
                break
        # A script reserves lane by lane.
        found.sort(key=lambda delivery: delivery.handle)
        return found, due_in

    def _reserve_batch(self, lanes: Sequence[str], limit: int) -> tuple[list[Delivery], float]:
        receipt = uuid4().hex
        given: list[str | int] = [limit, self._visibility, receipt, *dict.fromkeys(lanes)]
        due_in, *found = self._server.run("reserve", given)
        deliveries = [
            Delivery(Message(lane, body, priority=_priority_in(handle)), handle, receipt)
            for lane, handle, body in zip(found[::3], found[1::3], found[2::3], strict=True)
        ]
        return deliveries, due_in / _MICROSECONDS if due_in >= 0 else float("inf")

    def _new_connections(self) -> "_Connections":
        return _Connections(self._connect(answer_after=self._answer_after))

    @property
    def _server(self) -> BrokerServer:
        return self._process.get().server

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError(f"the broker of {self._server.address} is closed; open another one.")


class _Request(NamedTuple):
    """The lanes of a wait, the most messages, and the end of the wait."""

    lanes: Sequence[str]
    limit: int
    until: float


class _Subscriber:
    """The subscription of one thread, kept from one wait to the next."""

    def __init__(self, server: BrokerServer) -> None:
        self.lock = Lock()
        self._server = server
        self._subscription: Subscription | None = None

    def subscribed(self, lanes: Sequence[str]) -> Subscription:
        """Return a subscription to these lanes, the present one or a new one."""
        if self._subscription is None or self._subscription.lanes != set(lanes):
            self.close()
            self._subscription = self._server.subscribe(lanes)
        return self._subscription

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = None


class _Connections:
    """The connections of one process: the server, and a subscription for each waiting thread."""

    def __init__(self, server: BrokerServer) -> None:
        self.server = server
        self.waker = Waker()
        self._thread = local()
        self._every: WeakSet[_Subscriber] = WeakSet()

    @contextmanager
    def own(self) -> Iterator[_Subscriber]:
        """Lend the subscriber of this thread; an error inside the block closes the subscription."""
        known: _Subscriber | None = getattr(self._thread, "subscriber", None)
        if known is None:
            known = self._thread.subscriber = _Subscriber(self.server)
            self._every.add(known)
        with known.lock:
            try:
                yield known
            except BaseException:
                known.close()
                raise

    def close(self) -> None:
        """End every wait, and close every connection."""
        self.waker.wake()
        for subscriber in list(self._every):
            with subscriber.lock:
                subscriber.close()
        self.server.close()


def _is_too_big(message: Message) -> bool:
    # A character has at most four bytes, so most bodies need no encoding to be measured.
    body = message.body
    if len(body) * 4 <= LARGEST_BODY:
        return False
    return len(body.encode("utf-8", "surrogateescape")) > LARGEST_BODY


def _microseconds(seconds: float) -> int:
    return max(0, ceil(seconds * _MICROSECONDS))


def _priority_in(handle: str) -> int:
    return int(handle.partition("-")[0])


def _reservations(deliveries: Iterable[Delivery]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the handles of deliveries by lane and receipt: one script reserved each group."""
    handles: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for delivery in deliveries:
        handles[delivery.message.lane, delivery.receipt].append(delivery.handle)
    for (lane, receipt), every in handles.items():
        for part in _parts(every):
            yield lane, receipt, part


def _parts(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(whole), _BATCH):
        yield whole[start : start + _BATCH]
