"""MariaDB with settings that its administrator chose: small packets, safe updates, few rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.errors import StoreError
from sempre.ports.messages import Alike, UniqueKey, Work
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.testing.contracts.store.builders import (
    claimed,
    due_schedule,
    enqueued,
    new_id,
    read,
    session_of,
    succeed,
    wanted,
    work_of,
)
from tests.integration.sql.mariadb_server import ask, new_database

PACKET = 262_144


@contextmanager
def globally(server: str, **settings: object) -> Iterator[None]:
    """Set variables of the server for connections that are opened from now on."""
    before = {name: ask(server, f"SELECT @@GLOBAL.{name}")[0][0] for name in settings}
    try:
        for name, value in settings.items():
            ask(server, f"SET GLOBAL {name} = {value}")
        yield
    finally:
        for name, value in before.items():
            ask(server, f"SET GLOBAL {name} = {value}")


@contextmanager
def store_on(server: str) -> Iterator[SqlStore]:
    store = SqlStore(Mariadb(new_database(server), wait=lambda _: None))
    store.upgrade()
    yield store
    store.close()


def test_a_batch_larger_than_a_packet_is_split(mariadb: str) -> None:
    """Quotes take twice their room, in SQL and in JSON alike."""
    with globally(mariadb, max_allowed_packet=PACKET), store_on(mariadb) as store:
        text = '"' * 10_000
        blank = work_of(store).execution
        alike = Alike(blank, {new_id(): {"text": text} for _ in range(50)})
        unique = [
            work_of(store, args={"text": text}, unique=UniqueKey(str(number)))
            for number in range(50)
        ]

        receipts = [*store.enqueue(alike), *store.enqueue(unique)]

        assert all(receipt.created for receipt in receipts)
        ids = [*alike.args, *(work.execution.id for work in unique)]
        found = [each.execution.snapshot.args for each in store.candidates(ids).value]
        assert found == [{"text": text}] * len(ids)


def test_a_batch_within_a_callers_transaction_is_split(mariadb: str) -> None:
    with globally(mariadb, max_allowed_packet=PACKET), store_on(mariadb) as store:
        works = [work_of(store, args={"text": "x" * 10_000}) for _ in range(50)]
        connection = store.connect()
        assert isinstance(connection, pymysql.Connection)

        connection.begin()
        receipts = store.enqueue_within(connection, works)
        connection.commit()

        assert all(receipt.created for receipt in receipts)
        connection.close()


def test_one_row_larger_than_a_packet_is_refused_with_the_remedy(mariadb: str) -> None:
    with globally(mariadb, max_allowed_packet=PACKET), store_on(mariadb) as store:
        work = work_of(store, args={"text": "x" * 2 * PACKET})

        for works in ([work], [Work(work.execution, UniqueKey("one"))]):
            with pytest.raises(StoreError, match="SET GLOBAL max_allowed_packet"):
                store.enqueue(works)

        assert enqueued(store)


def test_the_settings_of_the_server_are_not_those_of_the_store(mariadb: str) -> None:
    with globally(mariadb, sql_safe_updates=1, sql_select_limit=1), store_on(mariadb) as store:
        ids = sorted(enqueued(store) for _ in range(3))
        due = due_schedule(store).rows[0].id
        session = session_of(store)

        taken = store.claim_one_off(wanted(), session=session).value
        slot = claimed(store, due, session)
        ended = [succeed(store, row) for row in (*taken, slot)]

        assert sorted(row.id for row in taken) == ids
        assert len(ended) == 4
        assert store.shorten_leases(longest=store.sessions().now - slot.created_at) >= 0


def test_the_settings_of_the_server_are_not_those_of_a_jobs_transaction(mariadb: str) -> None:
    with globally(mariadb, sql_safe_updates=1, sql_select_limit=1), store_on(mariadb) as store:
        row = claimed(store, enqueued(store), session_of(store))
        effects = store.effects(row.id, row.fence)
        assert isinstance(effects.connection, pymysql.Connection)
        with effects.connection.cursor() as cursor:
            cursor.execute("SELECT @@sql_safe_updates, @@sql_select_limit > 1")
            assert cursor.fetchall() == ((0, 1),)

        effects.keep(None)

        assert read(store, row.id).state == "succeeded"


def test_the_settings_of_a_callers_connection_are_left_alone_and_mean_nothing(
    mariadb: str,
) -> None:
    limits = "SET SESSION sql_safe_updates = 1, sql_select_limit = 1"
    with store_on(mariadb) as store:
        connection = store.connect()
        assert isinstance(connection, pymysql.Connection)
        connection.query(limits)
        works = [work_of(store, unique=UniqueKey(key)) for key in "abc"]
        for work in works[1:]:
            store.enqueue([work])

        connection.begin()
        again = [Work(work_of(store).execution, work.unique) for work in works]
        receipts = store.enqueue_within(connection, again)
        connection.commit()

        assert [receipt.created for receipt in receipts] == [True, False, False]
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@sql_safe_updates, @@sql_select_limit")
            assert cursor.fetchall() == ((1, 1),)
        connection.close()


def test_who_sets_a_store_up_waits_for_others_who_change_its_tables(
    mariadb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Error 1412: a table is newer than the state that a transaction reads."""
    url = new_database(mariadb)
    database = url.partition("localhost/")[2].partition("?")[0]
    store = SqlStore(Mariadb(url, wait=lambda _: None))
    store.upgrade()
    has_meta = Mariadb.has_meta

    def changed_meanwhile(dialect: Mariadb, transaction: Transaction) -> bool:
        transaction.rows("now")
        ask(mariadb, f"ALTER TABLE {database}.sempre_meta FORCE")
        return has_meta(dialect, transaction)

    monkeypatch.setattr(Mariadb, "has_meta", changed_meanwhile)
    other = SqlStore(Mariadb(url, wait=lambda _: None))

    other.upgrade()

    assert other.uuid == store.uuid
    other.close()
    store.close()
