"""Raw connections: enqueued with the caller's rows, whatever the connection is set up like."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pymysql  # type: ignore[import-untyped]
import pytest
from psycopg.rows import dict_row

from sempre import Receipt, Sempre
from sempre.domain.states import State
from sempre.errors import NotSameDatabase, TransactionError
from tests.integration.transactions.places import (
    Place,
    Shop,
    on_mariadb,
    on_postgresql,
    on_sqlite,
    opened,
)


class Expected(Exception):
    """A failure that belongs to the test."""


def order(connection: Any, number: int = 1) -> None:  # noqa: ANN401 - of any driver
    cursor = connection.cursor()
    cursor.execute(f"INSERT INTO orders (number) VALUES ({number})")  # noqa: S608 - a number
    cursor.close()


def test_what_is_enqueued_commits_with_the_order(shop: Shop) -> None:
    with closing(shop.place.connect()) as connection:
        order(connection)
        receipt = shop.ship.options(tx=connection).enqueue(1)
        assert shop.state(receipt) is None

        connection.commit()

    assert shop.place.orders == [1]
    # Nobody says when a raw connection has committed: the sweep will ring.
    assert shop.state(receipt) is State.PENDING
    assert shop.broker.told == 0


def test_what_is_enqueued_is_gone_with_the_order(shop: Shop) -> None:
    with closing(shop.place.connect()) as connection:
        order(connection)
        receipt = shop.ship.options(tx=connection).enqueue(1)

        connection.rollback()

    assert shop.place.orders == []
    assert shop.state(receipt) is None


def test_a_process_may_begin_with_it(shop: Shop) -> None:
    """What it takes to begin wants nothing that the caller's transaction has."""
    fresh = Sempre(shop.place.store)
    job = fresh.job(shop.ship.task.function)
    with closing(shop.place.connect()) as connection:
        order(connection)

        receipt = job.options(tx=connection).enqueue(1)
        connection.commit()

    assert shop.state(receipt) is State.SCHEDULED
    fresh.close()


def test_a_block_commits_and_rings(shop: Shop) -> None:
    with closing(shop.place.connect()) as connection:
        with shop.app.transaction(connection):
            order(connection)
            by_itself = shop.ship.enqueue(1)
            named = shop.ship.options(tx=connection).enqueue(2)
            assert shop.broker.told == 0

        assert shop.place.orders == [1]
        assert shop.state(by_itself) is shop.state(named) is State.SCHEDULED
        assert shop.broker.told == 2


def test_a_block_that_raises_keeps_nothing_and_rings_for_nothing(shop: Shop) -> None:
    receipts: list[Receipt[None]] = []

    def fail(connection: object) -> None:
        with shop.app.transaction(connection):
            order(connection)
            receipts.append(shop.ship.enqueue(1))
            raise Expected

    with closing(shop.place.connect()) as connection:
        with pytest.raises(Expected):
            fail(connection)

        order(connection, 2)
        connection.commit()

    assert shop.place.orders == [2]
    assert shop.state(receipts[0]) is None
    assert shop.broker.told == 0


@pytest.mark.parametrize("begun", [True, False])
def test_a_block_that_the_database_has_given_up_is_no_success(
    begun: bool,  # noqa: FBT001 - a case of it
    postgresql: str,
) -> None:
    def swallow(shop: Shop, connection: psycopg.Connection[Any]) -> None:
        with shop.app.transaction(connection):
            order(connection)
            shop.ship.enqueue(1)
            with suppress(psycopg.Error):
                connection.execute("SELECT nonsense")

    with opened(on_postgresql(postgresql)) as shop, closing(shop.place.connect()) as connection:
        if begun:
            order(connection, 2)

        with pytest.raises(TransactionError, match="savepoint"):
            swallow(shop, connection)

        assert shop.place.orders == []
        assert shop.broker.told == 0


def test_a_block_takes_what_was_begun_before_along(shop: Shop) -> None:
    with closing(shop.place.connect()) as connection:
        order(connection, 1)
        with shop.app.transaction(connection):
            order(connection, 2)

    assert shop.place.orders == [1, 2]


AUTOCOMMIT: dict[type[Exception], dict[str, Any]] = {
    sqlite3.Error: {"isolation_level": None},
    psycopg.Error: {"autocommit": True},
    pymysql.Error: {"autocommit": True},
}


def test_a_connection_that_commits_each_statement_is_refused(shop: Shop) -> None:
    with closing(shop.place.connect(**AUTOCOMMIT[shop.place.error])) as connection:
        with pytest.raises(TransactionError, match="in no transaction"):
            shop.ship.options(tx=connection).enqueue(1)

        connection.cursor().execute("BEGIN")
        receipt = shop.ship.options(tx=connection).enqueue(1)
        connection.cursor().execute("ROLLBACK")

    assert shop.state(receipt) is None


def test_a_block_makes_a_transaction_of_one_that_commits_each_statement(shop: Shop) -> None:
    with closing(shop.place.connect(**AUTOCOMMIT[shop.place.error])) as connection:
        with suppress(Expected), shop.app.transaction(connection):
            order(connection, 1)
            raise Expected
        with shop.app.transaction(connection):
            order(connection, 2)
            receipt = shop.ship.enqueue(2)

    assert shop.place.orders == [2]
    assert shop.state(receipt) is State.SCHEDULED


def _odd_sqlite(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes


def _odd_postgresql(connection: psycopg.Connection[Any]) -> None:
    connection.row_factory = dict_row
    connection.cursor_factory = psycopg.ClientCursor


def _odd_mariadb(connection: Any) -> None:  # noqa: ANN401 - the driver has no types
    connection.cursorclass = pymysql.cursors.SSDictCursor


ODD: dict[type[Exception], Callable[[Any], None]] = {
    sqlite3.Error: _odd_sqlite,
    psycopg.Error: _odd_postgresql,
    pymysql.Error: _odd_mariadb,
}


def test_how_rows_are_read_is_the_callers_own_and_stays_so(shop: Shop) -> None:
    with closing(shop.place.connect()) as connection:
        ODD[shop.place.error](connection)
        order(connection)

        first = shop.ship.options(tx=connection, unique=True).enqueue(1)
        second = shop.ship.options(tx=connection, unique=True).enqueue(1)

        cursor = connection.cursor()
        cursor.execute("SELECT number, 'text' AS word FROM orders")
        [row] = cursor.fetchall()
        cursor.close()
        connection.commit()
    assert first.created
    assert (second.id, second.created) == (first.id, False)
    assert row["number"] == 1
    assert row["word"] in ("text", b"text")
    assert (row["word"] == b"text") is (shop.place.error is sqlite3.Error)


def test_another_store_in_the_right_kind_of_database_is_not_ours(
    shop: Shop, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = _another(shop.place, tmp_path, request)
    with opened(other) as theirs, closing(other.connect()) as connection:
        order(connection)

        with pytest.raises(NotSameDatabase, match="another store"):
            shop.ship.options(tx=connection).enqueue(1)

        connection.commit()
        assert theirs.place.orders == [1]


def _another(place: Place, folder: Path, request: pytest.FixtureRequest) -> Place:
    if place.error is sqlite3.Error:
        return on_sqlite(folder)
    if place.error is psycopg.Error:
        return on_postgresql(request.getfixturevalue("postgresql"))
    return on_mariadb(request.getfixturevalue("mariadb"))


def test_a_connection_of_another_driver_is_refused(shop: Shop) -> None:
    is_sqlite = shop.place.error is sqlite3.Error
    unconnected = pymysql.connections.Connection(defer_connect=True)
    with (
        closing(sqlite3.connect(":memory:")) as memory,
        pytest.raises(TransactionError, match=r"enqueue without tx="),
    ):
        shop.ship.options(tx=unconnected if is_sqlite else memory).enqueue(1)


def test_a_connection_to_mariadb_that_cannot_say_everything_is_refused(mariadb: str) -> None:
    with (
        opened(on_mariadb(mariadb)) as shop,
        closing(shop.place.connect(charset="latin1")) as connection,
        pytest.raises(TransactionError, match="utf8mb4"),
    ):
        shop.ship.options(tx=connection).enqueue(1)


def test_an_attached_file_is_not_the_same_database(tmp_path: Path) -> None:
    with opened(on_sqlite(tmp_path)) as shop, closing(sqlite3.connect(":memory:")) as connection:
        path = shop.place.store.removeprefix("sqlite:///")
        connection.execute("ATTACH ? AS shop", (path,))

        with pytest.raises(NotSameDatabase, match="in memory"):
            shop.ship.options(tx=connection).enqueue(1)


def test_a_store_that_is_no_database_says_so() -> None:
    app = Sempre("memory://")

    @app.job
    def ship(number: int) -> None: ...

    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(TransactionError, match="no SQL database"),
    ):
        ship.options(tx=connection).enqueue(1)


class AsyncSession:
    """What SQLAlchemy's of that name is to us: something for asyncio."""


def test_what_is_for_asyncio_is_refused(tmp_path: Path) -> None:
    with (
        opened(on_sqlite(tmp_path)) as shop,
        pytest.raises(TransactionError, match="for asyncio are not among them"),
    ):
        shop.ship.options(tx=AsyncSession()).enqueue(1)


@pytest.mark.parametrize("given", [object(), 7, psycopg.AsyncConnection])
def test_what_is_no_connection_is_refused_with_what_is_taken(given: object, tmp_path: Path) -> None:
    with (
        opened(on_sqlite(tmp_path)) as shop,
        pytest.raises(TransactionError, match="SQLAlchemy Session or Connection"),
    ):
        shop.ship.options(tx=given).enqueue(1)


def test_a_block_within_a_block_of_the_same_connection_is_refused(shop: Shop) -> None:
    with (
        closing(shop.place.connect()) as connection,
        shop.app.transaction(connection),
        pytest.raises(TransactionError, match="already"),
    ):
        shop.app.transaction(connection).__enter__()


def test_another_thread_does_not_join_a_block(postgresql: str) -> None:
    receipts: list[Receipt[None]] = []
    with (
        opened(on_postgresql(postgresql)) as shop,
        closing(shop.place.connect()) as connection,
        shop.app.transaction(connection),
    ):
        thread = Thread(target=lambda: receipts.append(shop.ship.enqueue(1)))
        thread.start()
        thread.join()
        assert shop.state(receipts[0]) is State.SCHEDULED


def test_another_task_does_not_join_a_block(postgresql: str) -> None:
    async def apart(shop: Shop) -> Receipt[None]:
        return shop.ship.enqueue(2)

    async def main(shop: Shop, connection: object) -> tuple[Receipt[None], Receipt[None]]:
        with shop.app.transaction(connection):
            own = shop.ship.enqueue(1)
            other = await asyncio.create_task(apart(shop))
            assert shop.state(own) is None
            assert shop.state(other) is State.SCHEDULED
        return own, other

    with opened(on_postgresql(postgresql)) as shop, closing(shop.place.connect()) as connection:
        own, _ = asyncio.run(main(shop, connection))
        assert shop.state(own) is State.SCHEDULED


def test_a_block_is_of_one_application(postgresql: str, tmp_path: Path) -> None:
    with (
        opened(on_postgresql(postgresql)) as shop,
        opened(on_sqlite(tmp_path)) as other,
        closing(shop.place.connect()) as connection,
        shop.app.transaction(connection),
    ):
        assert other.state(other.ship.enqueue(1)) is State.SCHEDULED


@pytest.mark.parametrize("place", ["postgresql", "mariadb"], indirect=True)
def test_a_switch_can_be_turned_while_a_caller_has_not_committed(shop: Shop) -> None:
    switch = shop.app.switch(shop.ship)
    with closing(shop.place.connect()) as connection:
        switch.off("a caller takes long", mode="hold")
        receipt = shop.ship.options(tx=connection).enqueue(1)

        switch.on()
        connection.commit()

    [found] = shop.app.engine.store.candidates([receipt.id]).value
    assert (found.execution.held_by, found.stopped_by) == ("", None)
