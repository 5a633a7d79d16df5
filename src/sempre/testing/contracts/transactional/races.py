"""Contracts under races: of two callers with one key, one waits, fails or is a duplicate."""

# ruff: noqa: S101 - a contract asserts

from functools import partial

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_release
from sempre.ports.messages import Enqueued, ExecutionQuery, Settlement, UniqueKey
from sempre.testing.contracts.store.builders import (
    at_once,
    enqueued,
    moment_of,
    session_of,
    wanted,
    work_of,
)
from sempre.testing.contracts.transactional.builders import (
    Database,
    TransactionalStore,
    execute,
    made,
    put,
    write,
)

MANY = 6
KEY = UniqueKey("key", "live")


def _put_and_commit(database: Database) -> Enqueued | None:
    """Put work in and commit; None if the database refused."""
    with database.caller() as connection:
        try:
            receipt = put(database.store, connection, unique=KEY)
            connection.commit()
        except database.driver_error:
            return None
        return receipt


def _put_in(store: TransactionalStore) -> Enqueued | None:
    return store.enqueue([work_of(store, unique=KEY)])[0]


def _live(database: Database) -> list[Execution]:
    items = database.store.executions(ExecutionQuery()).value.items
    return [each for each in items if each.is_live]


def test_of_many_callers_at_once_one_puts_a_key_in(database: Database) -> None:
    """Later callers wait for the first to commit."""
    made(database)

    receipts = at_once(*[partial(_put_and_commit, database)] * MANY)

    [row] = _live(database)
    assert [each.id for each in receipts if each and each.created] == [row.id]


def test_callers_and_others_put_a_key_in_once(database: Database) -> None:
    """With or without a caller's transaction."""
    store = made(database)

    receipts = at_once(
        *[partial(_put_and_commit, database)] * (MANY // 2),
        *[partial(_put_in, store)] * (MANY // 2),
    )

    [row] = _live(database)
    assert [each.id for each in receipts if each and each.created] == [row.id]


def test_a_key_that_is_taken_after_a_snapshot_is_not_taken_twice(database: Database) -> None:
    """A transaction with an old snapshot gets the current holder, or fails."""
    store = made(database)
    with database.caller() as connection:
        execute(connection, "SELECT number FROM notes")
        first = enqueued(store, unique=KEY)

        try:
            receipt = put(store, connection, unique=KEY)
            write(connection)
            connection.commit()
        except database.driver_error:
            receipt = Enqueued(first, created=False)

    assert receipt == Enqueued(first, created=False)
    assert [row.id for row in _live(database)] == [first]


def test_a_key_that_is_waited_for_again_after_a_snapshot_is_not_taken_twice(
    database: Database,
) -> None:
    """An execution that ran at the snapshot, and blocked no key, may be waiting by now."""
    store = made(database)
    first = enqueued(store, unique=KEY)
    session = session_of(store)
    [running] = store.claim_one_off(wanted(), session=session).value
    with database.caller() as connection:
        execute(connection, "SELECT number FROM notes")
        plan = plan_release(None, running, moment_of(store))
        store.settle([Settlement(running, plan)], session=session)

        try:
            receipt = put(store, connection, unique=KEY)
            connection.commit()
        except database.driver_error:
            receipt = Enqueued(first, created=False)

    assert (receipt.id, receipt.created) == (first, False)
    assert [row.id for row in _live(database)] == [first]
