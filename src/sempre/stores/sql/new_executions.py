"""Inserts of executions; executions of schedules refer to a snapshot that is stored once."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sempre.domain.execution import Execution
from sempre.ports.messages import Birth, UniqueKey
from sempre.stores.sql import encoding
from sempre.stores.sql.dialects import Transaction

__all__ = ["Own", "insert_executions", "load_births", "load_executions"]

# The rules and arguments that the row of an execution carries itself, if any.
Own = tuple[str | None, str | None]
_Known = dict[tuple[str | None, int], tuple[str, str]]


def insert_executions(
    transaction: Transaction,
    rows: Sequence[Execution],
    uniques: Mapping[str, UniqueKey] = MappingProxyType({}),
) -> None:
    """Insert one-off work, also in a caller's transaction."""
    values = [
        encoding.write_execution(row, encoding.write_snapshot(row.snapshot))
        | encoding.write_unique(uniques.get(row.id))
        for row in rows
    ]
    if values:
        transaction.many("insert_execution", values)


def load_executions(
    transaction: Transaction, rows: Sequence[Execution], stored: Mapping[str, Own]
) -> None:
    """Insert executions of schedules, in a transaction of the store's own.

    `stored` has the rules and arguments of rows whose snapshot is known to be stored, by id.
    """
    rest = [row for row in rows if row.id not in stored]
    if rest:
        revisions = sorted({(row.schedule_id or "", row.snapshot.revision) for row in rest})
        found = transaction.rows("known_snapshots", revisions=revisions)
        known: _Known = {(row[0], row[1]): (row[2], row[3]) for row in found}
        own, fresh = _assigned(rest, known)
        stored = {**stored, **own}
        if fresh:
            transaction.many("insert_snapshot", fresh)
    if rows:
        transaction.many("load_execution", _written(rows, stored))


def load_births(
    transaction: Transaction, births: Sequence[Birth], stamps: Sequence[str | None]
) -> None:
    """Insert new schedules with their audit stamps and their executions."""
    pairs = zip(births, stamps, strict=True)
    schedules = (encoding.write_schedule(birth.schedule, stamp) for birth, stamp in pairs)
    transaction.many("load_schedule", schedules)
    new = {birth.schedule.id for birth in births}
    rows = [row for birth in births for row in birth.rows]
    # No snapshot of a new schedule can be stored yet.
    news = [row for row in rows if row.schedule_id in new]
    own, fresh = _assigned(news, {})
    if fresh:
        transaction.many("load_snapshot", fresh)
    load_executions(transaction, rows, own)


def _written(rows: Sequence[Execution], own: Mapping[str, Own]) -> Iterator[dict[str, Any]]:
    return (encoding.write_execution(row, own[row.id]) for row in rows)


def _assigned(
    rows: Sequence[Execution], known: _Known
) -> tuple[dict[str, Own], list[dict[str, Any]]]:
    """Return the rules and arguments that rows carry themselves, and the snapshots to insert.

    One snapshot is stored for each revision. A row with a different snapshot carries its own.
    """
    own: dict[str, Own] = {}
    fresh: list[dict[str, Any]] = []
    for row in rows:
        key = row.schedule_id, row.snapshot.revision
        rules, args = written = encoding.write_snapshot(row.snapshot)
        if key not in known and row.schedule_id is not None:
            known[key] = written
            stored = {"schedule_id": row.schedule_id, "revision": row.snapshot.revision}
            fresh.append(stored | {"rules": rules, "args": args})
        own[row.id] = (None, None) if known.get(key) == written else written
    return own, fresh
