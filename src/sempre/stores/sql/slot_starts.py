"""Starts of many slots by one statement, if the database can write and read in one statement.

The statement moves a schedule on only if the schedule is unchanged since its plan was made: then
the slot is still its next row. The statement also starts the row and inserts the successor. The
guarded batch carries out every other order: it compares and writes step by step.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Plan
from sempre.domain.states import Kind, State
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Order
from sempre.stores.sql.dialects import FastPathMiss, Transaction
from sempre.stores.sql.encoding import microseconds
from sempre.stores.sql.guarded_batch import is_mere_start

__all__ = ["start_slots"]


def start_slots(
    transaction: Transaction, orders: Iterable[Order], session: str
) -> dict[str, Execution]:
    """Carry out the plain orders for a session; return the started executions by id.

    No execution starts while any switch is off.

    Raises:
        FastPathMiss: a schedule is unchanged since its plan was made, but its row is not.
    """
    can_start = transaction.writes_in_reading and transaction.may_miss
    plain = _plain(orders) if can_start else []
    if not plain:
        return {}
    transaction.send("lock_switches")
    *begun, (_, moved, lease) = transaction.rows("start_slots", session=session, **_written(plain))
    if len(begun) != moved:
        raise FastPathMiss
    until = None if lease is None else instant_of(lease)
    planned = {change.after.id: change.after for order in plain for change in order.plan.changes}
    return {
        identity: copy_with(planned[identity], session=session, fence=fence, leased_until=until)
        for identity, fence, *_ in begun
    }


def _plain(orders: Iterable[Order]) -> list[Order]:
    """Return the plain orders that are `_alike` to the first one, in the order of schedule ids.

    With several orders for one schedule, the first may invalidate the others: none is plain.
    """
    of_schedules = [(order.plan.base.id, order) for order in orders if order.plan.base is not None]
    counts = Counter(identity for identity, _ in of_schedules)
    found: list[tuple[str, Order]] = []
    common: tuple[Any, ...] | None = None
    for identity, order in of_schedules:
        if counts[identity] == 1 and _is_plain(order.plan):
            common = common or _alike(order)
            if _alike(order) == common:
                found.append((identity, order))
    return [order for _, order in sorted(found, key=itemgetter(0))]


def _is_plain(plan: Plan) -> bool:
    """Return whether a plan has exactly the effects of the statement `start_slots`.

    A slot without a limit that was never claimed before starts, its schedule moves on to the slot,
    and the next row is created with the snapshot of the slot.
    """
    base, after = plan.base, plan.schedule
    is_single = len(plan.changes) == 1 and len(plan.creates) == 1 and not plan.ranges
    if not is_single or base is None or after is None or plan.retracts_after is not None:
        return False
    [change], [draft] = plan.changes, plan.creates
    row = change.before
    moved = {"cursor": row.run_at, "starts": base.starts + 1, "next_run_at": draft.run_at}
    return (
        (row.attempt, row.fence, row.kind) == (0, 0, Kind.SCHEDULED)
        and row.schedule_id == base.id
        and not row.snapshot.limits
        and is_mere_start(change)
        # Compared as mappings: a comparison of dicts skips values that are identical objects.
        and vars(base) | moved | {"broken": "", "ended": False} == vars(after)
        and (draft.kind, draft.schedule_id) == (Kind.SCHEDULED, base.id)
        and draft.snapshot == row.snapshot
        and after.audit == "by next row"
        and not (draft.reason or draft.actor)
    )


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
        "stamp": sortable_tzdata(tzdata),
    }


def _instants(values: list[datetime]) -> str:
    return _numbers([microseconds_of(value) for value in values])


def _numbers(values: list[int]) -> str:
    """Return numbers in the syntax of an array of the database."""
    return f"{{{','.join(map(str, values))}}}"
