"""Stretches of slots that passed without a row, among the executions that a command lists."""

from collections.abc import Iterator
from itertools import islice

from sempre.cli.desk import Desk
from sempre.cli.printing import talk
from sempre.domain.execution import SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.ports.messages import ExecutionQuery

__all__ = ["ranges_of"]

ON_RECORD = frozenset({State.MISSED, State.SKIPPED, State.SUPERSEDED})
# Each schedule is a question to the store: of more schedules only the first are asked for.
MOST = 1000


def ranges_of(
    desk: Desk, query: ExecutionQuery, schedule: Schedule | None, limit: int
) -> list[tuple[SlotRange, Schedule]]:
    """Return the stretches that a query for executions asks for by its states, newest first."""
    if not query.states & ON_RECORD or (query.kinds and Kind.SCHEDULED not in query.kinds):
        return []
    found = [
        (each, of)
        for of in _schedules(desk, query, schedule)
        for each in desk.read(desk.store.ranges(of.id, limit=limit))
        if each.state in query.states and _is_within(each, query)
    ]
    return sorted(found, key=lambda pair: pair[0].last, reverse=True)[:limit]


def _schedules(desk: Desk, query: ExecutionQuery, schedule: Schedule | None) -> Iterator[Schedule]:
    if schedule is not None:
        return iter([schedule])
    some = list(islice(desk.app.schedules.find(job=query.job), MOST + 1))
    if len(some) > MOST:
        talk(f"warning: stretches of the first {MOST:,} schedules only; -s NAME asks for one.")
    return iter(some[:MOST])


def _is_within(found: SlotRange, query: ExecutionQuery) -> bool:
    begins = query.until is None or found.first <= query.until
    return begins and (query.since is None or found.last >= query.since)
