"""Snapshots: kept as long as an execution refers to one or can come to, and no longer."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from sempre.domain.planning import plan_delete, plan_edit, plan_trigger
from sempre.domain.states import Kind
from sempre.ports.retention import Purge
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import (
    claimed,
    due_schedule,
    first_row,
    now_of,
    perform,
    session_of,
    succeed,
    view_of,
)
from tests.integration.sql.mariadb_server import new_database

DAY = timedelta(days=1)
Opened = tuple[SqlStore, Callable[[], set[int]]]


@pytest.fixture(params=["sqlite", "server", "mariadb"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """A store, and how to ask which revisions it has a snapshot of."""
    dialect: Sqlite | Postgresql | Mariadb
    if request.param == "sqlite":
        dialect, table = Sqlite(tmp_path / "jobs.db"), "sempre_snapshots"
    elif request.param == "server":
        schema = f"kept_{uuid4().hex}"
        server = request.getfixturevalue("server")
        dialect, table = Postgresql(server, schema=schema), f"{schema}.sempre_snapshots"
    else:
        place = new_database(request.getfixturevalue("mariadb"))
        dialect, table = Mariadb(place), "sempre_snapshots"
    store = SqlStore(dialect)
    store.upgrade()
    dialect.statements["kept"] = f"SELECT revision FROM {table}"  # noqa: S608 - ours

    def revisions() -> set[int]:
        return {row[0] for row in dialect.read(lambda each: each.rows("kept"))}

    yield store, revisions
    store.close()


def test_a_snapshot_goes_with_the_last_execution_of_its_revision(opened: Opened) -> None:
    store, revisions = opened
    row = due_schedule(store, limit=1).rows[0]
    first = row.snapshot.revision
    running = claimed(store, row.id, session_of(store))
    perform(store, lambda schedule, _rows, moment: plan_trigger(schedule, moment))
    [manual] = [each.id for each in view_of(store).rows if each.kind is Kind.MANUAL]
    perform(store, plan_edit, to=view_of(store).schedule.definition.edited(limit=2))
    second = view_of(store).schedule.revision
    store.cancel([manual])

    assert store.purge(Purge(before=now_of(store) + DAY, limit=100, keep=0)).count == 1
    assert revisions() == {first, second}

    succeed(store, running)
    assert store.purge(Purge(before=now_of(store) + DAY, limit=100, keep=0)).count == 1
    assert revisions() == {second}
    assert first_row(store).snapshot.revision == second


def test_the_snapshot_in_force_outlives_the_executions_that_are_over(opened: Opened) -> None:
    store, revisions = opened
    row = due_schedule(store, limit=1).rows[0]
    succeed(store, claimed(store, row.id, session_of(store)))
    assert view_of(store).rows == ()

    assert store.purge(Purge(before=now_of(store) + DAY, limit=100, keep=0)).count > 0

    assert revisions() == {view_of(store).schedule.revision}


def test_nothing_is_left_of_a_deleted_schedule(opened: Opened) -> None:
    store, revisions = opened
    row = due_schedule(store).rows[0]
    perform(store, plan_delete)
    running = claimed(store, row.id, session_of(store))
    store.purge(Purge(before=now_of(store) + DAY, limit=100, keep=0))
    assert revisions() == {row.snapshot.revision}

    succeed(store, running)
    store.purge(Purge(before=now_of(store) + DAY, limit=100, keep=0))

    assert revisions() == set()
