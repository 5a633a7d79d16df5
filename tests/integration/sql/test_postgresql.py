"""What only PostgreSQL does: claims in one statement, prepared statements, lost connections."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import psycopg
import pytest

from sempre.domain.planning import PlanningTime, plan_claim
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.errors import PolicyError, StoreRefused, StoreUnavailable
from sempre.ports.messages import Order, Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.postgresql.connection import Connection
from sempre.stores.sql.dialects.postgresql.dialect import (
    PLANS_KEPT,
    PLANS_TRUSTED,
    PREPARED_AFTER,
    SHORT,
)
from sempre.stores.sql.new_executions import load_executions
from sempre.testing.contracts.store.builders import (
    due_schedule,
    enqueued,
    order_of,
    session_of,
    view_of,
    wanted,
)
from tests.integration.sql.pieces import LEASE, WANTED
from tests.unit.engine.test_breaker import Steady

NUMBERS = count()
DAY = timedelta(days=1)


@pytest.fixture
def dialect(server: str) -> Iterator[Postgresql]:
    opened = Postgresql(server, schema=f"own_{next(NUMBERS)}", wait=lambda _: None)
    yield opened
    opened.close()


def on_time(store: SqlStore, names: str) -> list[Order]:
    """Return the orders by which a slot of each of new schedules starts in time."""
    ids = [due_schedule(store, name, tolerance=DAY).rows[0].id for name in names]
    reading = store.candidates(ids)
    found = [(each.execution, each.view) for each in reading.value if each.view]
    moment = PlanningTime(reading.now)
    return [order_of(plan_claim(view.schedule, row, view.rows, moment).plan) for row, view in found]


def listened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the first word of every statement comes from now on."""
    asked: list[str] = []
    execute = Connection.execute

    def count(connection: Connection, text: Any, *given: Any, **options: Any) -> Any:  # noqa: ANN401
        asked.append(str(text).split()[0].strip(";"))
        return execute(connection, text, *given, **options)

    monkeypatch.setattr(Connection, "execute", count)
    return asked


def test_slots_on_time_are_claimed_by_one_statement(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = on_time(store, "abc")
    session = session_of(store)
    asked = listened(monkeypatch)

    begun = store.claim(orders, session=session)

    assert asked == ["BEGIN", "SET", "LOCK", "WITH", "COMMIT"]
    assert [each and each.state for each in begun] == [State.RUNNING] * 3
    assert store.running(session).value == sorted(begun, key=lambda row: row.fence if row else 0)


def test_one_off_work_is_claimed_by_one_statement(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = sorted(enqueued(store) for _ in range(3))
    session = session_of(store)
    asked = listened(monkeypatch)

    taken = store.claim_one_off(wanted(), session=session).value

    assert asked == ["BEGIN", "SET", "LOCK", "WITH", "COMMIT"]
    assert sorted(row.id for row in taken) == ids
    assert store.running(session).value == sorted(taken, key=lambda row: row.fence)


@pytest.mark.parametrize(
    "change", ["state = 'cancelled'", "held_by = 'somebody'", "due_at = due_at + 1000000000000"]
)
def test_one_slot_that_is_not_as_its_schedule_says_keeps_no_other_from_starting(
    store: SqlStore, dialect: Postgresql, change: str
) -> None:
    orders = on_time(store, "abc")
    row = orders[1].plan.changes[0].before
    text = f"UPDATE {{executions}} SET {change} WHERE id = '{row.id}'"  # noqa: S608 - as told above
    dialect.write(lambda transaction: transaction.script(dialect.complete(text)))

    begun = store.claim(orders, session=session_of(store))

    assert [each is not None for each in begun] == [True, False, True]
    assert view_of(store, "b").schedule == orders[1].plan.base


def test_a_next_row_whose_slot_is_taken_keeps_no_other_slot_from_starting(
    store: SqlStore, dialect: Postgresql
) -> None:
    orders = on_time(store, "abc")
    before, taken = orders[1].plan.changes[0].before, orders[1].plan.creates[0]
    row = copy_with(before, id="in the way", run_at=taken.run_at, due_at=taken.due_at)
    dialect.write(lambda transaction: load_executions(transaction, [row], {}))

    begun = store.claim(orders, session=session_of(store))

    assert [each is not None for each in begun] == [True, False, True]
    assert view_of(store, "b").schedule == orders[1].plan.base


def test_a_beat_is_one_statement_in_one_transaction(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.register(Session("worker"), lease=LEASE)
    asked = listened(monkeypatch)

    assert store.tick("worker", WANTED, lease=LEASE).value.alive

    assert asked == ["BEGIN", "SET", "WITH", "COMMIT"]


def test_now_goes_on_within_a_transaction(dialect: Postgresql) -> None:
    def twice(transaction: Transaction) -> list[int]:
        first = transaction.rows("now")[0][0]
        transaction.rows("nap")
        return [first, transaction.rows("now")[0][0]]

    dialect.statements["nap"] = "SELECT pg_sleep(0.002)"

    first, second = dialect.write(twice)

    assert second - first >= 2_000


def test_a_connection_that_was_lost_is_replaced(store: SqlStore, server: str) -> None:
    store.sessions()
    with psycopg.connect(server, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )

    assert store.sessions().value == []


def kept_plans(dialect: Postgresql) -> int:
    """Return how many statements are prepared on the one connection that is open."""
    dialect.statements["kept"] = "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"
    return int(dialect.read(lambda transaction: transaction.rows("kept"))[0][0])


def look_often(store: SqlStore) -> None:
    for _ in range(2 * PREPARED_AFTER):
        store.sessions()


def test_the_server_keeps_the_plan_of_a_statement_that_is_used_often(
    store: SqlStore, dialect: Postgresql
) -> None:
    before = kept_plans(dialect)

    look_often(store)

    assert kept_plans(dialect) > before


@pytest.mark.parametrize(("took", "kept_for"), [(0.0, PLANS_KEPT), (2 * SHORT, PLANS_TRUSTED)])
def test_plans_are_forgotten_since_tables_grow_and_sooner_after_a_slow_transaction(
    server: str, monkeypatch: pytest.MonkeyPatch, took: float, kept_for: float
) -> None:
    clock = Steady()
    dialect = Postgresql(server, schema=f"own_{next(NUMBERS)}", clock=clock)
    store = SqlStore(dialect)
    store.upgrade()
    look_often(store)
    asked = listened(monkeypatch)

    def pass_time(transaction: Transaction) -> None:
        clock.seconds += took
        assert transaction.now

    dialect.read(pass_time)
    clock.seconds += kept_for - 2 * SHORT - 0.01
    look_often(store)
    assert "DISCARD" not in asked

    clock.seconds += 2 * SHORT + 0.01
    look_often(store)
    assert asked.count("DISCARD") == 1
    dialect.close()


def test_where_a_kept_plan_is_gone_the_work_is_done_again_and_none_is_kept_any_more(
    store: SqlStore, dialect: Postgresql
) -> None:
    look_often(store)
    with dialect._connected() as connection:  # noqa: SLF001 - as a pooler may do it
        connection.pgconn.exec_(b"DEALLOCATE ALL")

    look_often(store)

    assert store.sessions().value == []
    assert kept_plans(dialect) == 0


def test_after_a_change_of_the_schema_statements_are_prepared_anew(
    store: SqlStore, dialect: Postgresql, server: str
) -> None:
    look_often(store)
    table = dialect.complete("{sessions}")
    with psycopg.connect(server, autocommit=True) as other:
        other.execute(f"ALTER TABLE {table} ALTER COLUMN release_number TYPE integer")

    with pytest.raises(StoreUnavailable, match="schema was changed"):
        store.sessions()

    assert store.sessions().value == []


def test_an_address_that_cannot_be_read_is_told_without_the_password() -> None:
    with pytest.raises(StoreRefused, match="spelling") as raised:
        Postgresql("postgres//ann:s3cret@server/jobs")

    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("schema", ["", "Sempre", "a.b", "a;b"])
def test_a_schema_that_is_no_plain_word_is_refused(schema: str) -> None:
    with pytest.raises(PolicyError, match="schema"):
        Postgresql("dbname=jobs", schema=schema)
