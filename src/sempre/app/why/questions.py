"""Questions: an execution by id, or a slot by the name of its schedule and a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sempre.app.why.reading import RecordReader
from sempre.domain.explanation import Explanation, explain_execution, explain_slot
from sempre.domain.explanation.causes import Fact
from sempre.domain.explanation.placement import zone_of_grid
from sempre.domain.redaction import redacted_text
from sempre.engine.core import Engine
from sempre.errors import InstantError, NotFound
from sempre.grids.grid import Grid
from sempre.grids.instants import as_instant, read_moment
from sempre.grids.wall_clock import showings_of

__all__ = ["Asked", "asked_instants", "why_execution", "why_slot"]

EXAMPLE = "a time such as 2026-03-29T02:30, with or without an offset"


class Asked(NamedTuple):
    """The time of a question.

    Attributes:
        instants: what the time may mean, the likeliest first.
        wall: the time as wall time of the schedule's zone; None if it has an offset.
    """

    instants: tuple[datetime, ...]
    wall: datetime | None = None


def asked_instants(text: str | datetime, grid: Grid | None, usual: str | None = None) -> Asked:
    """Return the instants that a time may mean, in the zone of a schedule's grid.

    A wall time that the clocks show twice means either. One that the clocks skip means the instant
    of the jump, where a cron time runs, or the instant as long after the jump, where a point of
    `Every` runs.

    Raises:
        InstantError: the text is not a time.
    """
    moment = read_moment("at", text)
    if moment.utcoffset() is not None:
        return Asked((as_instant("at", moment),))
    zone = zone_of_grid(grid) if grid is not None else usual or "UTC"
    showings = showings_of(moment, zone)
    jump = () if showings.gap is None else (showings.gap.at,)
    return Asked(tuple(dict.fromkeys((*showings.instants, *jump))), moment)


def why_slot(engine: Engine, name: str, at: str | datetime) -> Explanation:
    """Explain the slot of a schedule at a time.

    Raises:
        NotFound: no schedule has, or had, that name.
        InstantError: the time cannot be read.
    """
    reader = RecordReader(engine)
    found = reader.schedule(name) or reader.deleted(name)
    usual = engine.settings.timezone
    grid = found.definition.grid if found else None
    try:
        asked = asked_instants(at, grid, usual)
    except InstantError as error:
        raise InstantError("at", at, allowed=EXAMPLE) from error
    records = reader.of_slot(name, found, asked.instants, asked.wall)
    explanation = explain_slot(records)
    if found is None and not explanation.causes:
        raise NotFound("schedule", name, hint=reader.nearest(name))
    return _masked(replace(explanation, told_at=records.now), engine.settings.redact)


def why_execution(engine: Engine, identity: str) -> Explanation:
    """Explain one execution.

    Raises:
        NotFound: there is no execution of that id.
    """
    reader = RecordReader(engine)
    candidate = reader.candidate(identity)
    if candidate is None:
        raise NotFound("execution", identity)
    row, view = candidate.execution, candidate.view
    schedule = view.schedule if view else None
    if schedule is None and row.schedule_id is not None:
        schedule = reader.schedule(row.snapshot.name)
    records = reader.of_execution(row, schedule)
    explanation = replace(explain_execution(records, row), told_at=records.now)
    explanation = _masked(explanation, engine.settings.redact)
    zone = engine.settings.timezone
    has_zone = row.snapshot.grid is not None or zone is None
    return explanation if has_zone else replace(explanation, zone=str(zone))


def _masked(explanation: Explanation, names: Sequence[str]) -> Explanation:
    """Return an explanation without the values after the names of the setting `redact`."""
    if not names:
        return explanation
    causes = [replace(each, facts=_without(each.facts, names)) for each in explanation.causes]
    return replace(explanation, causes=tuple(causes))


def _without(facts: Mapping[str, Fact], names: Sequence[str]) -> dict[str, Fact]:
    return {
        name: redacted_text(value, names) if isinstance(value, str) else value
        for name, value in facts.items()
    }
