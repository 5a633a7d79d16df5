"""What every part of the engine works with: a store, a bell, settings, a clock and listeners."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from sempre.clock import Clock
from sempre.config import Settings
from sempre.domain.execution import Draft, Execution
from sempre.domain.planning import Plan, PlanningTime
from sempre.domain.states import LIVE, State
from sempre.domain.values import copy_with
from sempre.engine.bell import Bell
from sempre.engine.events import Events, Happened
from sempre.engine.ids import new_id
from sempre.engine.outage import Outage
from sempre.engine.throttle import Throttle
from sempre.engine.unread import UnreadRows
from sempre.errors import Contended
from sempre.ports.messages import Order, Reading
from sempre.ports.store import Store

__all__ = ["Engine", "StoreTime", "Told", "born_by"]

T = TypeVar("T")
WATCHDOG_CHECK = 60.0
# A caller who enqueues waits no longer for a broker that is frozen; a worker a part of its sweep.
LONGEST_ANSWER = 2.0
# Two clocks may part by some parts in ten thousand: this long apart, by a few milliseconds.
FRESH = 60.0


class Told(NamedTuple):
    """The store's now, and when it was asked for and told by our steady clock."""

    now: datetime
    asked_at: float
    answered_at: float


class StoreTime:
    """The store's clock as far as this process knows it between two readings."""

    def __init__(self, clock: Clock) -> None:
        """Know nothing yet."""
        self._clock = clock
        self._heard: tuple[datetime, float] | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether the store has told its time not long ago."""
        return self._heard is not None and self._clock.elapsed() - self._heard[1] < FRESH

    def now(self) -> datetime:
        """Return the last reading and what has passed here since; the host's now before one."""
        if self._heard is None:
            return self._clock.now()
        now, at = self._heard
        return now + timedelta(seconds=self._clock.elapsed() - at)

    def hear(self, now: datetime) -> None:
        """Take a reading in."""
        self._heard = (now, self._clock.elapsed())


@dataclass
class Engine:
    """The things that claims, sweeps, settles and passes share in one process."""

    store: Store
    bell: Bell
    settings: Settings
    clock: Clock
    events: Events
    tzdata: str

    def __post_init__(self) -> None:
        """Begin to follow the store's clock."""
        self.time = StoreTime(self.clock)
        # The jobs of which this process has said that a result could not be stored.
        self.unstored_results: set[str] = set()
        self.unread = UnreadRows(self.events)
        self.outage = Outage(self.clock, self.events)
        self.bell.soon = 2 * self.settings.beat
        sweep = self.settings.sweep.total_seconds()
        self.bell.be_answered_within(min(sweep / 4, LONGEST_ANSWER))
        # Here, since all watchdogs of a process together look at most once in a minute.
        self.watchdog_checks = Throttle(self.clock, seconds=WATCHDOG_CHECK)

    def read(self, reading: Reading[T]) -> T:
        """Return the value of a reading and note what the store's clock said.

        Rows that this process cannot read are told of.
        """
        self.time.hear(reading.now)
        if reading.unreadable:
            self.unread.tell(reading.unreadable)
        return reading.value

    def read_one(self, reading: Reading[list[T]]) -> T | None:
        """Return the one value that was asked for; None if there is none.

        Raises:
            UnreadableRow: it is there, and this process cannot read it.
        """
        found = self.read(reading)
        if reading.unreadable and not found:
            raise reading.unreadable[0].error
        return found[0] if found else None

    def present(self) -> datetime:
        """Return the store's now, which is asked for if it was not told for a while."""
        if not self.time.is_fresh:
            self.read(self.store.last_pass())
        return self.time.now()

    def moment(self) -> PlanningTime:
        """Return the present by the store's clock, as planning takes it."""
        return PlanningTime(self.time.now(), self.tzdata)

    def order(self, plan: Plan) -> Order:
        """Return a plan as an order, with ids for what it creates.

        Where nobody has to be told, rows are born as told.
        """
        if not plan.creates:
            return Order(plan)
        if not self.bell.carries:
            plan = copy_with(plan, creates=self.told(plan.creates))
        now = self.time.now()
        return Order(plan, tuple([new_id(now) for _ in plan.creates]))

    def told(self, drafts: Iterable[Draft]) -> tuple[Draft, ...]:
        """Return executions that are to be as they are born: told of, where nobody has to be."""
        if self.bell.carries:
            return tuple(drafts)
        told = [
            copy_with(draft, state=State.SCHEDULED) if draft.state is State.PENDING else draft
            for draft in drafts
        ]
        return tuple(told)

    def carry_out(self, plan_again: Callable[[], Plan | None], *, tries: int = 5) -> Order | None:
        """Apply a plan and ring what it created; plan again while others were faster.

        Returns:
            The order that was carried out; None if there was nothing to do.

        Raises:
            Contended: others were faster every time.
        """
        for _ in range(tries):
            plan = plan_again()
            if plan is None or plan.is_empty:
                return None
            order = self.order(plan)
            if self.store.apply([order])[0]:
                self.bell.ring(born_by(order, self.time.now()), self.time.now())
                self.tell_of_grid(plan)
                return order
        raise Contended("others changed the schedule at the same time; try again.")

    def tell_of_grid(self, plan: Plan) -> None:
        """Report that a plan which was carried out found a grid broken, or working again."""
        before, after = plan.base, plan.schedule
        if before is None or after is None or bool(before.broken) == bool(after.broken):
            return
        if after.broken:
            facts = {"schedule": after.name, "error": after.broken}
            self.events.tell(Happened.SCHEDULE_BROKEN, **facts)
        else:
            mended = {"schedule": after.name, "next_run_at": after.next_run_at}
            self.events.tell(Happened.SCHEDULE_MENDED, **mended)


def born_by(order: Order, now: datetime) -> list[Execution]:
    """Return the live executions that an order brings into being."""
    pairs = zip(order.plan.creates, order.ids, strict=True)
    return [draft.born(identity, now) for draft, identity in pairs if draft.state in LIVE]
