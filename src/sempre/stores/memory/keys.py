"""Unique keys of the memory store: which execution holds a key, and which it blocks."""

from dataclasses import replace
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Change
from sempre.domain.planning.unique_conflict import coalesce, is_next_try, is_revival
from sempre.ports.messages import Order, UniqueKey
from sempre.stores.memory.tables import Tables
from sempre.stores.unique_keys import KeyHolder, KeyHolders

__all__ = ["coalesced", "forget_key", "hold_key", "holders_of", "is_key_taken", "keep_key"]


def holders_of(tables: Tables, key: str) -> KeyHolders:
    """Return the executions of a key that decide whether another may be enqueued."""
    found = (tables.executions[each] for each in tables.keyed[key])
    active = [row for row in found if row.is_active]
    # Executions that ended leave the index, so that later calls do not scan them.
    tables.keyed[key] = {row.id for row in active}
    newest = tables.executions.get(tables.unique.get(key, ""))
    failures = tables.streaks.get(key, 0)
    return KeyHolders(
        _holder(newest, failures) if newest else None, {row.id: _holder(row) for row in active}
    )


def _holder(row: Execution, failures: int = 0) -> KeyHolder:
    return KeyHolder(row.created_at, row.id, row.state, failures, row.finished_at)


def hold_key(tables: Tables, unique: UniqueKey, identity: str, failures: int) -> None:
    """Make an execution the newest of its key, after a number of failures in a row."""
    tables.streaks[unique.key] = failures
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


def is_key_taken(tables: Tables, change: Change, now: datetime) -> bool:
    """Return whether a change retries an ended execution whose key another execution holds."""
    unique = tables.unique_of.get(change.before.id)
    if unique is None or not is_revival(change):
        return False
    return bool(holders_of(tables, unique.key).in_the_way(unique, now, besides=change.before.id))


def keep_key(tables: Tables, change: Change) -> None:
    """Note that an ended execution waits again, and so holds its key."""
    unique = tables.unique_of.get(change.before.id)
    if unique is not None and is_revival(change):
        tables.keyed[unique.key].add(change.before.id)


def coalesced(tables: Tables, order: Order, now: datetime) -> Order:
    """Return an order without retries of executions whose key another execution holds."""
    if not tables.unique_of:
        return order
    changes = tuple(_coalesced(tables, change, now) for change in order.plan.changes)
    return replace(order, plan=replace(order.plan, changes=changes))


def _coalesced(tables: Tables, change: Change, now: datetime) -> Change:
    unique = tables.unique_of.get(change.before.id)
    if unique is None or not is_next_try(change):
        return change
    other = holders_of(tables, unique.key).in_the_way(unique, now, besides=change.before.id)
    return coalesce(change, other) if other else change
