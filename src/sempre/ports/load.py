"""The part of a store's port that loads records of another store, as `sempre db import` does."""

from collections.abc import Sequence
from typing import Protocol

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Attempt, Rollup
from sempre.ports.run_logs import RunLog

__all__ = ["Load", "Record", "ending_of"]

Record = Schedule | Execution | SlotRange | Rollup | Attempt | RunLog | Action
"""A row that a store can load; its instants, states and fences are written as given."""


class Load(Protocol):
    """The operation of every store that writes history that another store has made."""

    def load(self, records: Sequence[Record]) -> int:
        """Write records that are unknown, exactly as given; return how many were written.

        A schedule, execution or action is known by its id, a roll-up by its schedule, day, state
        and kind, an attempt by its execution, fence and ending, a log by its execution and fence,
        and a range by all its fields. So a load may be repeated. Known records stay as they are.

        Left out are a schedule whose name another schedule has, an execution whose slot another
        execution holds, and an attempt or log without its execution. Within one call records may
        come in any order. A lease is not loaded: a running execution has the lease of its session.
        Fences are not raised: call `upgrade` with the highest fence first.
        """
        ...


def ending_of(attempt: Attempt) -> str:
    """Return how an attempt ended: late, lost or settled."""
    return "late" if attempt.late else "lost" if attempt.lost else "settled"
