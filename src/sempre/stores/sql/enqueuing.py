"""Enqueuing: one-off work becomes rows, plain work a thousand at a time.

Each batch is one transaction, and safe to repeat: what is there already is left as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.values import changed
from sempre.ports.messages import Receipt, Work
from sempre.stores.sql import encoding
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.inserting import insert_executions
from sempre.stores.sql.keys import Keys
from sempre.stores.sql.switches import Stops, switches_off

__all__ = ["enqueue"]

# With more kinds of work in a batch than this, each row is better told in full.
MOST_KINDS = 10

_UNIQUE = attrgetter("unique")
_OWN = ("id", "snapshot", "created_at", "args")
_of_row, _of_rules = (
    attrgetter(*(each.name for each in fields(kind) if each.name not in _OWN))
    for kind in (Execution, Snapshot)
)


def enqueue(
    transaction: Transaction, works: Sequence[Work], stops: Stops | None = None
) -> list[Receipt]:
    """Put one-off work in, or say what stands in its way: by default, any switch that is off."""
    stops = switches_off(transaction) if stops is None else stops
    if not stops.switches and not any(map(_UNIQUE, works)):
        kinds = _kinds([work.execution for work in works])
        if len(kinds) <= MOST_KINDS:
            return _put_in_kinds(transaction, works, kinds)
    return _put_in(transaction, works, stops)


def _kinds(rows: Iterable[Execution]) -> list[list[Execution]]:
    """Return rows in stretches that have everything in common but id and arguments."""
    kinds: list[list[Execution]] = []
    last_row = last_rules = None
    for row in rows:
        of_row, of_rules = _of_row(row), _of_rules(row.snapshot)
        if of_row != last_row or of_rules != last_rules:
            kinds.append([])
            last_row, last_rules = of_row, of_rules
        kinds[-1].append(row)
    return kinds


def _put_in_kinds(
    transaction: Transaction, works: Sequence[Work], kinds: Sequence[Sequence[Execution]]
) -> list[Receipt]:
    """Put in work that nothing stands in the way of: what it has in common is said once."""
    for rows in kinds:
        first = changed(rows[0], created_at=transaction.now)
        columns = encoding.write_execution(first, encoding.write_snapshot(first.snapshot))
        documents = {row.id: dict(row.snapshot.args) for row in rows}
        del columns["id"], columns["args"]
        transaction.run("insert_alike", documents=documents, **columns)
    return [Receipt(work.execution.id) for work in works]


def _put_in(transaction: Transaction, works: Sequence[Work], stops: Stops) -> list[Receipt]:
    """Put in what neither a switch nor a unique key stands in the way of, row by row."""
    tags = stops.tags(transaction, [work.execution for work in works])
    ids = [work.execution.id for work in works]
    known = {row[0] for row in transaction.rows("known_executions", ids=ids)}
    uniques = {work.execution.id: work.unique for work in works if work.unique}
    keys = Keys(transaction, [encoding.key_text(unique.key) for unique in uniques.values()])
    now = transaction.now
    receipts, born = [], []
    for work in works:
        row, unique = work.execution, work.unique
        if row.id in known:
            receipts.append(Receipt(row.id))
            continue
        switch = stops.stopping(row, tags)
        if switch and switch.mode == "reject":
            receipts.append(Receipt(row.id, created=False, rejected_by=switch.name))
            continue
        failures = 0
        if unique:
            key = encoding.key_text(unique.key)
            if refusal := keys.refusal(key, work, unique, now):
                receipts.append(refusal)
                continue
            failures = keys.put_in(key, row, now)
        known.add(row.id)
        born.append(changed(row, created_at=now, held_by=switch.name if switch else ""))
        receipts.append(Receipt(row.id, failures=failures))
    insert_executions(transaction, born, uniques)
    keys.write(transaction)
    stops.note_refusals(transaction, receipts)
    return receipts
