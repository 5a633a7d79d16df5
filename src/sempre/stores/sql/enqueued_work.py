"""Enqueuing: one-off work becomes rows, plain work a thousand at a time.

Each batch is one transaction, and safe to repeat: executions that exist are left unchanged.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.values import copy_with
from sempre.ports.messages import Alike, Enqueued, Work
from sempre.stores.sql import encoding
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.keys import Keys, ReadHolders, holders_of
from sempre.stores.sql.new_executions import insert_executions
from sempre.stores.sql.switches import ActiveSwitches, count_rejections, switches_off

__all__ = ["enqueue", "insert_works"]

# With more kinds of work in a batch, each row is better sent in full.
MOST_KINDS = 10

_UNIQUE, _EXECUTION = attrgetter("unique"), attrgetter("execution")
_OWN = ("id", "snapshot", "created_at", "args")
_of_row, _of_rules = (
    attrgetter(*(each.name for each in fields(kind) if each.name not in _OWN))
    for kind in (Execution, Snapshot)
)


def enqueue(transaction: Transaction, works: Collection[Work]) -> list[Enqueued]:
    """Insert one-off work; report work that a switch or a unique key stops."""
    stops = switches_off(transaction)
    receipts = insert_works(transaction, works, stops)
    if stops.switches:
        count_rejections(transaction, receipts)
    return receipts


def insert_works(
    transaction: Transaction,
    works: Collection[Work],
    stops: ActiveSwitches,
    *,
    read_holders: ReadHolders = holders_of,
) -> list[Enqueued]:
    """Insert work that neither these switches nor a unique key stops; count no rejection."""
    kinds = [] if stops.switches else _kinds(works)
    if not kinds or len(kinds) > MOST_KINDS:
        return _insert_each(transaction, works, stops, read_holders)
    for alike in kinds:
        _insert_alike(transaction, alike)
    return [Enqueued(identity) for identity in _ids(works)]


def _kinds(works: Collection[Work]) -> Sequence[Alike]:
    """Return work in runs that differ only in id and arguments; none if that is not enough.

    Work that is unique, or whose arguments decide about a limit, differs in other columns too.
    """
    if isinstance(works, Alike):
        return [] if _has_keyed_limit(works.blank) else [works]
    if any(map(_UNIQUE, works)) or any(map(_has_keyed_limit, map(_EXECUTION, works))):
        return []
    kinds: list[tuple[Execution, dict[str, dict[str, Any]]]] = []
    last_row = last_rules = None
    for row in map(_EXECUTION, works):
        of_row, of_rules = _of_row(row), _of_rules(row.snapshot)
        if of_row != last_row or of_rules != last_rules:
            kinds.append((row, {}))
            last_row, last_rules = of_row, of_rules
        kinds[-1][1][row.id] = dict(row.snapshot.args)
    return [Alike(*each) for each in kinds]


def _has_keyed_limit(row: Execution) -> bool:
    limits = row.snapshot.limits
    return bool(limits) and any(limit.is_keyed for limit in limits)


def _ids(works: Collection[Work]) -> Iterable[str]:
    return works.args if isinstance(works, Alike) else (work.execution.id for work in works)


def _insert_alike(transaction: Transaction, alike: Alike) -> None:
    """Insert work that nothing stops: the common columns are sent once."""
    blank = copy_with(alike.blank, created_at=transaction.now)
    columns = encoding.write_execution(blank, encoding.write_snapshot(blank.snapshot))
    del columns["id"], columns["args"]
    statement = "insert_fresh" if transaction.may_miss else "insert_alike"
    transaction.run(statement, documents=alike.args, **columns)


def _insert_each(
    transaction: Transaction,
    works: Collection[Work],
    stops: ActiveSwitches,
    read_holders: ReadHolders,
) -> list[Enqueued]:
    """Insert the work that neither a switch nor a unique key stops, row by row."""
    tags = stops.tags(transaction, [work.execution for work in works])
    ids = [work.execution.id for work in works]
    known = {row[0] for row in transaction.rows("known_executions", ids=ids)}
    uniques = {work.execution.id: work.unique for work in works if work.unique}
    wanted = [encoding.key_text(unique.key) for unique in uniques.values()]
    keys = Keys(transaction, wanted, read_holders)
    now = transaction.now
    receipts, born = [], []
    for work in works:
        row, unique = work.execution, work.unique
        if row.id in known:
            receipts.append(Enqueued(row.id))
            continue
        switch = stops.stopping(row, tags)
        if switch and switch.mode == "reject":
            receipts.append(Enqueued(row.id, created=False, rejected_by=switch.name))
            continue
        failures = 0
        if unique:
            key = encoding.key_text(unique.key)
            if refusal := keys.refusal(key, work, unique, now):
                receipts.append(refusal)
                continue
            failures = keys.enqueue(key, row, now)
        known.add(row.id)
        born.append(copy_with(row, created_at=now, held_by=switch.name if switch else ""))
        receipts.append(Enqueued(row.id, failures=failures))
    insert_executions(transaction, born, uniques)
    keys.write(transaction)
    return receipts
