"""How often PostgreSQL is waited for, and what becomes of a connection that is lost meanwhile."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg._pipeline_base import BasePipeline
from psycopg.pq import Trace

from sempre.errors import StoreUnavailable
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.notifying import SqlNotifier
from sempre.testing.contracts.store.builders import enqueued, session_of, wanted
from tests.integration.sql.test_postgresql import on_time
from tests.unit.engine.test_breaker import Steady

NUMBERS = count()
HANG = 60.0
DIE = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def dialect(server: str) -> Iterator[Postgresql]:
    schema = f"trips_{next(NUMBERS)}"
    opened = Postgresql(server, schema=schema, wait=lambda _: None, clock=Steady())
    opened.statements |= {"die": DIE, "live": "SELECT 1"}
    yield opened
    opened.close()


def round_trips(dialect: Postgresql, deed: Callable[[], object], trace: Path) -> int:
    """Return how often the server was waited for until it was ready for more."""
    with trace.open("wb") as file:
        with dialect._connected() as connection:  # noqa: SLF001 - the one that is open
            wire = connection.pgconn
        wire.trace(file.fileno())
        wire.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        deed()
        wire.untrace()
    return trace.read_bytes().count(b"ReadyForQuery")


def test_one_off_work_is_claimed_in_two_round_trips(
    store: SqlStore, dialect: Postgresql, tmp_path: Path
) -> None:
    enqueued(store)
    session = session_of(store)

    def take() -> None:
        assert len(store.claim_one_off(wanted(), session=session).value) == 1

    assert round_trips(dialect, take, tmp_path / "trace") == 2


def test_slots_are_claimed_in_two_round_trips(
    store: SqlStore, dialect: Postgresql, tmp_path: Path
) -> None:
    orders = on_time(store, "abc")
    session = session_of(store)

    def claim() -> None:
        assert all(store.claim(orders, session=session))

    assert round_trips(dialect, claim, tmp_path / "trace") == 2


def test_when_the_first_row_is_due_is_asked_in_one_round_trip(
    store: SqlStore, dialect: Postgresql, tmp_path: Path
) -> None:
    enqueued(store)
    yesterday = store.last_pass().now - timedelta(days=1)

    def ask() -> None:
        assert store.first_due(wanted(), after=yesterday) is not None

    assert round_trips(dialect, ask, tmp_path / "trace") == 1


def test_idle_workers_are_notified_in_one_round_trip(
    store: SqlStore, dialect: Postgresql, server: str, tmp_path: Path
) -> None:
    assert store.uuid
    with psycopg.connect(server, autocommit=True) as listening:
        listening.execute("LISTEN rooms")
        notify = partial(SqlNotifier(dialect, "rooms").notify, "word")

        assert round_trips(dialect, notify, tmp_path / "trace") == 1

        [note] = listening.notifies(timeout=HANG, stop_after=1)
        assert note.payload == "word"


def test_one_statement_whose_connection_was_lost_is_sent_again(dialect: Postgresql) -> None:
    statements = iter(("die", "live"))

    assert dialect.autocommit(lambda transaction: transaction.rows(next(statements))) == [(1,)]


def test_work_whose_connection_was_lost_before_it_answered_is_done_again(
    dialect: Postgresql,
) -> None:
    tries = []

    def work(transaction: Transaction) -> object:
        tries.append(1)
        return transaction.rows("die" if len(tries) == 1 else "live")

    assert dialect.write(work) == [(1,)]
    assert len(tries) == 2


def test_work_whose_connection_was_lost_half_way_is_left_to_the_caller(
    dialect: Postgresql,
) -> None:
    tries = []

    def work(transaction: Transaction) -> None:
        tries.append(1)
        transaction.rows("live")
        transaction.rows("die")

    with pytest.raises(StoreUnavailable):
        dialect.write(work)
    assert len(tries) == 1


def test_a_transaction_that_asks_nothing_is_none(
    dialect: Postgresql, store: SqlStore, tmp_path: Path
) -> None:
    def nothing() -> None:
        assert dialect.write(lambda _: "done") == "done"

    assert store.uuid
    assert round_trips(dialect, nothing, tmp_path / "trace") == 0


def test_a_commit_waits_for_the_disk_though_somebody_in_between_has_set_the_connection_otherwise(
    dialect: Postgresql, store: SqlStore
) -> None:
    assert store.uuid
    dialect.statements["shown"] = "SELECT current_setting('synchronous_commit')"
    with dialect._connected() as connection:  # noqa: SLF001 - as a pooler may do it
        connection.pgconn.exec_(b"SET synchronous_commit = off")

    assert dialect.write(lambda transaction: transaction.rows("shown")) == [("on",)]


def test_an_interruption_comes_through_and_takes_its_connection_with_it(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.uuid
    interruptions = iter([KeyboardInterrupt()])

    def interrupt(*_: object, **_flush: object) -> None:
        raise next(interruptions)

    # When all was sent, and before anything has been answered.
    with monkeypatch.context() as patched:
        patched.setattr(BasePipeline, "_fetch_gen", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.sessions()

    assert store.sessions().value == []
