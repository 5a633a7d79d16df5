"""Work that is enqueued in a caller's transaction, on the caller's connection.

That transaction may not see what other transactions have committed meanwhile, and its locks last
until the caller commits. So the holders of unique keys are read by a second connection, and what
switches reject is counted by a second one.
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
    """Enqueue work in a caller's transaction, if its connection leads to this very store."""
    with dialect.callers.join(connection) as transaction:
        _prove_same(dialect, connection, transaction, uuid)
        read_holders = partial(_latest_holders, dialect)
        stops = _stops(transaction)
        receipts = insert_works(transaction, works, stops, read_holders=read_holders)
        if any(each.rejected_by for each in receipts):
            _count_rejections(dialect, transaction, receipts)
        return receipts


def _prove_same(dialect: Dialect, connection: object, transaction: Transaction, uuid: str) -> None:
    """Raise NotSameDatabase unless the connection sees this very store.

    The table is searched first: in PostgreSQL its absence would end the caller's transaction.
    """
    found = transaction.rows("read_meta") if dialect.has_meta(transaction) else []
    if [row[1] for row in found] != [uuid]:
        place = dialect.callers.place_of(connection)
        other = f"{place} (another store)" if found else place
        raise NotSameDatabase(store=dialect.callers.place, found=other)


def _stops(transaction: Transaction) -> ActiveSwitches:
    """Return the switches that reject, as the caller sees them.

    The switches are not locked: no switch could be turned until the caller commits. So no switch
    may hold the row: it could be turned on before the row is visible, and would never free the
    row. Work that a switch stops, and that is not held, is not started either.
    """
    switches = switches_in_force(transaction)
    return ActiveSwitches(tuple(switch for switch in switches if not switch.holds))


def _count_rejections(
    dialect: Dialect, transaction: Transaction, receipts: Collection[Enqueued]
) -> None:
    """Count what switches rejected, apart from the caller's transaction if others can write.

    Else the next transaction that counts would wait for the caller's commit.
    """
    if dialect.callers.write_alone:
        count_rejections(transaction, receipts)
        return
    try:
        dialect.write(lambda own: count_rejections(own, receipts))
    except StoreUnavailable as error:
        # The caller learns of the rejection, which matters more.
        logger.warning("what a switch has rejected was not counted: %s", error)


def _latest_holders(
    dialect: Dialect, transaction: Transaction, keys: list[str]
) -> list[Sequence[Any]]:
    """Return the executions that hold keys: those that are committed, then those of the caller.

    The caller's transaction has locked the keys, so no other transaction adds to them. What others
    have committed since it began is read by a second connection, and only where the caller's
    transaction may not see it: where connections are few, callers that have one each must not wait
    for a second one.
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
