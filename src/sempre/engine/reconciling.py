"""Reconciling: bring schedules to their invariants, in batches; one bad one harms no other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sempre.domain.planning import Plan, PlanningTime, plan_start
from sempre.engine.core import Engine, born_by
from sempre.engine.events import Happened
from sempre.engine.returning import plan_healing
from sempre.errors import StoreUnavailable, UnknownGrid
from sempre.ports.messages import Order, Reading, View

__all__ = ["Reconciled", "Reconciler"]

TRIES = 3


@dataclass
class Reconciled:
    """What a round of reconciling did.

    Attributes:
        processed: schedules looked at.
        failing: names of those that planning or the store could not deal with, whose grid is
            broken, or that others kept changing.
        changed: those that were not as they should be, and now are.
        created: executions that came into being.
    """

    processed: int = 0
    failing: set[str] = field(default_factory=set)
    changed: int = 0
    created: int = 0


class Reconciler:
    """Reconciles schedules that somebody has read.

    Attributes:
        unread: the ids of schedules that this process cannot read, since the set was last emptied.
    """

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine
        self.unread: set[str] = set()

    def look_at(self, reading: Reading[list[View]], done: Reconciled) -> tuple[int, str]:
        """Reconcile schedules as they were read.

        Returns:
            How many there were, those included that this process cannot read, and the last id.
        """
        views = self._engine.read(reading)
        unread = [each.missing for each in reading.unreadable]
        self.unread.update(unread)
        self.reconcile(views, reading.now, done)
        ids = [*unread, *(view.schedule.id for view in views)]
        return len(ids), max(ids, default="")

    def reconcile(self, views: Sequence[View], now: datetime, done: Reconciled) -> None:
        """Give every one of these schedules the next row it should have, and note it in `done`."""
        left = list(views)
        done.processed += len(left)
        for _ in range(TRIES):
            refused = self._once(left, PlanningTime(now, self._engine.tzdata), done)
            if not refused:
                return
            reading = self._engine.store.views(refused)
            left, now = self._engine.read(reading), reading.now
        done.failing |= {view.schedule.name for view in left}

    def _once(self, views: Sequence[View], moment: PlanningTime, done: Reconciled) -> list[str]:
        """Apply what is needed; return the names of schedules that others changed meanwhile."""
        planned = [(view.schedule.name, self._plan(view, moment, done)) for view in views]
        sound = [(name, plan) for name, plan in planned if plan is not None]
        refused = self._carry_out(sound, moment, done)
        done.failing |= {name for name, plan in sound if plan.schedule and plan.schedule.broken}
        return refused

    def _carry_out(
        self, planned: Sequence[tuple[str, Plan]], moment: PlanningTime, done: Reconciled
    ) -> list[str]:
        wrong = [(name, plan) for name, plan in planned if not plan.is_empty]
        if not wrong:
            return []
        orders = [self._engine.order(plan) for _, plan in wrong]
        names = [name for name, _ in wrong]
        answers = self._apply(orders, names, done)
        born = []
        for order, applied in zip(orders, answers, strict=True):
            if applied:
                done.changed += 1
                done.created += len(order.ids)
                born += born_by(order, moment.now)
                self._tell_returned(order.plan)
                self._engine.tell_of_grid(order.plan)
        self._engine.bell.ring(born, moment.now)
        pairs = zip(names, answers, strict=True)
        return [name for name, applied in pairs if not applied and name not in done.failing]

    def _apply(self, orders: list[Order], names: list[str], done: Reconciled) -> list[bool]:
        """Carry plans out at once; one by one, if the store raises because of one of them."""
        try:
            return self._engine.store.apply(orders)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            if len(orders) > 1:
                pairs = zip(orders, names, strict=True)
                return [self._apply([order], [name], done)[0] for order, name in pairs]
            self._fail(names[0], error, done)
            return [False]

    def _plan(self, view: View, moment: PlanningTime, done: Reconciled) -> Plan | None:
        schedule, events = view.schedule, self._engine.events
        actor = "watchdog"
        try:
            if not schedule.started:
                return plan_start(schedule, view.rows, moment, actor=actor)
            return plan_healing(self._engine, schedule, view.rows, moment, actor=actor)
        except StoreUnavailable:
            raise
        except UnknownGrid as error:
            events.tell(Happened.UNKNOWN_GRID, schedule=schedule.name, error=str(error))
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            self._fail(schedule.name, error, done)
        return None

    def _tell_returned(self, plan: Plan) -> None:
        """Tell of a schedule that was ahead of the store's clock and is not any more."""
        if plan.retracts_after is not None and plan.base is not None:
            ahead = (plan.base.cursor - plan.retracts_after).total_seconds()
            name = plan.base.name
            self._engine.events.tell(Happened.CAME_BACK, schedule=name, seconds=ahead)

    def _fail(self, name: str, error: Exception, done: Reconciled) -> None:
        done.failing.add(name)
        self._engine.events.tell(Happened.FAULTY, schedule=name, error=repr(error))
