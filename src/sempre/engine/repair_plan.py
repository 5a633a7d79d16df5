"""The repair plan of a schedule, also of one whose cursor is ahead of the store's clock."""

from collections.abc import Iterable
from datetime import datetime

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Plan, PlanningTime, plan_reconcile
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind
from sempre.domain.values import copy_with
from sempre.engine.core import Engine
from sempre.ports.messages import ExecutionQuery
from sempre.ports.pages import walk_pages

__all__ = ["plan_repair"]

AT_ONCE = 500


def plan_repair(
    engine: Engine,
    schedule: Schedule,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    actor: str,
) -> Plan:
    """Plan what brings a schedule to its invariants, also after a jump of the store's clock.

    For a cursor that lies in the future more is read: which of the slots up to there have a row,
    and which count as passed.
    """
    if not schedule.is_ahead(moment.now):
        return plan_reconcile(schedule, rows, moment, actor=actor)
    known = {row.id: row for row in (*_rows_after(engine, schedule, moment.now), *rows)}
    passed = _passed_beyond(engine, schedule, moment.now)
    return plan_reconcile(schedule, known.values(), moment, actor=actor, passed=passed)


def _passed_beyond(engine: Engine, schedule: Schedule, now: datetime) -> list[SlotRange]:
    """Return recorded ranges of slots that passed without a row, and that end after now."""
    limit = AT_ONCE
    while True:
        found = engine.store.ranges(schedule.id, limit=limit).value
        if len(found) < limit or found[-1].first <= now:
            return [each for each in found if each.last > now]
        limit *= 10


def _rows_after(engine: Engine, schedule: Schedule, now: datetime) -> list[Execution]:
    """Return the rows of slots after now."""
    query = ExecutionQuery(
        schedule_id=schedule.id, kinds=frozenset({Kind.SCHEDULED}), since=now, limit=AT_ONCE
    )
    pages = walk_pages(lambda after: engine.store.executions(copy_with(query, after=after)).value)
    return list(pages)
