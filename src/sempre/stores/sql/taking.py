"""Taking: one-off work that is due is claimed by the thousand, and read when it is safely ours.

A batch is one transaction. What it claimed is turned into executions afterwards: nobody should
have to wait for that.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.values import changed
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Wanted
from sempre.stores.sql import encoding
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.reading import bounds
from sempre.stores.sql.switches import Stops, switches_off
from sempre.stores.sql.work import lease_of, next_fences

__all__ = ["Taken", "take"]

Row = Sequence[Any]
# Where a row of the statement `take` has its fence, after the columns of what was found.
GIVEN = 20


class Taken(NamedTuple):
    """What was claimed, as it is stored, and by which fences."""

    now: datetime
    session: str = ""
    lease: datetime | None = None
    rows: Sequence[Row] = ()
    fences: Sequence[int] = ()

    def executions(self) -> list[Execution]:
        """Return the executions, which run by now."""
        claimed = encoding.blank_claim(self.session, self.now, self.lease)
        pairs = zip(self.rows, self.fences, strict=True)
        return [encoding.read_taken(row, claimed, fence) for row, fence in pairs]


def take(
    transaction: Transaction,
    wanted: Wanted,
    session: str,
    ids: Sequence[str] | None = None,
    *,
    at_once: bool,
) -> Taken:
    """Start one-off work that is due; by one statement, if that is wanted, where all is plain."""
    if at_once and ids is None and wanted.overdue is None:
        taken = _take_at_once(transaction, wanted, session)
        if taken is not None:
            return taken
    stops = switches_off(transaction)
    lease = lease_of(transaction, session)
    rows = _to_take(transaction, wanted, stops, ids) if lease else []
    now = transaction.now
    if not rows:
        return Taken(now)
    fences = list(next_fences(transaction, len(rows)))
    claims = list(zip([row[0] for row in rows], fences, strict=True))
    transaction.run("start_taken", claims=claims, now=microseconds_of(now), session=session)
    return Taken(now, session, lease, rows, fences)


def _take_at_once(transaction: Transaction, wanted: Wanted, session: str) -> Taken | None:
    """Start what is due if no switch is off; None if nothing was found that way."""
    asked = Stops().to_take(wanted)
    if asked is None:
        return None
    transaction.send("lock_switches")
    rows = transaction.rows("take", session=session, limit=wanted.limit, **asked)
    if not rows:
        return None
    *_, now, lease, _ = rows[0]
    fences = [row[GIVEN] for row in rows]
    return Taken(instant_of(now), session, instant_of(lease), rows, fences)


def _to_take(
    transaction: Transaction, wanted: Wanted, stops: Stops, ids: Sequence[str] | None
) -> Sequence[Row]:
    """Return due rows that no switch stops.

    What one stops by a tag is met only here. It is held from now on, so that nobody meets it a
    second time before the switch is on again.
    """
    asked = stops.to_take(wanted)
    name = "due_to_take" if wanted.overdue is None else "overdue_to_take"
    if asked is not None and ids is not None:
        name, asked = "these_to_take", asked | {"ids": list(ids)}
    while asked is not None:
        found = transaction.rows(name, **asked, **bounds(transaction, wanted))
        if not stops.switches:
            return found
        rows = list(map(encoding.read_waiting, found))
        stopped = [stops.stopping(row, {}) for row in rows]
        pairs = zip(rows, stopped, strict=True)
        held = [changed(row, held_by=switch.name) for row, switch in pairs if switch]
        if not held:
            return found
        transaction.many("update_execution", map(encoding.write_changed_execution, held))
        if free := [row for row, switch in zip(found, stopped, strict=True) if switch is None]:
            return free
    return []
