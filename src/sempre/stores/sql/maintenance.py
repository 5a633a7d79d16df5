"""Maintenance: the row of the pass, and schedules that may need repair."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sempre.domain.arguments import Json
from sempre.domain.schedule import AHEAD
from sempre.grids.instants import microseconds_of
from sempre.ports.messages import Pass, Stretch
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import json_text
from sempre.stores.sql.records import read_pass

__all__ = ["begin_pass", "finish_pass", "last_pass", "needing_repair", "read_stretch", "suspect"]

MICROSECOND = timedelta(microseconds=1)


def needing_repair(transaction: Transaction, stamp: str, limit: int) -> list[Sequence[Any]]:
    """Return the rows of schedules that may need repair; a row may come twice."""
    found = transaction.rows("schedules_astray", stamp=stamp, limit=limit)
    ahead = transaction.rows("schedules_ahead", ahead=_ahead(transaction), limit=limit)
    return [*found, *ahead]


def _ahead(transaction: Transaction) -> int:
    return microseconds_of(transaction.now + AHEAD)


def suspect(transaction: Transaction, after: str, limit: int) -> Stretch:
    """Check a range of schedules in the database; return only the suspect ones."""
    asked = {"after": after, "limit": limit, "ahead": _ahead(transaction)}
    found = transaction.rows("schedules_doubtful", **asked)
    return read_stretch(found)


def read_stretch(found: Sequence[Sequence[Any]]) -> Stretch:
    """Return the number of schedules, the last id, and the names of the schedules found."""
    [(count, last)] = [(row[0], row[1]) for row in found if row[2] is None]
    return Stretch(count, last or "", tuple(row[2] for row in found if row[2] is not None))


def begin_pass(transaction: Transaction, holder: str, every: timedelta) -> Pass | None:
    """Begin the pass if the pass is due; of two callers, one gets the pass."""
    now = transaction.now
    times = {"due_at": now + every, "now": now, "farthest": now + Pass.farthest(every)}
    asked = {name: microseconds_of(instant) for name, instant in times.items()}
    found = transaction.rows("begin_pass", holder=holder, **asked)
    return read_pass(found[0]) if found else None


def finish_pass(
    transaction: Transaction, holder: str, report: Mapping[str, Json], due_in: timedelta | None
) -> None:
    """Record the report of a pass, and an earlier due time of the next pass, if given."""
    now = transaction.now
    written = {"report": json_text(report), "holder": holder}
    due_at = None if due_in is None else microseconds_of(now + due_in)
    transaction.run("finish_pass", now=microseconds_of(now), due_at=due_at, **written)


def last_pass(transaction: Transaction) -> Pass:
    """Return the pass row; a new store is due for a pass at once."""
    found = transaction.rows("last_pass")
    return read_pass(found[0]) if found else Pass(due_at=transaction.now)
