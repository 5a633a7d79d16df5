"""The page of one schedule: its state, definition, next slots and executions."""

from dataclasses import dataclass
from datetime import datetime

from sempre.app.presentation.definitions import definition_lines
from sempre.app.presentation.schedules import Summary, state_text, summaries_of
from sempre.app.presentation.slots import upcoming
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.states import State
from sempre.errors import NotFound, SempreError
from sempre.ports.messages import ExecutionQuery, Page, View
from sempre.web.answers import PageAnswer
from sempre.web.views.schedule_changes import read_against_code, read_revisions
from sempre.web.views.schedule_history import read_charts
from sempre.web.visit import Visit

__all__ = ["ScheduleView", "read_schedule", "schedule_page"]

SLOTS = 10
EXECUTIONS = 25
RANGES = 10


@dataclass(frozen=True)
class ScheduleView:
    """What the page of a schedule shows.

    Attributes:
        slots: the next slots that will run.
        slots_error: why the next slots are unknown here; empty if they are known.
        notes: what daylight saving does to the slots, in words.
        skipped: future slots that a person has skipped.
        page: the newest executions up to now.
        ranges: slots that passed without an execution.
    """

    summary: Summary
    state: str
    definition: list[tuple[str, str]]
    slots: list[datetime]
    slots_error: str
    notes: tuple[str, ...]
    skipped: list[Execution]
    page: Page[Execution]
    ranges: list[SlotRange]


def read_schedule(visit: Visit, name: str) -> ScheduleView:
    """Read one schedule; NotFound, with the nearest name, if there is none."""
    reader = visit.reader
    view = reader.engine.read_one(visit.store.views([name]))
    if view is None:
        # Raises NotFound with the nearest name.
        _ = visit.operator.schedule(name).row
        raise NotFound("schedule", name)
    schedule = view.schedule
    [summary] = summaries_of(reader, [schedule])
    query = ExecutionQuery(
        schedule_id=schedule.id, until=reader.now, limit=EXECUTIONS, after=visit.asked("after")
    )
    slots, error = _slots(view, reader.now)
    return ScheduleView(
        summary=summary,
        state=state_text(summary, visit),
        definition=definition_lines(schedule, reader.settings.retention, visit.redact),
        slots=slots,
        slots_error=error,
        notes=tuple(schedule.definition.grid.notes()),
        skipped=[
            row for row in view.rows if row.state is State.SKIPPED and row.run_at > reader.now
        ],
        page=reader.read(visit.store.executions(query)),
        ranges=reader.read(visit.store.ranges(schedule.id, limit=RANGES)),
    )


def schedule_page(visit: Visit, name: str = "") -> PageAnswer:
    """Return the page of one schedule: of a name, or of the one in the path."""
    name = name or visit.params["name"]
    view = read_schedule(visit, name)
    schedule = view.summary.schedule
    values = {
        "view": view,
        "against_code": read_against_code(visit, schedule),
        "revisions": read_revisions(visit, schedule),
        # The live part of the page is refreshed without the drawings around it.
        "charts": None if visit.asked("charts") == "none" else read_charts(visit, schedule.id),
    }
    return PageAnswer("schedule.html", name, values, topics=("runs", "schedules"))


def _slots(view: View, now: datetime) -> tuple[list[datetime], str]:
    try:
        return list(upcoming(view, after=now, count=SLOTS)), ""
    except SempreError as error:
        # The class of the grid lives in code that this process has not imported.
        return [], str(error)
