"""The bell: puts a ticket on the broker for each execution that will be due.

A row that got no ticket stays pending: it is rung again later, or claimed straight from the store
when it is overdue. So a failure of the broker never fails an operation.
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
    """A broker behind a breaker, which takes executions.

    Attributes:
        broker: carries the tickets.
        breaker: rests after failures of the broker.
        carries: whether the broker carries messages; if not, workers find work in the store.
        horizon: rows that are due later are rung when they are nearer.
        soon: without messages, rows due within this time wake other processes; every heartbeat
            reports rows that are due later.
        has_unrung: whether the broker failed to take a ticket, so that rows have to be rung again.
        deaf: lanes whose messages the broker takes and does not deliver.
    """

    def __init__(
        self, store: Store, broker: Broker, *, horizon: timedelta, clock: Clock, events: Events
    ) -> None:
        """Begin with a broker that is believed to work."""
        self.broker = broker
        self.breaker = Breaker(clock)
        self.carries = broker.capabilities.carries
        self.horizon = min(horizon, broker.capabilities.horizon)
        self.soon = self.horizon
        self.has_unrung = False
        self.deaf: set[str] = set()
        self._listeners: tuple[Callable[[datetime], None], ...] = ()
        self._lock = Lock()
        self._store = store
        self._clock = clock
        self._events = events

    @property
    def is_silent(self) -> bool:
        """Whether the broker announces nothing, at least for now: workers scan the store."""
        return not self.carries or self.breaker.is_open or bool(self.deaf)

    def limit_answer_time(self, seconds: float) -> None:
        """Give a call of a remote broker up after this time; workers scan the store meanwhile."""
        if self.broker.capabilities.remote:
            cast("Remote", self.broker).answer_within(seconds)

    def mark_deaf(self, lane: str) -> None:
        """Note that the broker takes messages of a lane and does not deliver them."""
        if lane not in self.deaf:
            self.deaf.add(lane)
            self._events.emit(Happened.BROKER_DEAF, lane=lane)

    def mark_heard(self, lane: str) -> None:
        """Note that the broker delivers the messages of a lane."""
        if lane in self.deaf:
            self.deaf.remove(lane)
            self._events.emit(Happened.BROKER_HEARD, lane=lane)

    def lane(self, queue: str) -> str:
        """Return the broker's lane of a queue."""
        return lane_of(self._store.uuid, queue)

    def ring(self, rows: Iterable[Execution], now: datetime) -> int:
        """Put tickets of rows that are due within the horizon; return how many the broker took.

        Workers of this process are notified in any case.
        """
        return self.ring_waiting([Waiting.of(row) for row in rows if not row.held_by], now)

    def ring_waiting(self, rows: Iterable[Waiting], now: datetime) -> int:
        """Ring rows that no switch holds, as the store lists them; return how many were taken."""
        latest = now + self.horizon
        near = [row for row in rows if row.due_at <= latest]
        if not near:
            return 0
        self._notify(min(row.due_at for row in near))
        if not self.carries and not self._is_soon(near, now):
            return len(near)
        # Without messages of rows, one message lets every worker scan for all of them.
        messages = self._messages(near if self.carries else near[:1], now)
        handles = self.attempt(lambda broker: broker.put(messages))
        if handles is None:
            self.has_unrung = True
            return 0
        if not self.carries:
            return len(near)
        taken = [row for row, handle in zip(near, handles, strict=True) if handle]
        self.has_unrung = self.has_unrung or len(taken) < len(near)
        self._mark([row.id for row in taken if row.state is State.PENDING])
        return len(taken)

    def ring_within(self, connection: object, rows: Iterable[Execution], now: datetime) -> None:
        """Wake idle workers for rows of a caller's transaction when the transaction commits.

        Nothing happens where the broker cannot do that. An error of the driver is raised as it is.
        """
        near = [Waiting.of(row) for row in rows if not row.held_by]
        if self.broker.capabilities.wakes and self._is_soon(near, now):
            cast("Wakes", self.broker).put_within(connection)

    def was_woken(self, *, early: bool) -> bool:
        """Return whether a wake-up ended the last wait of this thread.

        Args:
            early: whether the wait ended before its time, for a broker that does not report that.
        """
        if self.broker.capabilities.wakes:
            return cast("Wakes", self.broker).was_woken()
        return early and not self.carries

    def subscribe(self, listener: Callable[[datetime], None]) -> None:
        """Call a worker of this process with the instant when rung rows are due."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def unsubscribe(self, listener: Callable[[datetime], None]) -> None:
        """Call a worker no longer; after the last one, receive no wake-ups of other processes."""
        with self._lock:
            self._listeners = tuple(each for each in self._listeners if each != listener)
        if not self._listeners and self.broker.capabilities.wakes:
            cast("Wakes", self.broker).rest()

    def wake_workers(self) -> None:
        """Let workers of this and other processes scan the store now, if they scan it at all."""
        if self._listeners:
            self._notify(self._store.last_pass().now)
        if not self.carries:
            self.wake_others()

    def wake_others(self) -> None:
        """Let workers of other processes query the store, where the store is the broker."""
        message = Message(self.lane("default"), "")
        self.attempt(lambda broker: broker.put([message]))

    def attempt(self, call: Callable[[Broker], T]) -> T | None:
        """Call the broker; None if the breaker rests after a failure, or the call fails now."""
        if not self.breaker.admits():
            return None
        began = self._clock.elapsed()
        try:
            answer = call(self.broker)
        except BrokerError as error:
            rest = self.breaker.failed()
            self._events.emit(Happened.BROKER_DOWN, error=str(error), retry_in=rest)
            return None
        if self.breaker.succeeded(since=began):
            self._events.emit(Happened.BROKER_UP)
        return answer

    def _notify(self, due_at: datetime) -> None:
        for listener in self._listeners:
            listener(due_at)

    def _is_soon(self, rows: Iterable[Waiting], now: datetime) -> bool:
        """Whether any of these rows is due before the next heartbeats of all workers or so."""
        latest = now + self.soon
        return any(row.due_at <= latest for row in rows)

    def _messages(self, rows: Sequence[Waiting], now: datetime) -> list[Message]:
        store = self._store.uuid
        lanes = {queue: lane_of(store, queue) for queue in {row.queue for row in rows}}
        # A worker keeps an early ticket until its time; a late one would start up to a second late.
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
                self._store.mark_announced(ids)
        except StoreError as error:
            # The rows stay pending and are rung once more, which is harmless.
            self._events.emit(Happened.STORE_DOWN, error=str(error))
