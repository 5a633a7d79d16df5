"""Starting slots on time: many at once by one statement, where the database can write and read so.

Each schedule is moved on only if it stands as its plan found it, which says that the slot is still
its next row; then the row is started and its successor written. Whatever is not as expected, or not
so plain, is left to the desk.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Order
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.encoding import audit_stamp, microseconds

__all__ = ["Unclear", "start_slots"]


class Unclear(Exception):
    """A schedule stands as a plan found it, but its row does not: each has to be looked at."""


def start_slots(
    transaction: Transaction, orders: Iterable[Order], session: str
) -> dict[str, Execution]:
    """Carry out what is plain of these orders for a session; return what runs by now, by id.

    Nothing is started while any switch is off.

    Raises:
        Unclear: nothing may be kept of the transaction.
    """
    plain = _plain(orders)
    if not plain:
        return {}
    transaction.send("lock_switches")
    *begun, (_, moved, lease) = transaction.rows("start_slots", session=session, **_written(plain))
    if len(begun) != moved:
        raise Unclear
    until = None if lease is None else instant_of(lease)
    planned = {change.after.id: change.after for order in plain for change in order.plan.changes}
    return {
        identity: copy_with(planned[identity], session=session, fence=fence, leased_until=until)
        for identity, fence, *_ in begun
    }


def _plain(orders: Iterable[Order]) -> list[Order]:
    """Return the plain ones that have the rest in common: one of each schedule, by its id."""
    found: dict[str, Order] = {}
    common: tuple[Any, ...] | None = None
    for order in orders:
        base = order.plan.base
        if base is not None and _is_plain(order):
            common = common or _alike(order)
            if _alike(order) == common:
                found.setdefault(base.id, order)
    return [found[each] for each in sorted(found)]


def _is_plain(order: Order) -> bool:
    """Tell whether a plan is plain, still as it was made, and of a row never claimed before."""
    plan = order.plan
    if not plan.is_plain or len(plan.changes) != 1 or len(plan.creates) != 1 or plan.ranges:
        return False
    row = plan.changes[0].before
    return row.attempt == 0 and row.fence == 0


def _alike(order: Order) -> tuple[datetime | None, str, State, str]:
    row, draft = order.plan.changes[0].after, order.plan.creates[0]
    return row.started_at, row.tzdata, draft.state, draft.tzdata


def _written(orders: Sequence[Order]) -> dict[str, Any]:
    """Return the parameters of the statement: an array for each column."""
    bases = [order.plan.base for order in orders if order.plan.base is not None]
    rows = [order.plan.changes[0].before for order in orders]
    drafts = [order.plan.creates[0] for order in orders]
    started_at, found_tzdata, state, tzdata = _alike(orders[0])
    return {
        "ids": [row.id for row in rows],
        "schedules": [base.id for base in bases],
        "successors": [order.ids[0] for order in orders],
        "revisions": _numbers([base.revision for base in bases]),
        "starts": _numbers([base.starts for base in bases]),
        "cursors": _instants([base.cursor for base in bases]),
        "run_ats": _instants([row.run_at for row in rows]),
        "due_ats": _instants([row.due_at for row in rows]),
        "next_run_ats": _instants([draft.run_at for draft in drafts]),
        "next_due_ats": _instants([draft.due_at for draft in drafts]),
        "started_at": microseconds(started_at),
        "state": state.value,
        "found_tzdata": found_tzdata,
        "tzdata": tzdata,
        "stamp": audit_stamp(tzdata),
    }


def _instants(values: list[datetime]) -> str:
    return _numbers([microseconds_of(value) for value in values])


def _numbers(values: list[int]) -> str:
    """Return numbers as the database writes an array."""
    return f"{{{','.join(map(str, values))}}}"
