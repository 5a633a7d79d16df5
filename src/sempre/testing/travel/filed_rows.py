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
    "SNAPSHOT",
    "Filed",
    "filed_row",
    "is_in_time",
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


def is_in_time(filed: Filed, query: ExecutionQuery) -> bool:
    """Return whether the slot of a filed row lies between the bounds of a query."""
    since, until, slot = query.since, query.until, filed[RUN]
    return (since is None or slot >= since) and (until is None or slot <= until)
