"""The step to schema version 3: counts of purged executions get a kind, and none is lost."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from sempre.domain.states import Kind, State
from sempre.errors.schemas import OutdatedSchema
from sempre.ports.messages import Rollup
from sempre.ports.retention import Purge
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.stores.sql.migrations import VERSION, steps
from sempre.testing.contracts.store.builders import (
    claimed,
    due_schedule,
    now_of,
    session_of,
    succeed,
    view_of,
)
from tests.integration.sql.mariadb_server import new_database

OLD = 2
DAY = "2026-01-31"
INSERT = (
    "INSERT INTO {rollups} (schedule_id, day, state, executions, microseconds) "
    "VALUES ('one', '2026-01-31', 'succeeded', 7, 9000000)"
)


@pytest.fixture(params=["sqlite", "server", "mariadb"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Dialect:
    """A database with the schema before, and counts in it."""
    dialect: Dialect
    if request.param == "sqlite":
        dialect = Sqlite(tmp_path / "jobs.db")
    elif request.param == "server":
        schema = f"old_{uuid4().hex}"
        dialect = Postgresql(request.getfixturevalue("server"), schema=schema)
    else:
        dialect = Mariadb(new_database(request.getfixturevalue("mariadb")))

    def apply(transaction: Transaction) -> None:
        for number, text in steps(dialect.name):
            if number <= OLD:
                transaction.script(dialect.complete(text))
        transaction.run("create_meta", version=OLD, uuid=str(uuid4()))
        transaction.script(dialect.complete(INSERT + ";"))

    dialect.migrate(apply)
    return dialect


def test_counts_of_an_older_release_stay_and_are_of_any_kind(old: Dialect) -> None:
    store = SqlStore(old)
    try:
        with pytest.raises(OutdatedSchema):
            _ = store.uuid
        store.upgrade()
        assert store.volume().version == VERSION
        known = Rollup("one", DAY, State.SUCCEEDED, 7, 9.0)
        assert store.rollups("one").value == [known]

        # Twice, with a fence: every step is applied again to what is there.
        store.upgrade(fence=1)
        assert store.rollups("one").value == [known]

        own = Rollup("one", DAY, State.SUCCEEDED, 2, 1.0, Kind.SCHEDULED)
        assert store.load([own, known]) == 1
        assert store.rollups("one").value == [known, own]
    finally:
        store.close()


def test_what_is_purged_after_the_step_has_a_kind(old: Dialect) -> None:
    store = SqlStore(old)
    store.upgrade()
    try:
        row = due_schedule(store).rows[0]
        succeed(store, claimed(store, row.id, session_of(store)))
        schedule = view_of(store).schedule
        before = now_of(store) + timedelta(days=1)
        assert store.purge(Purge(before=before, limit=100, keep=0)).count == 1

        [count] = store.rollups(schedule.id).value
        assert (count.kind, count.state, count.count) == (Kind.SCHEDULED, State.SUCCEEDED, 1)
    finally:
        store.close()
