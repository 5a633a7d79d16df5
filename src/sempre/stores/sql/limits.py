"""Limits of the SQL stores: rows are counted while the row of each limit is locked.

Claims lock limits after switches, schedules and executions, in the order of their keys. Freeing
locks no limit: too many freed executions are harmless, and a claim that parks an execution at that
moment is followed by another `open_limits` of the worker that claimed.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import PARKED, KeyedLimit, limits_of, parked_under
from sempre.domain.limits import Rate
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.limits import Opened
from sempre.ports.messages import Reading, Waiting
from sempre.stores.limit_room import BULK, GENEROSITY, Admissions, Opening, Rank
from sempre.stores.sql.database import Database
from sempre.stores.sql.decoding import executions_of
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import storable_text

__all__ = ["LimitedClaims", "RoomInSql", "SqlLimits"]

MICROSECOND = timedelta(microseconds=1)
FIRST_PAGE = 10


class RoomInSql:
    """The facts of a database about limits, each read once."""

    def __init__(self, transaction: Transaction, keys: Collection[str]) -> None:
        """Read how many executions run under keys."""
        self._transaction = transaction
        asked = sorted(keys)
        found = transaction.rows("limited_runs", keys=asked) if asked else []
        self._running: dict[str, int] = {row[0]: row[1] for row in found}
        self._starts: dict[tuple[str, datetime], int] = {}
        self._crowded: set[str] | None = None
        self._keys = asked

    def running(self, key: str) -> int:
        """Return how many executions run under a key."""
        if key not in self._running:
            [(_, self._running[key])] = self._transaction.rows("limited_runs", keys=[key])
        return self._running[key]

    def starts_after(self, key: str, instant: datetime) -> int:
        """Return how many starts under a key are younger than an instant."""
        if (key, instant) not in self._starts:
            asked = {"limit_key": key, "since": microseconds_of(instant)}
            [(count,)] = self._transaction.rows("recent_starts", **asked)
            self._starts[key, instant] = count
        return self._starts[key, instant]

    def newest_start(self, key: str, number: int) -> datetime:
        """Return the instant of the newest start under a key (1), the one before (2), and so on."""
        [(at,)] = self._transaction.rows("newest_start", limit_key=key, before=number - 1)
        return instant_of(at)

    def first_parked(self, key: str, count: int) -> list[Rank]:
        """Return the ranks of the parked executions of a key that go first."""
        if self._crowded is None:
            self._crowded = set(_crowded(self._transaction, self._keys))
        if key not in self._crowded:
            return []
        asked = {"holder": parked_under(key), "limit": count}
        found = self._transaction.rows("first_parked", **asked)
        return [(priority, instant_of(run_at), identity) for priority, run_at, identity in found]


class LimitedClaims:
    """The limits of the executions that one operation claims; without limits, nothing is read."""

    def __init__(self, transaction: Transaction, rows: Iterable[Execution]) -> None:
        """Lock the limits of executions, and only then read who runs under them."""
        found = [each for row in rows if row.snapshot.limits for each in limits_of(row.snapshot)]
        self._periods: dict[str, int] = {}
        for each in found:
            self._periods[each.key] = max(self._periods.get(each.key, 0), _period(each))
        if self._periods:
            limits, now = sorted(self._periods.items()), microseconds_of(transaction.now)
            transaction.run("lock_limits", limits=limits, now=now)
        self._admissions = Admissions(RoomInSql(transaction, self._periods), transaction.now)

    @property
    def admit(self) -> Callable[..., bool]:
        """Whether an execution may start by a plan; if not, `write` parks it."""
        return self._admissions.admit

    def write(self, transaction: Transaction, started: Iterable[Execution]) -> None:
        """Record the starts of executions, and park those that have to wait for a limit."""
        if not self._periods:
            return
        self._record(transaction, started)
        at = microseconds_of(transaction.now)
        for full, ids in _by_limit(self._admissions.parked.items()).items():
            _park(transaction, full, sorted(ids))
        for first_key, full in sorted(set(self._admissions.crowds.values())):
            rate_key = full.key if isinstance(full.limit, Rate) else ""
            asked = {"first_key": first_key, "rate_key": rate_key, "now": at, "limit": BULK}
            _park(transaction, full, [row[0] for row in transaction.rows("waiting_under", **asked)])

    def _record(self, transaction: Transaction, started: Iterable[Execution]) -> None:
        at = microseconds_of(transaction.now)
        starts = [
            {"limit_key": each.key, "started_at": at, "fence": row.fence}
            for row in started
            if row.snapshot.limits
            for each in limits_of(row.snapshot)
            if isinstance(each.limit, Rate)
        ]
        if not starts:
            return
        transaction.many("insert_start", starts)
        keys = sorted({str(each["limit_key"]) for each in starts})
        old = [
            {"limit_key": key, "before": at - period}
            for key, period in transaction.rows("limit_periods", keys=keys)
        ]
        transaction.many("forget_starts", old)


def _period(keyed: KeyedLimit) -> int:
    return keyed.limit.period // MICROSECOND if isinstance(keyed.limit, Rate) else 0


def _by_limit(parked: Iterable[tuple[str, KeyedLimit]]) -> dict[KeyedLimit, list[str]]:
    found: dict[KeyedLimit, list[str]] = {}
    for identity, full in parked:
        found.setdefault(full, []).append(identity)
    return found


def _park(
    transaction: Transaction, full: KeyedLimit, ids: Sequence[str], *, before: str = ""
) -> None:
    if ids:
        how = {"holder": full.holder, "reason": storable_text(full.reason), "before": before}
        transaction.run("park", ids=list(ids), **how)


class SqlLimits(Database):
    """The operation of the port on executions that wait for limits."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        """Free parked executions of these keys, as many as there is room for.

        Mostly none is parked: then nothing is locked.
        """

        def probe(transaction: Transaction) -> list[str]:
            if keys is None:
                return _parked_keys(transaction, after, limit)
            return _crowded(transaction, keys)

        found = self._read(probe)
        crowded, extra = found.value, GENEROSITY if keys is None else 0
        if not crowded:
            return Reading(found.now, Opened())
        last = crowded[-1] if keys is None and len(crowded) == limit else ""
        return self._write(lambda each: _open_all(each, crowded, limit, extra, last))


def _open_all(
    transaction: Transaction, keys: Sequence[str], limit: int, extra: int, last: str
) -> Reading[Opened]:
    room = RoomInSql(transaction, keys)
    openings = [_decide(transaction, room, key, limit, extra) for key in keys]
    rows = sorted({row.id for each in openings for row in (*each.freed, *_moved(each))})
    if rows:
        transaction.rows("lock_executions", ids=rows)
    for key, opening in zip(keys, openings, strict=True):
        _carry_out(transaction, key, opening)
    free = [copy_with(row, due_at=transaction.now) for each in openings for row in each.freed]
    opens = {key: at for each in openings for key, at in each.opens.items()}
    return Reading(transaction.now, Opened(tuple(map(Waiting.of, free)), opens, last))


def _crowded(transaction: Transaction, keys: Collection[str]) -> list[str]:
    """Return the keys among these with parked executions."""
    holders = sorted(map(parked_under, keys))
    found = transaction.rows("crowded", holders=holders) if holders else []
    return sorted(row[0].removeprefix(PARKED) for row in found)


def _parked_keys(transaction: Transaction, after: str, limit: int) -> list[str]:
    """Return the next keys with parked executions: one probe of the index each."""
    found: list[str] = []
    # The character after the last one of PARKED.
    beyond = PARKED[:-1] + chr(ord(PARKED[-1]) + 1)
    holder = parked_under(after)
    while len(found) < limit:
        rows = transaction.rows("next_holder", after=holder, beyond=beyond)
        if not rows:
            break
        holder = rows[0][0]
        found.append(holder.removeprefix(PARKED))
    return found


def _decide(transaction: Transaction, room: RoomInSql, key: str, limit: int, extra: int) -> Opening:
    """Decide which parked executions of a key go on, page by page: mostly the first one does."""
    opening = Opening(key, room, transaction.now, extra=extra)
    before, page = 0, min(limit, FIRST_PAGE)
    while page:
        asked = {"holder": parked_under(key), "limit": page, "before": before}
        found = transaction.rows("parked_rows", **asked)
        if not opening.add(executions_of(found, [])) or len(found) < page:
            break
        before += page
        page = min(limit - before, 4 * page)
    return opening


def _moved(opening: Opening) -> list[Execution]:
    return [row for row, _ in opening.moved]


def _carry_out(transaction: Transaction, key: str, opening: Opening) -> None:
    holder = parked_under(key)
    moved = _by_limit((row.id, full) for row, full in opening.moved)
    for full, ids in moved.items():
        _park(transaction, full, sorted(ids), before=holder)
    if opening.freed:
        ids, now = sorted(row.id for row in opening.freed), microseconds_of(transaction.now)
        transaction.run("free_parked", ids=ids, holder=holder, now=now)
