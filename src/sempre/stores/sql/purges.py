"""Purges: old executions go in small transactions, their counts stay."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sempre.domain.limits import LONGEST_PERIOD
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.page_key import PageKey
from sempre.ports.retention import Purge, Purged
from sempre.stores.sql.database import Database
from sempre.stores.sql.dialects import Transaction

__all__ = ["SqlPurges"]

FIRST, LAST = -(2**62), 2**62
MICROSECOND = timedelta(microseconds=1)
Row = Sequence[Any]
Floors = Mapping[str, int]
# The statements that delete what belongs to executions, and the executions themselves.
DELETIONS = (
    "delete_executions",
    "delete_attempts",
    "delete_keys",
    "forget_cancellations",
    "delete_reports",
    "delete_logs",
)


class SqlPurges(Database):
    """The operations of the port that delete old history."""

    def purge(self, purge: Purge) -> Purged:
        """Examine ended executions, and delete those that are not kept."""
        if purge.count_only:
            return self._read(lambda each: _Page(each, purge).counted()).value
        return self._write(lambda transaction: _purge(transaction, purge))

    def purge_ranges(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest ranges of slots before an instant."""
        at = microseconds_of(before)
        return self._write(
            lambda transaction: transaction.run("delete_ranges", before=at, limit=limit)
        )

    def retentions(self) -> list[timedelta]:
        """Return the retentions that schedules have of their own."""
        found = self._read(lambda transaction: transaction.rows("own_retentions"))
        return [row[0] * MICROSECOND for row in found.value]


class _Examined(NamedTuple):
    """A row of `ended_page`; `keep` is -1 if the schedule is deleted."""

    id: str
    schedule_id: str | None
    run_at: int
    state: str
    started_at: int | None
    finished_at: int | None
    revision: int
    kind: str
    ended_at: int
    to_come: int
    retention: int | None
    keep: int


class _Page:
    """The executions that a purge examines.

    Attributes:
        start: the instant at which the page begins.
        end: the place after the page.
        is_full: whether there may be more executions after the page.
        floors: for each schedule concerned, when the oldest execution that it keeps finished.
        old: the executions that are not kept.
    """

    def __init__(self, transaction: Transaction, asked: Purge) -> None:
        """Read the page, and decide which executions are kept."""
        self.start, identity = FIRST, ""
        if asked.after:
            at, identity = PageKey.read(asked.after)
            self.start = microseconds_of(at)
        bounds = {"at": self.start, "id": identity, "before": microseconds_of(asked.before)}
        now = microseconds_of(transaction.now)
        found = transaction.rows("ended_page", **bounds, now=now, limit=asked.limit)
        rows = [_Examined(*row) for row in found]
        self.is_full = len(rows) == asked.limit
        self.end = PageKey(asked.before, "")
        if rows and self.is_full:
            self.end = PageKey(instant_of(rows[-1].ended_at), rows[-1].id)
        own = _own(asked)
        mine = [row for row in rows if own in (-1, row.retention or 0)]
        self.floors = _floors(transaction, mine, asked.keep)
        self.old = [row for row in mine if not row.to_come and self._is_beyond(row)]

    def _is_beyond(self, row: _Examined) -> bool:
        floor = self.floors.get(row.schedule_id or "", LAST)
        return row.finished_at is None or row.finished_at < floor

    def counted(self) -> Purged:
        """Return how many executions are not kept."""
        return Purged(len(self.old), str(self.end), self.is_full)


def _purge(transaction: Transaction, asked: Purge) -> Purged:
    page = _Page(transaction, asked)
    pushed = _pushed_out(transaction, page, asked.limit)
    if len(pushed) == asked.limit:
        # The page waits: its executions lead to those that were pushed out.
        return Purged(_delete(transaction, pushed), asked.after, more=True)
    count = _delete(transaction, [*pushed, *page.old])
    if isinstance(asked.retention, str):
        at, now = microseconds_of(asked.before), microseconds_of(transaction.now)
        transaction.run("delete_orphans", before=at, limit=asked.limit)
        transaction.run("delete_sessions", before=min(at, now), limit=asked.limit)
        unused = min(at, now - LONGEST_PERIOD // MICROSECOND)
        transaction.run("delete_limits", before=unused, limit=asked.limit)
        transaction.run("delete_starts", before=unused)
    return Purged(count, str(page.end), page.is_full)


def _own(asked: Purge) -> int:
    """Return the retention of the schedules concerned: 0 for none of their own, -1 for any."""
    if isinstance(asked.retention, timedelta):
        return asked.retention // MICROSECOND
    return -1 if asked.retention == "any" else 0


def _floors(transaction: Transaction, mine: Sequence[_Examined], keep: int | None) -> Floors:
    """Return when the oldest execution finished that each schedule keeps whatever its age."""
    numbers = {row.schedule_id: row.keep for row in mine if row.schedule_id is not None}
    floors = dict.fromkeys(numbers, LAST)
    ids_by_number: dict[int, list[str]] = defaultdict(list)
    for schedule_id, own in numbers.items():
        ids_by_number[own if keep is None else min(own, 0) or keep].append(schedule_id)
    for number, ids in ids_by_number.items():
        if number > 0:
            found = transaction.rows("kept_since", ids=sorted(ids), newer=number - 1)
            floors |= {row[0]: FIRST if row[1] is None else row[1] for row in found}
    return floors


def _pushed_out(transaction: Transaction, page: _Page, limit: int) -> list[Row]:
    """Return executions that were kept when an earlier purge examined them, oldest first."""
    bounds = [(each, min(floor, page.start)) for each, floor in sorted(page.floors.items())]
    wanted = [each for each in bounds if each[1] > FIRST]
    now = microseconds_of(transaction.now)
    found = transaction.pushed_out(wanted, now=now, limit=limit) if wanted else []
    return sorted(found, key=lambda row: (row[5], row[0]))[:limit]


def _delete(transaction: Transaction, old: Sequence[Row]) -> int:
    """Delete executions that are still ended, and keep their counts; return how many."""
    if not old:
        return 0
    locked = transaction.rows("lock_ended", ids=[row[0] for row in old])
    ids = [row[0] for row in locked]
    gone = [row for row in old if row[0] in set(ids)]
    _roll_up(transaction, gone)
    for name in DELETIONS:
        transaction.run(name, ids=ids)
    _drop_snapshots(transaction, {(row[1], row[6]) for row in gone if row[1] is not None})
    return len(gone)


def _roll_up(transaction: Transaction, old: Sequence[Row]) -> None:
    sums: dict[tuple[str, str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for _, schedule_id, run_at, state, started_at, finished_at, _, kind, *_ in old:
        if schedule_id is not None:
            took = finished_at - started_at if started_at and finished_at else 0
            kept = sums[schedule_id, instant_of(run_at).date().isoformat(), state, kind]
            kept[0] += 1
            kept[1] += took
    names = ("schedule_id", "day", "state", "kind", "executions", "microseconds")
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
