"""The bell: tells the broker which executions will be due, and survives that nobody listens.

A row that the broker was not told of stays pending and is told of later, or taken straight from
the store when it is overdue. So nothing here ever fails an operation.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TypeVar, cast

from sempre.clock import Clock
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.breaker import Breaker
from sempre.engine.events import Events, Happened
from sempre.engine.tickets import lane_of, ticket_text
from sempre.errors import BrokerError, StoreError
from sempre.ports.broker import Broker, Message, Remote, Wakes
from sempre.ports.messages import Waiting
from sempre.ports.store import Store

__all__ = ["Bell"]

T = TypeVar("T")


class Bell:
    """A broker behind a breaker, which speaks of executions."""

    def __init__(
        self, store: Store, broker: Broker, *, horizon: timedelta, clock: Clock, events: Events
    ) -> None:
        """Begin with a broker that is believed to work."""
        self.broker = broker
        self.breaker = Breaker(clock)
        self.carries = broker.capabilities.carries
        self.horizon = min(horizon, broker.capabilities.horizon)
        # Where the store is the broker, every worker's heartbeat tells it of what is due later.
        self.soon = self.horizon
        self.unheard = False
        self.deaf: set[str] = set()
        self._ears: tuple[Callable[[datetime], None], ...] = ()
        self._lock = Lock()
        self._store = store
        self._clock = clock
        self._events = events

    @property
    def is_dumb(self) -> bool:
        """Whether work has to be looked for in the store, at least for now."""
        return not self.carries or self.breaker.is_open or bool(self.deaf)

    def be_answered_within(self, seconds: float) -> None:
        """Give a broker up that does not answer a call in this time; the store serves meanwhile."""
        if self.broker.capabilities.remote:
            cast("Remote", self.broker).answer_within(seconds)

    def mark_deaf(self, lane: str) -> None:
        """Note that the broker takes messages of a lane and delivers none."""
        if lane not in self.deaf:
            self.deaf.add(lane)
            self._events.tell(Happened.BROKER_DEAF, lane=lane)

    def mark_heard(self, lane: str) -> None:
        """Note that the broker delivers the messages of a lane."""
        if lane in self.deaf:
            self.deaf.remove(lane)
            self._events.tell(Happened.BROKER_HEARD, lane=lane)

    def lane(self, queue: str) -> str:
        """Return the broker's lane of a queue."""
        return lane_of(self._store.uuid, queue)

    def ring(self, rows: Iterable[Execution], now: datetime) -> int:
        """Tell the broker of rows that are due within its horizon; return how many it took.

        A worker of this process hears of them in any case.
        """
        return self.ring_waiting([Waiting.of(row) for row in rows if not row.held_by], now)

    def ring_waiting(self, rows: Iterable[Waiting], now: datetime) -> int:
        """Do the same for what the store has told of rows that are not held."""
        latest = now + self.horizon
        near = [row for row in rows if row.due_at <= latest]
        if not near:
            return 0
        self._tell_ears(min(row.due_at for row in near))
        if not self.carries and not self._is_soon(near, now):
            return len(near)
        # Where nothing is carried, one message lets everybody look at them all.
        messages = self._messages(near if self.carries else near[:1], now)
        handles = self.tell(lambda broker: broker.put(messages))
        if handles is None:
            self.unheard = True
            return 0
        if not self.carries:
            return len(near)
        told = [row for row, handle in zip(near, handles, strict=True) if handle]
        self.unheard = self.unheard or len(told) < len(near)
        self._mark([row.id for row in told if row.state is State.PENDING])
        return len(told)

    def ring_within(self, connection: object, rows: Iterable[Execution], now: datetime) -> None:
        """Wake idle workers for rows of a caller's transaction when it commits, if that can be.

        What the driver raises comes through.
        """
        near = [Waiting.of(row) for row in rows if not row.held_by]
        if self.broker.capabilities.wakes and self._is_soon(near, now):
            cast("Wakes", self.broker).put_within(connection)

    def was_woken(self, *, early: bool) -> bool:
        """Tell whether a wake-up has ended the last wait of this thread.

        Args:
            early: whether the wait ended before its time, in case the broker does not say.
        """
        if self.broker.capabilities.wakes:
            return cast("Wakes", self.broker).was_woken()
        return early and not self.carries

    def listen(self, ear: Callable[[datetime], None]) -> None:
        """Tell a worker of this process when what is rung is due; there may be several."""
        with self._lock:
            self._ears = (*self._ears, ear)

    def leave(self, ear: Callable[[datetime], None]) -> None:
        """Tell a worker no longer; after the last one, hear nothing from other processes."""
        with self._lock:
            self._ears = tuple(each for each in self._ears if each != ear)
        if not self._ears and self.broker.capabilities.wakes:
            cast("Wakes", self.broker).rest()

    def call(self) -> None:
        """Let workers look into the store now, where that is where they look."""
        if self._ears:
            self._tell_ears(self._store.last_pass().now)
        if not self.carries:
            self.wake_others()

    def wake_others(self) -> None:
        """Let workers of other processes query the store, where the store is the broker."""
        message = Message(self.lane("default"), "")
        self.tell(lambda broker: broker.put([message]))

    def tell(self, call: Callable[[Broker], T]) -> T | None:
        """Do something with the broker; None if it rests after a failure, or fails now."""
        if not self.breaker.admits():
            return None
        began = self._clock.elapsed()
        try:
            answer = call(self.broker)
        except BrokerError as error:
            rest = self.breaker.failed()
            self._events.tell(Happened.BROKER_DOWN, error=str(error), retry_in=rest)
            return None
        if self.breaker.succeeded(since=began):
            self._events.tell(Happened.BROKER_UP)
        return answer

    def _tell_ears(self, due_at: datetime) -> None:
        for ear in self._ears:
            ear(due_at)

    def _is_soon(self, rows: Iterable[Waiting], now: datetime) -> bool:
        """Tell whether any of these rows is due before every worker's next heartbeat or so."""
        latest = now + self.soon
        return any(row.due_at <= latest for row in rows)

    def _messages(self, rows: Sequence[Waiting], now: datetime) -> list[Message]:
        store = self._store.uuid
        lanes = {queue: lane_of(store, queue) for queue in {row.queue for row in rows}}
        # Rather a little early, to be kept until its time has come, than up to a second late.
        early = now + timedelta(seconds=self.broker.capabilities.precision)
        return [
            Message(
                lanes[queue],
                ticket_text(store, identity, attempt),
                (due_at - early).total_seconds() if due_at > early else 0.0,
                priority,
            )
            for identity, due_at, queue, priority, attempt, _ in rows
        ]

    def _mark(self, ids: Sequence[str]) -> None:
        try:
            if ids and self.carries:
                self._store.mark_rung(ids)
        except StoreError as error:
            # They stay pending and are told of once more, which is harmless.
            self._events.tell(Happened.STORE_DOWN, error=str(error))
