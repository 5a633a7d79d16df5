"""The keys of an execution's limits, and the words about an execution that waits for a limit."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sempre.domain.execution import Draft, Execution
from sempre.domain.limits import Limit
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Reason

__all__ = [
    "PARKED",
    "KeyedLimit",
    "is_planned",
    "keys_of",
    "limits_of",
    "parked_under",
    "rank_of",
]

PARKED = "limit:"
"""The beginning of `held_by` of an execution that waits for a limit; the key follows."""


class KeyedLimit(NamedTuple):
    """A limit of an execution, and the key under which the execution counts."""

    limit: Limit
    key: str
    reason: str

    @property
    def holder(self) -> str:
        """The text in `held_by` of an execution that waits for this limit."""
        return parked_under(self.key)


def limits_of(snapshot: Snapshot) -> tuple[KeyedLimit, ...]:
    """Return the limits of an execution with their keys; empty for most executions."""
    if not snapshot.limits:
        return ()
    job, args, redact = snapshot.job, snapshot.args, snapshot.redact
    return tuple(
        KeyedLimit(each, each.key_of(job, args, redact), _reason(each, job))
        for each in snapshot.limits
    )


def keys_of(rows: Iterable[Execution]) -> set[str]:
    """Return the keys of the limits of executions."""
    return {each.key for row in rows if row.snapshot.limits for each in limits_of(row.snapshot)}


def parked_under(key: str) -> str:
    """Return the text in `held_by` of an execution that waits for the limit of a key."""
    return f"{PARKED}{key}"


def rank_of(row: Execution) -> tuple[int, datetime, str]:
    """Return the order in which executions that wait for one limit start: a smaller rank first.

    By slot, not by due time: the due time of an execution moves when it stops waiting for a limit.
    """
    return row.snapshot.priority, row.run_at, row.id


def is_planned(row: Draft) -> bool:
    """Whether a claim of an execution needs a plan: it has a schedule or a limit."""
    return row.schedule_id is not None or bool(row.snapshot.limits)


def _reason(limit: Limit, job: str) -> str:
    return f"{Reason.HELD} by limit: {limit.words} of {limit.subject_of(job)}"
