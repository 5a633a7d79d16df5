"""Sweeping: take back what workers that are gone still hold."""

from datetime import datetime

from sempre.domain.planning import Moment, Plan, plan_rescue
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.ports.messages import Candidate

__all__ = ["Sweeper"]

BATCH = 200


class Sweeper:
    """Rescues executions whose lease has expired."""

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine

    def rescue(self) -> int:
        """Take expired executions back, as their policy says; return how many.

        If the store's clock has just jumped, everybody's lease may seem to have expired: nothing
        is taken back for the length of one lease, in which the living show that they live.
        """
        reading = self._engine.store.expired(BATCH)
        lost = self._engine.read(reading)
        if not lost or self._clock_is_in_doubt():
            return 0
        return self._take_back(lost, reading.now)

    def _clock_is_in_doubt(self) -> bool:
        jumped = self._engine.jumped_at
        lease = self._engine.settings.lease.total_seconds()
        return jumped is not None and self._engine.clock.elapsed() - jumped < lease

    def _take_back(self, lost: list[Candidate], now: datetime) -> int:
        moment = Moment(now, self._engine.tzdata)
        planned = [(each.execution, _plan(each, moment)) for each in lost]
        wanted = [(execution, plan) for execution, plan in planned if not plan.is_empty]
        orders = [self._engine.order(plan) for _, plan in wanted]
        answers = self._engine.store.apply(orders) if orders else []
        rescued, waiting = 0, []
        for (execution, plan), applied in zip(wanted, answers, strict=True):
            if applied:
                rescued += 1
                waiting += [each.after for each in plan.changes if each.after.is_live]
                facts = {"execution": execution, "session": execution.session}
                self._engine.events.tell(Happened.RESCUED, **facts)
        self._engine.bell.ring(waiting, now)
        return rescued


def _plan(candidate: Candidate, moment: Moment) -> Plan:
    view = candidate.view
    schedule, rows = (view.schedule, view.rows) if view else (None, ())
    return plan_rescue(schedule, candidate.execution, rows, moment)
