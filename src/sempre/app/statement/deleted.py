"""Deleted schedules of a month: the log of actions names them, their executions lead to them."""

from dataclasses import replace

from sempre.app.statement.reading import Reader
from sempre.domain.planning.plan import TICK
from sempre.domain.schedule import Schedule
from sempre.domain.statement.period import Period
from sempre.engine.core import Engine
from sempre.ports.messages import ExecutionQuery

__all__ = ["deleted_schedules"]

PAGE = 500
TARGET = "schedule:"


def deleted_schedules(
    engine: Engine, reader: Reader, period: Period, *, wanted: str | None
) -> tuple[list[Schedule], list[str]]:
    """Return schedules that were deleted since the month began, and the names of those not found.

    No list of schedules has them. If the log of actions has deletions, all executions of the month
    are read until each deleted schedule is found. One without an execution in the month is not
    found. With `wanted`, only the schedule of that name is looked for.
    """
    names = {
        each.target.removeprefix(TARGET)
        for each in reader.log(verb="delete")
        if each.target.startswith(TARGET) and wanted in (None, each.target.removeprefix(TARGET))
    }
    found: dict[str, Schedule] = {}
    known: set[str] = set()
    query = ExecutionQuery(since=period.start, until=period.end - TICK, limit=PAGE)
    while names - {each.name for each in found.values()}:
        page = engine.read(engine.store.executions(query))
        for row in page.items:
            identity = row.schedule_id
            if identity is None or identity in known or row.snapshot.name not in names:
                continue
            known.add(identity)
            for candidate in engine.read(engine.store.candidates([row.id])):
                if candidate.view is not None and candidate.view.schedule.deleted:
                    found[identity] = candidate.view.schedule
        if not page.after:
            break
        query = replace(query, after=page.after)
    lost = names - {each.name for each in found.values()}
    return sorted(found.values(), key=lambda each: each.name), sorted(lost)
