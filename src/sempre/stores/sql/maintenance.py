"""Maintenance: the row of the pass, and the purge of old rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.arguments import Json
from sempre.domain.limits import LONGEST_PERIOD
from sempre.domain.schedule import AHEAD
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Pass, Stretch
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import json_text
from sempre.stores.sql.records import read_pass

__all__ = ["begin_pass", "finish_pass", "last_pass", "needing_repair", "purge", "suspect"]

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


def purge(transaction: Transaction, before: datetime, limit: int) -> int:
    """Delete executions that ended before an instant, and other old rows; the counts stay."""
    at, now = microseconds_of(before), microseconds_of(transaction.now)
    old = transaction.rows("rows_to_purge", before=at, now=now, limit=limit)
    if old:
        _roll_up(transaction, old)
        ids = [row[0] for row in old]
        for name in (
            "delete_executions",
            "delete_attempts",
            "delete_keys",
            "forget_cancellations",
            "delete_reports",
        ):
            transaction.run(name, ids=ids)
        _drop_snapshots(transaction, {(row[1], row[6]) for row in old if row[1] is not None})
    transaction.run("delete_ranges", before=at, limit=limit)
    transaction.run("delete_orphans", before=at, limit=limit)
    transaction.run("delete_sessions", before=min(at, now), limit=limit)
    unused = min(at, now - LONGEST_PERIOD // MICROSECOND)
    transaction.run("delete_limits", before=unused, limit=limit)
    transaction.run("delete_starts", before=unused)
    return len(old)


def _roll_up(transaction: Transaction, old: Sequence[Sequence[Any]]) -> None:
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for _, schedule_id, run_at, state, started_at, finished_at, _ in old:
        if schedule_id is not None:
            took = finished_at - started_at if started_at and finished_at else 0
            kept = sums[schedule_id, instant_of(run_at).date().isoformat(), state]
            kept[0] += 1
            kept[1] += took
    names = ("schedule_id", "day", "state", "executions", "microseconds")
    values = [dict(zip(names, (*key, *kept), strict=True)) for key, kept in sorted(sums.items())]
    transaction.many("add_to_rollup", values)


def _drop_snapshots(transaction: Transaction, revisions: set[tuple[str, int]]) -> None:
    """Delete the snapshots of old revisions that no execution uses any more."""
    if not revisions:
        return
    unused = transaction.rows("unused_snapshots", revisions=sorted(revisions))
    if unused:
        values = [{"schedule_id": row[0], "revision": row[1]} for row in unused]
        transaction.many("delete_snapshot", values)
