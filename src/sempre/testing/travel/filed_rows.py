"""Filed rows: ended executions as tuples, which need less memory than objects over a year."""

from dataclasses import fields
from operator import attrgetter
from typing import Any

from sempre.domain.execution import Execution
from sempre.ports.messages import ExecutionQuery

__all__ = [
    "FINISHED",
    "ID",
    "RUN",
    "SCHEDULE",
    "Filed",
    "filed_row",
    "is_asked",
    "unfiled",
]

FIELDS = tuple(each.name for each in fields(Execution))
ID, SCHEDULE, SNAPSHOT, RUN, FINISHED = map(
    FIELDS.index, ("id", "schedule_id", "snapshot", "run_at", "finished_at")
)
Filed = tuple[Any, ...]
_values = attrgetter(*FIELDS)


def filed_row(row: Execution) -> Filed:
    """Return the values of an execution."""
    values: Filed = _values(row)
    return values


def unfiled(filed: Filed) -> Execution:
    """Return the execution of these values."""
    row = object.__new__(Execution)
    vars(row).update(zip(FIELDS, filed, strict=True))
    return row


def is_asked(filed: Filed, query: ExecutionQuery) -> bool:
    """Return whether a filed row may answer a query, by its schedule, job and slot."""
    since, until, slot = query.since, query.until, filed[RUN]
    return (
        query.schedule_id in (None, filed[SCHEDULE])
        and (since is None or slot >= since)
        and (until is None or slot <= until)
        and query.job in (None, filed[SNAPSHOT].job)
    )
