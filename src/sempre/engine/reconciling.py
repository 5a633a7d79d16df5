"""Reconciling: bring schedules to their invariants, in batches; one bad one harms no other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sempre.domain.planning import Moment, Plan, plan_reconcile, plan_start
from sempre.engine.core import Engine, born_by
from sempre.engine.events import Happened
from sempre.errors import UnknownGrid
from sempre.ports.messages import View

__all__ = ["Reconciled", "Reconciler"]

TRIES = 3


@dataclass
class Reconciled:
    """What a round of reconciling did.

    Attributes:
        processed: schedules looked at.
        failed: those that planning could not deal with, or that others kept changing.
        changed: those that were not as they should be, and now are.
        created: executions that came into being.
    """

    processed: int = 0
    failed: int = 0
    changed: int = 0
    created: int = 0


class Reconciler:
    """Reconciles schedules that somebody has read."""

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine

    def reconcile(self, views: Sequence[View], now: datetime, done: Reconciled) -> None:
        """Give every one of these schedules the next row it should have, and note it in `done`."""
        left = list(views)
        done.processed += len(left)
        for _ in range(TRIES):
            refused = self._once(left, Moment(now, self._engine.tzdata), done)
            if not refused:
                return
            reading = self._engine.store.views(refused)
            left, now = self._engine.read(reading), reading.now
        done.failed += len(left)

    def _once(self, views: Sequence[View], moment: Moment, done: Reconciled) -> list[str]:
        """Apply what is needed; return the names of schedules that others changed meanwhile."""
        planned = [(view, self._plan(view, moment, done)) for view in views]
        wrong = [(view, plan) for view, plan in planned if plan and not plan.is_empty]
        if not wrong:
            return []
        orders = [self._engine.order(plan) for _, plan in wrong]
        answers = self._engine.store.apply(orders)
        born = []
        for order, applied in zip(orders, answers, strict=True):
            if applied:
                done.changed += 1
                done.created += len(order.ids)
                born += born_by(order, moment.now)
        self._engine.bell.ring(born, moment.now)
        pairs = zip(wrong, answers, strict=True)
        return [view.schedule.name for (view, _), applied in pairs if not applied]

    def _plan(self, view: View, moment: Moment, done: Reconciled) -> Plan | None:
        schedule, events = view.schedule, self._engine.events
        verb = plan_reconcile if schedule.started else plan_start
        try:
            return verb(schedule, view.rows, moment, actor="watchdog")
        except UnknownGrid as error:
            events.tell(Happened.UNKNOWN_GRID, schedule=schedule.name, error=str(error))
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            done.failed += 1
            events.tell(Happened.FAULTY, schedule=schedule.name, error=repr(error))
        return None
