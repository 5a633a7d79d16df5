"""Work that is enqueued in a caller's transaction, on the caller's connection.

That transaction may not see rows that other transactions have committed meanwhile, and its locks
last until the caller commits. So a second connection reads the holders of unique keys, and counts
the work that switches reject.
"""

import logging
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from sempre.errors import NotSameDatabase, StoreUnavailable
from sempre.ports.messages import Enqueued, Work
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.enqueued_work import insert_works
from sempre.stores.sql.keys import holders_of
from sempre.stores.sql.switches import ActiveSwitches, count_rejections, switches_in_force

__all__ = ["enqueue_within"]

logger = logging.getLogger("sempre")


def enqueue_within(
    dialect: Dialect, connection: object, works: Collection[Work], uuid: str
) -> list[Enqueued]:
    """Enqueue work in a caller's transaction, if its connection leads to this store."""
    with dialect.callers.join(connection) as transaction:
        _prove_same(dialect, connection, transaction, uuid)
        read_holders = partial(_latest_holders, dialect)
        stops = _stops(transaction)
        receipts = insert_works(transaction, works, stops, read_holders=read_holders)
        if any(each.rejected_by for each in receipts):
            _count_rejections(dialect, transaction, receipts)
        return receipts


def _prove_same(dialect: Dialect, connection: object, transaction: Transaction, uuid: str) -> None:
    """Raise NotSameDatabase unless the connection leads to this store.

    The table is looked up first: in PostgreSQL a missing table aborts the caller's transaction.
    """
    found = transaction.rows("read_meta") if dialect.has_meta(transaction) else []
    if [row[1] for row in found] != [uuid]:
        place = dialect.callers.place_of(connection)
        other = f"{place} (another store)" if found else place
        raise NotSameDatabase(store=dialect.callers.place, found=other)


def _stops(transaction: Transaction) -> ActiveSwitches:
    """Return the switches that reject work, as the caller's transaction sees them.

    The switches are not locked: with a lock, no switch could be turned until the caller commits.
    So no switch may hold the row: a switch could be turned on before the row is visible, and
    would never free the row. A claim also skips stopped work that is not held.
    """
    switches = switches_in_force(transaction)
    return ActiveSwitches(tuple(switch for switch in switches if not switch.holds))


def _count_rejections(
    dialect: Dialect, transaction: Transaction, receipts: Collection[Enqueued]
) -> None:
    """Count rejected work, by a second connection if the database lets another one write.

    In the caller's transaction, the count would make the next one that counts wait for its commit.
    """
    if dialect.callers.write_alone:
        count_rejections(transaction, receipts)
        return
    try:
        dialect.write(lambda own: count_rejections(own, receipts))
    except StoreUnavailable as error:
        # The caller is told of the rejection in any case, which matters more than the count.
        logger.warning("what a switch has rejected was not counted: %s", error)


def _latest_holders(
    dialect: Dialect, transaction: Transaction, keys: list[str]
) -> list[Sequence[Any]]:
    """Return the executions that hold keys: committed ones, then those of the caller.

    The caller's transaction has locked the keys, so no other transaction adds executions. A second
    connection reads the executions committed since that transaction began, and only if the
    caller's transaction may not see them: where connections are few, callers that have one each
    must not wait for a second one.
    """
    found = holders_of(transaction, keys)
    if not dialect.callers.hides_newer_commits(transaction):
        return found

    def ask(latest: Transaction) -> tuple[list[Sequence[Any]], set[Any]]:
        committed = holders_of(latest, keys)
        known = {row[1] for row in committed}
        ids = sorted({row[1] for row in found} - known)
        ended = latest.rows("known_executions", ids=ids) if ids else []
        return committed, known | {row[0] for row in ended}

    committed, known = dialect.read(ask)
    return [*committed, *(row for row in found if row[1] not in known)]
