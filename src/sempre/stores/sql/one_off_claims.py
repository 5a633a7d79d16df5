"""Claims of one-off work that is due, by the thousand; rows are decoded after the commit.

A batch is one transaction, which expects that every row can be read: one check covers the batch,
and the rows become executions afterwards, while no lock is held. A row that cannot be read undoes
the transaction, and the batch is claimed again with care: each row is checked before its start, and
unreadable rows are skipped, so that unreadable rows neither stay claimed nor hide later rows.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.rules import read_snapshot
from sempre.domain.unreadable import Unreadable
from sempre.errors import ArgumentsError
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Reading, Wanted
from sempre.stores.columns import KINDS
from sempre.stores.sql import encoding
from sempre.stores.sql.decoding import LeftOut, decoded
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.reading import bounds
from sempre.stores.sql.switches import ActiveSwitches, switches_off
from sempre.stores.sql.writes import lease_of, next_fences

__all__ = ["Asked", "OneOffClaims", "Taken"]

Row = Sequence[Any]
# Positions in a row of `taken_columns`; `claim_one_off` adds fence, now and lease.
_PARTS = len(encoding.TAKEN.columns)
_KIND, _RULES, _ARGS = encoding.TAKEN.position("kind"), _PARTS + 2, _PARTS + 3
_FENCE, _NOW, _LEASE = _PARTS + 4, _PARTS + 5, _PARTS + 6


class Asked(NamedTuple):
    """The work that a session wants to claim; with `ids`, only from these executions."""

    wanted: Wanted
    session: str
    ids: Sequence[str] | None = None


class Taken(NamedTuple):
    """Claimed rows as stored, their fences, and the rows that could not be read."""

    now: datetime
    session: str = ""
    lease: datetime | None = None
    rows: Sequence[Row] = ()
    arguments: Sequence[dict[str, Any]] = ()
    fences: Sequence[int] = ()
    left_out: Sequence[Unreadable] = ()

    def reading(self) -> Reading[list[Execution]]:
        """Return the claimed rows as running executions."""
        claim = encoding.claim_fields(self.session, self.now, self.lease)
        found = zip(self.rows, self.arguments, self.fences, strict=True)
        taken = [encoding.read_taken(row, args, claim, fence) for row, args, fence in found]
        return Reading(self.now, taken, tuple(self.left_out))


class _CannotRead(Exception):
    """A started row cannot be read: the transaction must be rolled back."""


class OneOffClaims:
    """Claims work; checks row by row as long as this process finds unreadable rows."""

    def __init__(self) -> None:
        """Expect that every row can be read."""
        self._is_careful = False

    def claim_one_off(
        self, write: Callable[[Callable[[Transaction], Taken]], Taken], asked: Asked
    ) -> Taken:
        """Start work that is due, each batch by one transaction that `write` runs."""
        if not self._is_careful:
            try:
                return write(lambda transaction: _take(transaction, asked))
            except _CannotRead:
                pass
        taken = write(lambda transaction: _take_carefully(transaction, asked))
        self._is_careful = bool(taken.left_out)
        return taken


def _take(transaction: Transaction, asked: Asked) -> Taken:
    """Start due work and read its rows; _CannotRead if a row cannot be read."""
    if transaction.writes_in_reading and asked.ids is None and asked.wanted.overdue is None:
        taken = _take_at_once(transaction, asked.wanted, asked.session)
        if taken is not None:
            return taken
    stops, lease = switches_off(transaction), lease_of(transaction, asked.session)
    rows = _to_take(transaction, asked, stops) if lease else []
    return _start(transaction, rows, asked.session, lease)


def _take_carefully(transaction: Transaction, asked: Asked) -> Taken:
    """Start due rows that can be read, and query beyond the rows that cannot."""
    stops, lease = switches_off(transaction), lease_of(transaction, asked.session)
    limit, past = asked.wanted.limit, 0
    while lease:
        left_out: LeftOut = []
        found = _to_take(transaction, asked, stops, past=past, left_out=left_out)
        if len(found) >= limit or len(found) + len(left_out) < limit + past:
            taken = _start(transaction, found[:limit], asked.session, lease)
            return taken._replace(left_out=left_out)
        past = 2 * len(left_out)
    return Taken(transaction.now)


def _start(
    transaction: Transaction, rows: Sequence[Row], session: str, lease: datetime | None
) -> Taken:
    now = transaction.now
    if not rows:
        return Taken(now)
    arguments = _arguments(rows)
    fences = list(next_fences(transaction, len(rows)))
    claims = list(zip([row[0] for row in rows], fences, strict=True))
    begun = {"now": microseconds_of(now), "session": session, "tzdata": None}
    transaction.run("start_taken", claims=claims, **begun)
    return Taken(now, session, lease, rows, arguments, fences)


def _arguments(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the arguments of rows; _CannotRead if a row cannot be read."""
    try:
        return _checked(rows)
    except Exception as error:
        raise _CannotRead from error


def _checked(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the arguments of rows, or raise the error that reading the rows would raise."""
    for rules, kind in {(row[_RULES], row[_KIND]) for row in rows}:
        _ = read_snapshot(rules), KINDS[kind]
    found: list[dict[str, Any]] = json.loads(f"[{','.join([row[_ARGS] for row in rows])}]")
    if len(found) != len(rows) or not set(map(type, found)) <= {dict}:
        raise ArgumentsError("args", found, allowed="a JSON object")
    return found


def _take_at_once(transaction: Transaction, wanted: Wanted, session: str) -> Taken | None:
    """Start due work by one statement if no switch is off; None if no row was found."""
    asked = ActiveSwitches().to_take(wanted)
    if asked is None:
        return None
    transaction.send("lock_switches")
    rows = transaction.rows("claim_one_off", session=session, limit=wanted.limit, **asked)
    if not rows:
        return None
    now, lease = instant_of(rows[0][_NOW]), instant_of(rows[0][_LEASE])
    fences = [row[_FENCE] for row in rows]
    return Taken(now, session, lease, rows, _arguments(rows), fences)


def _to_take(
    transaction: Transaction,
    asked: Asked,
    stops: ActiveSwitches,
    *,
    past: int = 0,
    left_out: LeftOut | None = None,
) -> Sequence[Row]:
    """Return due rows that no switch stops; with `left_out`, only readable rows.

    Unreadable rows are added to `left_out`. Rows that a switch stops by a tag are found only here.
    These rows are held, so that no query finds them again before the switch is on.
    """
    wanted, found_by = asked.wanted, stops.to_take(asked.wanted)
    while found_by is not None:
        parameters: dict[str, Any] = found_by | bounds(transaction, wanted, past=past)
        by_age = wanted.overdue is not None
        if asked.ids is not None:
            those = {"ids": list(asked.ids), "ranked": int(not by_age)}
            found = transaction.rows("these_to_take", **those, **parameters)
        else:
            found = transaction.due_to_take(by_age=by_age, **parameters)
        if left_out is not None:
            left_out.clear()
            named = len(encoding.TAKEN.columns)
            found = decoded("executions", found, _readable, left_out, named=named)
        if not stops.switches:
            return found
        free = _hold_stopped(transaction, found, stops)
        if free or len(free) == len(found):
            return free
    return []


def _readable(row: Row) -> Row:
    _checked([row])
    return row


def _hold_stopped(
    transaction: Transaction, found: Sequence[Row], stops: ActiveSwitches
) -> Sequence[Row]:
    """Hold the rows that a switch stops by a tag; return the other rows."""
    claim = encoding.claim_fields("", transaction.now, None)
    pairs = zip(found, _arguments(found), strict=True)
    rows = [encoding.read_taken(row, args, claim, fence=0) for row, args in pairs]
    stopped = {row.id: stops.stopping(row, {}) for row in rows}
    held: dict[str, list[str]] = {}
    for identity, switch in stopped.items():
        if switch:
            held.setdefault(switch.name, []).append(identity)
    for name, ids in sorted(held.items()):
        transaction.run("hold", name=name, ids=ids)
    return [row for row in found if stopped[row[0]] is None]
