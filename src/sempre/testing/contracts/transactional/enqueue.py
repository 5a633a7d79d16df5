"""Contracts of work that is enqueued through a caller's transaction."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from contextlib import closing
from datetime import timedelta
from typing import Literal

import pytest

from sempre.domain.switch import Switch
from sempre.errors import NotSameDatabase, TransactionError
from sempre.ports.messages import Enqueued, ExecutionQuery, UniqueKey
from sempre.testing.contracts.store.builders import (
    HOUR,
    enqueued,
    now_of,
    read,
    session_of,
    wanted,
    work_of,
)
from sempre.testing.contracts.transactional.builders import (
    Database,
    execute,
    made,
    notes,
    put,
    write,
)

KEY = UniqueKey("key")
Mode = Literal["live", "active", "period"]


def test_work_and_the_callers_rows_commit_together(database: Database) -> None:
    """Other connections see neither before the commit, and both afterwards."""
    store = made(database)
    session = session_of(store)
    with database.caller() as connection:
        write(connection)
        receipt = put(store, connection)
        assert receipt.created
        assert store.candidates([receipt.id]).value == []
        assert notes(database) == []

        connection.commit()

    assert notes(database) == [1]
    [taken] = store.claim_one_off(wanted(), session=session).value
    assert taken.id == receipt.id


def test_work_and_the_callers_rows_roll_back_together(database: Database) -> None:
    """Neither leaves a trace."""
    store = made(database)
    with database.caller() as connection:
        write(connection)
        receipt = put(store, connection)

        connection.rollback()

    assert notes(database) == []
    assert store.candidates([receipt.id]).value == []
    assert store.executions(ExecutionQuery()).value.items == ()


def test_work_reads_back_as_if_put_in_without_a_transaction(database: Database) -> None:
    """All fields are equal but the creation time, which is the store's now."""
    store = made(database)
    work = work_of(store, args={"✓": ["ñ", 2**53 + 1]}, queue="mail", priority=3)
    with database.caller() as connection:
        before = now_of(store)
        store.enqueue_within(connection, [work])
        connection.commit()

    found = read(store, work.execution.id)

    assert found.snapshot == work.execution.snapshot
    assert found.due_at == work.execution.due_at
    assert before <= found.created_at <= now_of(store)


def test_many_pieces_of_work_are_put_in_at_once(database: Database) -> None:
    """The call returns one receipt per piece of work, in order."""
    store = made(database)
    works = [work_of(store) for _ in range(50)]
    with database.caller() as connection:
        receipts = store.enqueue_within(connection, works)
        connection.commit()

    assert receipts == [Enqueued(work.execution.id) for work in works]
    assert len(store.candidates([each.id for each in receipts]).value) == 50


def test_a_key_that_is_taken_is_a_receipt(database: Database) -> None:
    """The caller's transaction goes on."""
    store = made(database)
    first = enqueued(store, unique=KEY)
    with database.caller() as connection:
        write(connection)

        receipt = put(store, connection, unique=KEY)
        connection.commit()

    assert receipt == Enqueued(first, created=False)
    assert notes(database) == [1]


def test_a_key_is_free_again_when_the_caller_rolls_back(database: Database) -> None:
    """The work that took the key was never committed."""
    store = made(database)
    with database.caller() as connection:
        assert put(store, connection, unique=KEY).created
        connection.rollback()

    assert store.enqueue([work_of(store, unique=KEY)])[0].created


def test_a_transaction_finds_the_keys_that_it_took_itself(database: Database) -> None:
    """The uncommitted holders are invisible to others; holders that have ended do not count."""
    store = made(database)
    modes: tuple[Mode, ...] = ("active", "live", "period")
    for mode in modes:
        unique = UniqueKey(mode, mode, timedelta(microseconds=1))
        store.cancel([enqueued(store, unique=unique)])
        lasting = UniqueKey(mode, mode, HOUR)
        with database.caller() as connection:
            first = put(store, connection, unique=unique)

            second = put(store, connection, unique=lasting)
            connection.commit()

        assert first.created
        assert second == Enqueued(first.id, created=False)


def test_a_switch_that_rejects_is_told_and_counted(database: Database) -> None:
    """As for work that is enqueued without a caller's transaction."""
    store = made(database)
    store.switch(Switch("stop", target="job:mail", mode="reject"), off=True)
    with database.caller() as connection:
        write(connection)
        receipt = put(store, connection)
        connection.commit()

    assert receipt == Enqueued(receipt.id, created=False, rejected_by="stop")
    assert store.candidates([receipt.id]).value == []
    assert [switch.rejected for switch in store.switches().value] == [1]


def test_a_switch_that_holds_lets_work_in_and_starts_none(database: Database) -> None:
    """Once the switch is on again, the work can start like any other."""
    store = made(database)
    session = session_of(store)
    switch = Switch("stop", target="job:mail", mode="hold")
    store.switch(switch, off=True)
    with database.caller() as connection:
        receipt = put(store, connection)
        connection.commit()

    assert receipt.created
    assert store.claim_one_off(wanted(), session=session).value == []
    store.switch(switch, off=False)
    assert [each.id for each in store.claim_one_off(wanted(), session=session).value] == [
        receipt.id
    ]


def test_a_connection_to_another_database_is_refused(database: Database) -> None:
    """Nothing is written to that database, and the caller's transaction can go on."""
    store = made(database)
    with closing(database.elsewhere()) as connection:
        execute(connection, "CREATE TABLE own (number INTEGER)")
        execute(connection, "INSERT INTO own (number) VALUES (1)")

        with pytest.raises(NotSameDatabase, match="two databases"):
            put(store, connection)

        assert [tuple(row) for row in execute(connection, "SELECT number FROM own")] == [(1,)]
        connection.rollback()


def test_what_is_no_connection_is_refused(database: Database) -> None:
    """And so is one of another driver."""
    with pytest.raises(TransactionError):
        put(database.store, object())
