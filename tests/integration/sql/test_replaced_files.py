"""A file of SQLite that is replaced, as by a restored backup, under processes that have it open."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sempre.errors import StoreGone
from sempre.ports.messages import Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import (
    LEASE,
    claim_order,
    claimed,
    enqueued,
    read,
    session_of,
    wanted,
    work_of,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    opened = SqlStore(Sqlite(path, busy_after=0.01, wait=lambda _: None))
    opened.upgrade()
    yield opened
    opened.close()


def back_up(path: Path) -> Path:
    copy = path.with_name("backup.db")
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    return copy


def restore(copy: Path, path: Path, *, clears: bool = False) -> None:
    """Put a copy in place of a file, and leave what SQLite keeps beside it, or clear it away."""
    for suffix in ("-wal", "-shm") if clears else ():
        Path(f"{path}{suffix}").unlink()
    another = path.with_name("restored.db")
    shutil.copy(copy, another)
    another.replace(path)


def test_an_older_copy_is_noticed_by_whoever_works_for_a_session(
    store: SqlStore, path: Path
) -> None:
    """It has the same identity, and knows the session: only the file tells that it is another."""
    session, mail = session_of(store), enqueued(store)
    order, copy = claim_order(store, mail), back_up(path)
    restore(copy, path)

    for operation in (
        lambda: store.claim([order], session=session),
        lambda: store.claim_one_off(wanted(), session=session),
        lambda: store.tick(session, wanted(), lease=LEASE),
        lambda: store.claim([order], session=session),
    ):
        with pytest.raises(StoreGone, match="replaced"):
            operation()

    store.upgrade(fence=0)
    assert store.tick(session_of(store), wanted(), lease=LEASE).value.alive


def test_fences_go_on_above_all_that_were_given_from_the_file_before(
    store: SqlStore, path: Path
) -> None:
    """Also above those that only other workers have seen."""
    mail, copy = enqueued(store), back_up(path)
    before = claimed(store, mail, session_of(store))
    for _ in range(10):
        claimed(store, enqueued(store), session_of(store))
    restore(copy, path)

    store.upgrade(fence=0)

    assert claimed(store, mail, session_of(store)).fence > before.fence + 10


def test_a_heart_that_registers_anew_is_told_once(store: SqlStore, path: Path) -> None:
    """Whoever it beats for sets the store up meanwhile, perhaps in another process."""
    restore(back_up(path), path)

    with pytest.raises(StoreGone, match="replaced"):
        store.register(Session("one"), lease=LEASE)
    store.register(Session("one"), lease=LEASE)

    assert store.tick("one", wanted(), lease=LEASE).value.alive


def test_whoever_only_enqueues_goes_on_with_the_file_that_is_there(
    store: SqlStore, path: Path
) -> None:
    restore(back_up(path), path)

    mail = enqueued(store)

    other = SqlStore(Sqlite(path))
    assert read(other, mail).id == mail
    other.close()


def test_the_log_of_the_file_before_is_not_read_into_the_new_one(
    store: SqlStore, path: Path
) -> None:
    copy, mail = back_up(path), enqueued(store)
    assert Path(f"{path}-wal").stat().st_size > 0
    restore(copy, path)

    store.upgrade(fence=0)

    assert store.candidates([mail]).value == []
    assert store.enqueue([work_of(store)])[0].created
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_a_file_that_was_moved_aside_has_everything_that_was_committed(
    store: SqlStore, path: Path
) -> None:
    copy, mail = back_up(path), enqueued(store)
    aside = path.with_name("aside.db")
    path.replace(aside)
    restore(copy, path)

    enqueued(store)

    other = SqlStore(Sqlite(aside))
    assert read(other, mail).id == mail
    other.close()


def test_a_file_that_is_replaced_while_it_is_opened_is_not_kept(
    store: SqlStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection would see a file that nobody else sees, and believe it the one in place."""
    copy, connect = back_up(path), sqlite3.connect
    replaced: list[bool] = []

    def replacing(*given: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401 - handed on
        opened: sqlite3.Connection = connect(*given, **options)
        if not replaced:
            replaced.append(True)
            restore(copy, path, clears=True)
        return opened

    monkeypatch.setattr(sqlite3, "connect", replacing)
    other = SqlStore(Sqlite(path))
    mail = enqueued(other)
    monkeypatch.undo()

    assert replaced
    assert read(store, mail).id == mail
    other.close()


def test_what_was_written_to_a_replaced_file_is_written_to_the_one_that_is_there(
    store: SqlStore, path: Path
) -> None:
    """Otherwise an enqueue would be acknowledged that nobody ever finds."""
    copy, dialect = back_up(path), Sqlite(path)
    tries: list[Callable[[], None]] = [lambda: restore(copy, path, clears=True)]

    def note(transaction: Transaction) -> None:
        if tries:
            tries.pop()()
        transaction.rows("raise_fences", fence=4321, now=0)

    dialect.write(note)

    assert claimed(store, enqueued(store), _anew(store)).fence > 4321
    dialect.close()


def _anew(store: SqlStore) -> str:
    store.upgrade()
    return session_of(store)
