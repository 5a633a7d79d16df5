"""The engine of one process: its store, bell, settings, clock and listeners."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, TypeVar

from sempre.clock import Clock
from sempre.config import Settings
from sempre.domain.action import Act, action_of
from sempre.domain.execution import Draft, Execution
from sempre.domain.planning import Plan, PlanningTime
from sempre.domain.planning.plan import Change
from sempre.domain.planning.unique_conflict import is_revival
from sempre.domain.states import LIVE, State
from sempre.domain.values import copy_with
from sempre.engine.bell import Bell
from sempre.engine.events import Events, Happened
from sempre.engine.healing import HealingLog
from sempre.engine.ids import new_id
from sempre.engine.limits import LimitOpener
from sempre.engine.outage import Outage
from sempre.engine.throttle import Throttle
from sempre.engine.unread import UnreadRows
from sempre.errors import Contended
from sempre.ports.messages import Order, Reading
from sempre.ports.store import Store
from sempre.ports.tracing import Tracer

__all__ = ["ActOfPlan", "CarryOut", "ClockReading", "Engine", "StoreTime", "born_by", "woken_by"]

T = TypeVar("T")
WATCHDOG_CHECK = 60.0
# In seconds, how long a caller that enqueues waits for a broker that is frozen.
LONGEST_ANSWER = 2.0
# In seconds. Two clocks drift by some parts in ten thousand: in this time by a few milliseconds.
FRESH = 60.0


ActOfPlan = Act | Callable[[Plan], Act | None] | None
"""What the log of actions says about a plan; a function decides by the plan; None logs nothing."""


class CarryOut(Protocol):
    """Carries out a plan, as `Engine.carry_out` does; a preview keeps the plan instead."""

    def __call__(
        self, plan_again: Callable[[], Plan | None], *, act: ActOfPlan = None
    ) -> Order | None:
        """Return the order that was carried out; None if there was nothing to do."""
        ...


class ClockReading(NamedTuple):
    """The store's now, between two points of this process's steady clock: question and answer."""

    now: datetime
    asked_at: float
    answered_at: float


class StoreTime:
    """The store's clock, estimated by this process between two readings."""

    def __init__(self, clock: Clock) -> None:
        """Begin without a reading."""
        self._clock = clock
        self._reading: tuple[datetime, float] | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether the last reading is recent."""
        return self._reading is not None and self._clock.elapsed() - self._reading[1] < FRESH

    def now(self) -> datetime:
        """Return the last reading plus the time since; the host's now before the first reading."""
        if self._reading is None:
            return self._clock.now()
        now, at = self._reading
        return now + timedelta(seconds=self._clock.elapsed() - at)

    def note(self, now: datetime) -> None:
        """Note a reading."""
        self._reading = (now, self._clock.elapsed())


@dataclass
class Engine:
    """What claims, scans, settlements and passes of one process share."""

    store: Store
    bell: Bell
    settings: Settings
    clock: Clock
    events: Events
    tzdata: str
    tracer: Tracer | None = None

    def __post_init__(self) -> None:
        """Begin to follow the store's clock, and limit how long the broker may take to answer."""
        self.time = StoreTime(self.clock)
        # Jobs for which this process has reported that a result could not be stored.
        self.unstored_results: set[str] = set()
        self.unread = UnreadRows(self.events)
        self.outage = Outage(self.clock, self.events)
        self.limits = LimitOpener(self)
        self.healing = HealingLog(
            self.store, self.clock, now=self.time.now, failed=self.outage.failed
        )
        self.bell.soon = 2 * self.settings.beat
        sweep = self.settings.sweep.total_seconds()
        self.bell.limit_answer_time(min(sweep / 4, LONGEST_ANSWER))
        # Here, since all watchdogs of a process together check at most once a minute.
        self.watchdog_checks = Throttle(self.clock, seconds=WATCHDOG_CHECK)

    def read(self, reading: Reading[T]) -> T:
        """Return the value of a reading; note the store's now, and report unreadable rows."""
        self.time.note(reading.now)
        if reading.unreadable:
            self.unread.report(reading.unreadable)
        return reading.value

    def read_one(self, reading: Reading[list[T]]) -> T | None:
        """Return the single value of a reading; None if there is none.

        Raises:
            UnreadableRow: the row exists, and this process cannot read it.
        """
        found = self.read(reading)
        if reading.unreadable and not found:
            raise reading.unreadable[0].error
        return found[0] if found else None

    def present(self) -> datetime:
        """Return the store's now, read from the store if the last reading is old."""
        if not self.time.is_fresh:
            self.read(self.store.last_pass())
        return self.time.now()

    def moment(self) -> PlanningTime:
        """Return the store's now and the time zone data, for planning."""
        return PlanningTime(self.time.now(), self.tzdata)

    def order(self, plan: Plan, act: Act | None = None) -> Order:
        """Return a plan as an order, with ids for the executions that the plan creates."""
        if not plan.creates and act is None:
            return Order(plan)
        if not self.bell.carries:
            creates, changes = self.mark_scheduled(plan.creates), map(_announced, plan.changes)
            plan = copy_with(plan, creates=creates, changes=tuple(changes))
        now = self.time.now()
        action = None if act is None else action_of(act, plan, new_id(now))
        return Order(plan, tuple([new_id(now) for _ in plan.creates]), action)

    def mark_scheduled(self, drafts: Iterable[Draft]) -> tuple[Draft, ...]:
        """Mark pending drafts as scheduled if the broker carries no messages."""
        if self.bell.carries:
            return tuple(drafts)
        marked = [
            copy_with(draft, state=State.SCHEDULED) if draft.state is State.PENDING else draft
            for draft in drafts
        ]
        return tuple(marked)

    def carry_out(
        self,
        plan_again: Callable[[], Plan | None],
        *,
        act: ActOfPlan = None,
        tries: int = 5,
    ) -> Order | None:
        """Apply a plan and ring the executions it created; plan again while the plan is refused.

        An act of an operator is logged in the same commit; a function decides by the plan.

        Returns:
            The order that was carried out; None if the plan was empty.

        Raises:
            Contended: other processes changed the schedule first, every time.
        """
        for _ in range(tries):
            plan = plan_again()
            if plan is None or plan.is_empty:
                return None
            order = self.order(plan, act(plan) if callable(act) else act)
            if self.store.apply([order])[0]:
                self.bell.ring(woken_by(order, self.time.now()), self.time.now())
                self.report_grid(plan)
                return order
        raise Contended("another process changed the schedule meanwhile; try again.")

    def report_grid(self, plan: Plan) -> None:
        """Report a grid that an applied plan found broken, or working again."""
        before, after = plan.base, plan.schedule
        if before is None or after is None or bool(before.broken) == bool(after.broken):
            return
        if after.broken:
            facts = {"schedule": after.name, "error": after.broken}
            self.events.emit(Happened.SCHEDULE_BROKEN, **facts)
        else:
            mended = {"schedule": after.name, "next_run_at": after.next_run_at}
            self.events.emit(Happened.SCHEDULE_MENDED, **mended)


def woken_by(order: Order, now: datetime) -> list[Execution]:
    """Return the executions that wait after an order and did not before: created or retried."""
    retried = [change.after for change in order.plan.changes if is_revival(change)]
    return born_by(order, now) + retried


def _announced(change: Change) -> Change:
    """Return a change with a retried execution marked as scheduled: the broker needs no message."""
    if not is_revival(change):
        return change
    return Change(change.before, copy_with(change.after, state=State.SCHEDULED))


def born_by(order: Order, now: datetime) -> list[Execution]:
    """Return the live executions that an order creates."""
    pairs = zip(order.plan.creates, order.ids, strict=True)
    return [draft.born(identity, now) for draft, identity in pairs if draft.state in LIVE]
