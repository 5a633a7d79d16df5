"""The unique keys of the memory store: who has one, and who stands in whose way."""

from dataclasses import replace
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Change
from sempre.domain.planning.unique_conflict import coalesce, is_next_try
from sempre.domain.states import State
from sempre.ports.messages import Order, UniqueKey
from sempre.stores.memory.tables import Tables

__all__ = ["coalesced", "failures_before", "forget_key", "hold_key", "in_the_way"]


def in_the_way(tables: Tables, unique: UniqueKey, now: datetime, besides: str = "") -> str:
    """Return the execution that forbids another one of a key; an empty text if there is none."""
    newest = tables.executions.get(tables.unique.get(unique.key, ""))
    if unique.mode == "period":
        counts = newest and newest.id != besides and newest.created_at > now - unique.period
        return newest.id if newest and counts else ""
    active = [row for row in _active(tables, unique.key) if row.id != besides]
    counting = [row for row in active if row.is_live or unique.mode == "active"]
    last = max(counting, key=lambda row: (row.created_at, row.id), default=None)
    return last.id if last else ""


def failures_before(tables: Tables, key: str) -> tuple[int, datetime | None]:
    """Return how many of a key have failed in a row, and when the newest one did, if it did."""
    newest = tables.executions.get(tables.unique.get(key, ""))
    if newest is None:
        return 0, None
    if newest.state is State.FAILED:
        return tables.streaks.get(key, 0) + 1, newest.finished_at
    return tables.streaks.get(key, 0) if newest.is_active else 0, None


def hold_key(tables: Tables, unique: UniqueKey, identity: str) -> None:
    """Let an execution that is put in be the newest of its key."""
    tables.streaks[unique.key] = failures_before(tables, unique.key)[0]
    tables.unique[unique.key] = identity
    tables.keyed[unique.key].add(identity)
    tables.unique_of[identity] = unique


def forget_key(tables: Tables, identity: str) -> None:
    """Forget the key of an execution that is purged."""
    unique = tables.unique_of.pop(identity, None)
    if unique is None:
        return
    tables.keyed[unique.key].discard(identity)
    if tables.unique.get(unique.key) == identity:
        del tables.unique[unique.key]
        tables.streaks.pop(unique.key, None)


def coalesced(tables: Tables, order: Order, now: datetime) -> Order:
    """Return an order in which no execution is tried again whose key is taken."""
    if not tables.unique_of:
        return order
    changes = tuple(_coalesced(tables, change, now) for change in order.plan.changes)
    return replace(order, plan=replace(order.plan, changes=changes))


def _coalesced(tables: Tables, change: Change, now: datetime) -> Change:
    unique = tables.unique_of.get(change.before.id)
    if unique is None or not is_next_try(change):
        return change
    other = in_the_way(tables, unique, now, besides=change.before.id)
    return coalesce(change, other) if other else change


def _active(tables: Tables, key: str) -> list[Execution]:
    """Return what waits or runs of a key; what is over is not looked at again."""
    found = (tables.executions[each] for each in tables.keyed[key])
    active = [row for row in found if row.is_active]
    tables.keyed[key] = {row.id for row in active}
    return active
