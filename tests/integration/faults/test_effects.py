"""Wherever its connection is lost, what a job writes and the end of its run are one."""

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import Any

import psycopg
import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_failure
from sempre.domain.states import State
from sempre.errors import StoreUnavailable, TransactionError
from sempre.ports.messages import Settled, Settlement
from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb.address import read_address
from sempre.testing.contracts.store.builders import enqueued, moment_of, read, session_of, wanted
from tests.integration.faults.backends import Backend
from tests.integration.proxy import LostAnswer, Proxy

pytestmark = pytest.mark.parametrize("new_backend", ["postgresql", "mariadb"], indirect=True)


@pytest.fixture
def notes(backend: Backend) -> Iterator["Notes"]:
    table = f"notes_{backend.schema}" if backend.schema else "notes"
    made = Notes(backend, table)
    made.ask(f"CREATE TABLE {table} (id VARCHAR(40))")
    yield made
    made.ask(f"DROP TABLE {table}")


class Notes:
    """A table of the user's own."""

    def __init__(self, backend: Backend, table: str) -> None:
        self._backend = backend
        self._table = table

    def ask(self, text: str) -> list[Any]:
        with closing(self._connected()) as connection, connection.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall()) if cursor.description else []

    def write(self, connection: Any, identity: str) -> None:  # noqa: ANN401 - of any driver
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {self._table} (id) VALUES (%s)", [identity])  # noqa: S608

    def has(self, identity: str) -> bool:
        return (identity,) in map(tuple, self.ask(f"SELECT id FROM {self._table}"))  # noqa: S608

    def _connected(self) -> Any:  # noqa: ANN401 - of any driver
        address = self._backend.address
        if address.startswith("mariadb"):
            return pymysql.connect(**read_address(address)[1], autocommit=True)
        return psycopg.connect(address, autocommit=True)


def taken(store: Store) -> Execution:
    enqueued(store)
    [run] = store.claim_one_off(wanted(), session=session_of(store)).value
    return run


def perform(distant: Store, run: Execution, notes: Notes) -> bool:
    """Do what a job and its executor do; tell whether they believe that it was kept."""
    assert isinstance(distant, SqlStore)
    try:
        effects = distant.effects(run.id, run.fence)
        try:
            notes.write(effects.connection, run.id)
            effects.keep("done")
        finally:
            effects.drop()
    except (TransactionError, StoreUnavailable, psycopg.Error, pymysql.Error):
        return False
    return True


def settle_as_failed(store: Store, run: Execution) -> Settled:
    plan = plan_failure(None, run, moment_of(store))
    [settled] = store.settle([Settlement(run, plan, error="nobody knows")], session=run.session)
    return settled


def test_a_commit_whose_reply_was_lost_is_found_done(
    backend: Backend, store: Store, distant: Store, proxy: Proxy, notes: Notes
) -> None:
    run = taken(store)
    proxy.obey(backend.lost_reply())

    believed = perform(distant, run, notes)

    assert proxy.rule.fired.is_set()
    assert not believed
    assert settle_as_failed(store, run) is Settled.DONE
    assert read(store, run.id).state is State.SUCCEEDED
    assert notes.has(run.id)


def test_a_commit_that_never_arrived_is_not_done(
    backend: Backend, store: Store, distant: Store, proxy: Proxy, notes: Notes
) -> None:
    run = taken(store)
    proxy.obey(backend.lost_request())

    believed = perform(distant, run, notes)

    assert proxy.rule.fired.is_set()
    assert not believed
    assert settle_as_failed(store, run) is Settled.DONE
    assert read(store, run.id).state is State.FAILED
    assert not notes.has(run.id)


def test_wherever_the_connection_is_lost_both_are_kept_or_gone(
    store: Store, distant: Store, proxy: Proxy, notes: Notes
) -> None:
    for number in count(1):
        run = taken(store)
        proxy.obey(LostAnswer(number))

        believed = perform(distant, run, notes)

        lost = proxy.rule.fired.is_set()
        settle_as_failed(store, run)
        succeeded = read(store, run.id).state is State.SUCCEEDED
        assert succeeded is notes.has(run.id)
        assert succeeded or not believed
        if not lost:
            assert believed
            break
