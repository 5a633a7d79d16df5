"""PostgreSQL and MariaDB alike: races between clients, failures of the server, forked children."""

import os
from collections.abc import Callable, Iterator
from itertools import chain, count

import pytest

from sempre.errors import StoreRefused, StoreUnavailable
from sempre.ports.messages import ExecutionQuery, Session, UniqueKey
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store.builders import at_once
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.pieces import LEASE, WANTED, piece

NUMBERS = count()
Server = Mariadb | Postgresql
# A dialect of a new schema or database, given options that all dialects take.
NewDialect = Callable[..., Server]
# What takes the server longer than anybody waits.
DREAMS = {
    Postgresql: "SELECT pg_sleep(5)",
    Mariadb: "SELECT COUNT(*) FROM seq_1_to_10000000000 WHERE seq %% 7 = 3",
}
LOST_RACES = {
    Postgresql: ["DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$"],
    Mariadb: [
        f"SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {code}" for code in (1213, 1205, 1020, 1062)
    ],
}


@pytest.fixture(params=["postgresql", "mariadb"])
def new_dialect(request: pytest.FixtureRequest) -> NewDialect:
    if request.param == "postgresql":
        conninfo, schema = request.getfixturevalue("server"), f"alike_{next(NUMBERS)}"
        return lambda **options: Postgresql(conninfo, schema=schema, **options)
    url = new_database(request.getfixturevalue("mariadb"))
    return lambda **options: Mariadb(url, **options)


@pytest.fixture
def dialect(new_dialect: NewDialect) -> Iterator[Server]:
    opened = new_dialect(wait=lambda _: None)
    yield opened
    opened.close()


def test_those_who_take_at_once_get_different_rows(store: SqlStore) -> None:
    store.enqueue([piece(number) for number in range(100)])

    def take(name: str) -> list[tuple[str, int]]:
        store.register(Session(name), lease=LEASE)
        taken = []
        while rows := store.claim_one_off(WANTED, session=name).value:
            taken += [(row.id, row.fence) for row in rows]
        return taken

    found = at_once(*[lambda name=f"w{number}": take(name) for number in range(4)])

    ids, fences = zip(*chain(*found), strict=True)
    assert sorted(ids) == sorted(f"p{number}" for number in range(100))
    assert len(set(fences)) == 100


def test_of_those_who_want_one_unique_key_one_has_it(store: SqlStore) -> None:
    def enqueue(number: int) -> tuple[str, bool]:
        [receipt] = store.enqueue([piece(number, UniqueKey("key"))])
        return receipt.id, receipt.created

    receipts = at_once(*[lambda number=number: enqueue(number) for number in range(8)])

    assert sum(created for _, created in receipts) == 1
    assert len({identity for identity, _ in receipts}) == 1
    assert len(store.executions(ExecutionQuery()).value.items) == 1


def test_several_may_set_the_store_up_at_once(dialect: Server) -> None:
    stores = [SqlStore(dialect) for _ in range(4)]

    at_once(*[store.upgrade for store in stores])

    assert len({store.uuid for store in stores}) == 1


def test_a_race_that_the_server_settled_is_run_again(dialect: Server) -> None:
    for lose in LOST_RACES[type(dialect)]:
        dialect.statements["lose"] = lose
        tries: list[Transaction] = []

        def work(transaction: Transaction, tries: list[Transaction] = tries) -> str:
            tries.append(transaction)
            if len(tries) < 4:
                transaction.run("lose")
            return "done"

        assert dialect.write(work) == "done"
        assert len(tries) == 4


@pytest.mark.parametrize("kind", [Postgresql, Mariadb])
def test_a_server_that_is_not_there_is_told_without_the_password(kind: type[Server]) -> None:
    address = f"{kind.__name__.lower()}://ann:s3cret@127.0.0.1:1/jobs"
    store = SqlStore(kind(address, connect_after=0.2, wait=lambda _: None))

    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1/jobs") as raised:
        store.upgrade()

    assert "s3cret" not in str(raised.value)
    store.close()


def test_a_store_that_was_not_set_up_says_so(dialect: Server) -> None:
    with pytest.raises(StoreRefused, match=r"upgrade\(\)"):
        SqlStore(dialect).sessions()


def test_a_statement_that_takes_too_long_is_given_up(new_dialect: NewDialect) -> None:
    # The client gives up a quarter later, and must not be the first.
    dialect = new_dialect(statement_after=1.0)
    dialect.statements["dream"] = DREAMS[type(dialect)]

    with pytest.raises(StoreUnavailable, match="too long"):
        dialect.read(lambda transaction: transaction.rows("dream"))
    dialect.close()


def test_a_closed_store_is_of_no_use(store: SqlStore) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreRefused, match="closed"):
        store.sessions()


# Newer versions of Python warn of a fork beside threads, which a pool may have.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own(store: SqlStore) -> None:
    store.enqueue([piece(0)])

    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.enqueue([piece(1)])
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert len(store.executions(ExecutionQuery()).value.items) == 2
