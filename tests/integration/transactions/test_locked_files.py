"""`current().tx` on a file of SQLite that another process has: the job waits, and does not fail."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sempre.domain.states import State
from sempre.errors import RunCancelled, StoreUnavailable
from sempre.executors.current import Current, current, running
from sempre.ports.transactional import Effects
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import claimed, enqueued, read, session_of

Try = Callable[[int], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = SqlStore(Sqlite(tmp_path / "jobs.db", busy_after=0.01))
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def other(store: SqlStore, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another process, as far as SQLite can tell; `BEGIN IMMEDIATE` lets it have the file."""
    assert store.uuid
    connection = sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)
    yield connection
    connection.close()


def a_run(store: SqlStore, before_each_try: Try) -> Current:
    """Return a run of the store whose tries to get the file are counted from 1."""
    row = claimed(store, enqueued(store), session_of(store))
    tries: list[str] = []

    def open_effects(execution_id: str, fence: int) -> Effects:
        tries.append(execution_id)
        before_each_try(len(tries))
        return store.effects(execution_id, fence)

    snapshot = row.snapshot
    return Current(
        name=snapshot.name, job=snapshot.job, id=row.id, fence=row.fence, opener=open_effects
    )


def test_a_job_waits_until_the_file_is_free(
    store: SqlStore, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    def free_at_the_third(number: int) -> None:
        if number == 3:
            other.execute("ROLLBACK")

    run = a_run(store, free_at_the_third)
    other.execute("BEGIN IMMEDIATE")

    with running(run):
        current().tx.execute("SELECT 1")
    run.effects.keep({"done": True})

    assert read(store, run.id).state is State.SUCCEEDED
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "jobs.db was locked" in caplog.text


def test_a_run_that_is_asked_to_end_waits_no_longer(
    store: SqlStore, other: sqlite3.Connection
) -> None:
    """As when its lease is lost: whoever locks the file keeps the heart from beating too."""
    run = a_run(store, lambda number: run.link.cancel("lost") if number == 3 else None)
    other.execute("BEGIN IMMEDIATE")

    with running(run), pytest.raises(RunCancelled, match="lost"):
        _ = current().tx


def test_a_job_on_an_event_loop_does_not_hold_up_the_others(
    store: SqlStore, other: sqlite3.Connection
) -> None:
    """One of them may have the file, and could never give it back."""
    run = a_run(store, lambda _: None)
    other.execute("BEGIN IMMEDIATE")

    async def job() -> object:
        return current().tx

    with running(run), pytest.raises(StoreUnavailable, match="locked"):
        asyncio.run(job())
