"""Applications whose months are stated in tests, and a recomputation that is independent."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from sempre import Sempre
from sempre.app.statement import MonthStatement
from sempre.domain.execution import SlotRange
from sempre.domain.statement.account import ScheduleStatement
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.domain.states import Kind, State
from sempre.grids.grid import Grid
from sempre.ports.messages import ExecutionQuery

__all__ = ["TICK", "account_slots", "checked", "counts", "slot_outcomes"]

TICK = timedelta(microseconds=1)
STATES = {
    State.SUCCEEDED: {Outcome.ON_TIME, Outcome.LATE, Outcome.RETRIED},
    State.FAILED: {Outcome.FAILED},
    State.SKIPPED: {Outcome.SKIPPED},
    State.MISSED: {Outcome.MISSED},
    State.CANCELLED: {Outcome.CANCELLED},
    State.RUNNING: {Outcome.RUNNING},
    State.PENDING: {Outcome.WAITING},
    State.SCHEDULED: {Outcome.WAITING},
    State.SUPERSEDED: {Outcome.SUPERSEDED},
}


def counts(statement: ScheduleStatement) -> dict[str, int]:
    """Return the numbers of slots by outcome, as words."""
    return {str(outcome): count for outcome, count in statement.totals.outcomes.items()}


def checked(statement: MonthStatement, name: str) -> ScheduleStatement:
    """Return the statement of a schedule; its sums agree with its list of slots."""
    [found] = [each for each in statement if each.name == name]
    entries = [entry for of, entry in statement.slots() if of == name]
    sums: Counter[Outcome] = Counter()
    for entry in entries:
        sums[entry.outcome] += entry.count
    assert dict(sums) == dict(found.totals.outcomes)
    assert sum(entry.count for entry in entries) == found.totals.demanded
    late = [entry for entry in entries if entry.outcome is not Outcome.ON_TIME]
    assert tuple(late) == found.exceptions
    for one, other in pairwise(entries):
        assert one.first <= one.last < other.first
    return found


def slot_outcomes(app: Sempre, statement: MonthStatement, name: str) -> dict[datetime, SlotEntry]:
    """Return the entry of each slot; no slot has two."""
    found: dict[datetime, SlotEntry] = {}
    grid = app.schedule(name).definition.grid
    for of, entry in statement.slots():
        slots = grid.between(entry.first - TICK, entry.last) if entry.count > 1 else [entry.first]
        assert of != name or len(slots) == entry.count
        for slot in slots if of == name else ():
            assert slot not in found
            found[slot] = entry
    return found


def account_slots(
    app: Sempre, name: str, grids: list[tuple[datetime, Grid]], until: datetime
) -> dict[datetime, set[Outcome]]:
    """Return what may have become of each slot, from `grid.between`, rows and ranges alone.

    Args:
        app: an application whose history is not purged.
        name: the schedule.
        grids: when each grid came into force, oldest first.
        until: the last instant.
    """
    schedule = app.schedule(name).row
    store = app.engine.store
    rows = store.executions(ExecutionQuery(schedule_id=schedule.id, limit=100_000)).value.items
    own = [row for row in rows if row.kind is Kind.SCHEDULED and row.state is not State.SUPERSEDED]
    ranges = store.ranges(schedule.id, limit=100_000).value
    found: dict[datetime, set[Outcome]] = {}
    for slot in _demanded(grids, until):
        [*mine] = [row for row in own if row.run_at == slot]
        [*over] = [each for each in ranges if each.first <= slot <= each.last]
        assert len(mine) + len(over) <= 1, slot
        if mine:
            found[slot] = STATES[mine[0].state]
        elif over:
            if over[0].reason != "ended":
                found[slot] = _of_range(over[0])
        elif slot > schedule.cursor:
            found[slot] = {Outcome.WAITING, Outcome.SKIPPED}
        else:
            found[slot] = {Outcome.UNEXPLAINED}
    return found


def _of_range(passed: SlotRange) -> set[Outcome]:
    return STATES[passed.state]


def _demanded(grids: list[tuple[datetime, Grid]], until: datetime) -> Iterator[datetime]:
    ends = [*(since for since, _ in grids[1:]), until]
    for (since, grid), end in zip(grids, ends, strict=True):
        yield from grid.between(since, min(end, until))
