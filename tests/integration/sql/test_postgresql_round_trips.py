"""How often PostgreSQL is waited for, and what becomes of a connection that is lost meanwhile."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from psycopg.pq import Trace

from sempre.clock import SystemClock
from sempre.domain.planning import Moment, plan_claim
from sempre.errors import StoreUnavailable
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store.builders import (
    due_schedule,
    enqueued,
    order_of,
    session_of,
    wanted,
)

NUMBERS = count()


class StillClock(SystemClock):
    """No plan becomes old."""

    def elapsed(self) -> float:
        return 0.0


@pytest.fixture
def dialect(server: str) -> Iterator[Postgresql]:
    schema = f"trips_{next(NUMBERS)}"
    opened = Postgresql(server, schema=schema, wait=lambda _: None, clock=StillClock())
    yield opened
    opened.close()


@pytest.fixture
def store(dialect: Postgresql) -> SqlStore:
    opened = SqlStore(dialect)
    opened.upgrade()
    return opened


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
        assert len(store.take(wanted(), session=session).value) == 1

    assert round_trips(dialect, take, tmp_path / "trace") == 2


def test_slots_are_claimed_in_two_round_trips(
    store: SqlStore, dialect: Postgresql, tmp_path: Path
) -> None:
    row = due_schedule(store, "a", tolerance=timedelta(days=1)).rows[0]
    reading = store.candidates([row.id])
    [(row, view)] = [(each.execution, each.view) for each in reading.value]
    assert view is not None
    plan = plan_claim(view.schedule, row, view.rows, Moment(reading.now)).plan
    session = session_of(store)

    def claim() -> None:
        assert all(store.claim([order_of(plan)], session=session))

    assert round_trips(dialect, claim, tmp_path / "trace") == 2


def test_work_whose_connection_was_lost_before_it_answered_is_done_again(
    dialect: Postgresql,
) -> None:
    dialect.statements["die"] = "SELECT pg_terminate_backend(pg_backend_pid())"
    dialect.statements["live"] = "SELECT 1"
    tries = []

    def work(transaction: Transaction) -> object:
        tries.append(1)
        return transaction.rows("die" if len(tries) == 1 else "live")

    assert dialect.write(work) == [(1,)]
    assert len(tries) == 2


def test_work_whose_connection_was_lost_half_way_is_left_to_the_caller(
    dialect: Postgresql,
) -> None:
    dialect.statements["die"] = "SELECT pg_terminate_backend(pg_backend_pid())"
    dialect.statements["live"] = "SELECT 1"
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
