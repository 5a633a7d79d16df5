"""What SQLite does when it cannot: clear refusals, no crash, and the store usable afterwards."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.errors import PolicyError, StoreRefused, StoreUnavailable, UnknownGrid
from sempre.grids import Every
from sempre.ports.messages import Birth, Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.stores.sql.dialects.sqlite.filesystems import check_local, filesystem_of

LEASE = timedelta(seconds=30)
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    opened = SqlStore(Sqlite(path, busy_after=0.01, wait=lambda _: None))
    opened.upgrade()
    yield opened
    opened.close()


def test_a_store_that_was_not_set_up_says_so(path: Path) -> None:
    store = SqlStore(Sqlite(path))

    with pytest.raises(StoreRefused, match=r"upgrade\(\)"):
        store.sessions()
    store.close()


def test_setting_up_twice_changes_nothing(store: SqlStore, path: Path) -> None:
    known = store.uuid

    store.upgrade()
    other = SqlStore(Sqlite(path))
    other.upgrade()

    assert store.uuid == other.uuid == known
    other.close()


def test_a_newer_schema_is_refused(store: SqlStore, path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sempre_meta SET version = 99")
    connection.close()
    newer = SqlStore(Sqlite(path))

    with pytest.raises(StoreRefused, match="Upgrade this process"):
        newer.upgrade()
    with pytest.raises(StoreRefused, match="99"):
        newer.sessions()
    with pytest.raises(StoreRefused, match="99"):
        store.sessions()
    newer.close()


def test_two_stores_share_a_file_by_their_prefix(path: Path) -> None:
    one, other = SqlStore(Sqlite(path, prefix="a_")), SqlStore(Sqlite(path, prefix="b_"))
    one.upgrade()
    other.upgrade()

    one.register(Session("worker"), lease=LEASE)

    assert one.uuid != other.uuid
    assert other.sessions().value == []
    one.close()
    other.close()


@pytest.mark.parametrize("prefix", ["", "A", "1a", 'a"; DROP TABLE x; --', "a" * 42, "a-b"])
def test_a_prefix_that_is_no_plain_word_is_refused(path: Path, prefix: str) -> None:
    with pytest.raises(PolicyError, match="prefix"):
        Sqlite(path, prefix=prefix)


@pytest.mark.parametrize("given", ["", ":memory:", "file:jobs.db?mode=memory"])
def test_a_path_that_is_no_file_is_refused(given: str) -> None:
    with pytest.raises(StoreRefused, match="path"):
        Sqlite(given)


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_text("Dear diary, " * 100)
    store = SqlStore(Sqlite(path))

    with pytest.raises(StoreRefused, match="not an SQLite database"):
        store.upgrade()
    store.close()


def test_a_folder_that_does_not_exist_is_told(path: Path) -> None:
    store = SqlStore(Sqlite(path / "nowhere" / "jobs.db"))

    with pytest.raises(StoreUnavailable, match="check the path"):
        store.upgrade()
    store.close()


def test_a_full_disk_is_told_and_survived(path: Path) -> None:
    dialect = Sqlite(path)
    store = SqlStore(dialect)
    store.upgrade()
    births = [a_birth(number) for number in range(400)]
    pragma(dialect, "max_page_count = 40")

    with pytest.raises(StoreUnavailable, match="the disk is full; free some space"):
        store.create(births)

    pragma(dialect, "max_page_count = 100000")
    assert store.slice(after="", limit=10).value == []
    assert all(store.create(births))
    store.close()


def test_a_file_that_cannot_be_written_is_told_and_can_be_read(path: Path) -> None:
    dialect = Sqlite(path)
    store = SqlStore(dialect)
    store.upgrade()
    pragma(dialect, "query_only = ON")

    with pytest.raises(StoreUnavailable, match="read-only"):
        store.register(Session("worker"), lease=LEASE)

    assert store.sessions().value == []
    store.close()


def test_a_file_that_stays_locked_is_told_after_a_few_tries(path: Path) -> None:
    waits: list[float] = []
    store = SqlStore(Sqlite(path, busy_after=0.01, wait=waits.append))
    store.upgrade()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable, match="locked by another process"):
        store.register(Session("worker"), lease=LEASE)

    assert len(waits) == 4
    assert store.sessions().value == []
    holder.execute("ROLLBACK")
    store.register(Session("worker"), lease=LEASE)
    holder.close()
    store.close()


class InterruptedAtBegin:
    """A connection whose user presses Ctrl-C just when a transaction has begun."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw
        self.in_transaction = False

    def execute(self, text: str) -> sqlite3.Cursor:
        answer = self._raw.execute(text)
        self.in_transaction = self._raw.in_transaction
        if text.startswith("BEGIN"):
            raise KeyboardInterrupt
        return answer


def test_whoever_is_interrupted_when_a_transaction_has_begun_locks_nobody_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = Sqlite(path, busy_after=0.01, wait=lambda _: None)
    store = SqlStore(dialect)
    store.upgrade()
    assert store.sessions().value == []
    connection = dialect._connect()  # noqa: SLF001 - there is no other way to be so precise
    monkeypatch.setattr(connection, "raw", InterruptedAtBegin(connection.raw))
    with pytest.raises(KeyboardInterrupt):
        store.register(Session("worker"), lease=LEASE)
    monkeypatch.undo()

    other = SqlStore(Sqlite(path, busy_after=0.01, wait=lambda _: None))
    for each in (other, store):
        each.register(Session("worker"), lease=LEASE)
        each.close()


def test_a_closed_store_is_of_no_use_and_can_be_closed_again(store: SqlStore) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreRefused, match="closed"):
        store.sessions()


def test_it_is_durable_and_has_a_write_ahead_log(path: Path) -> None:
    dialect = Sqlite(path)

    assert pragma(dialect, "synchronous") == 2
    assert pragma(dialect, "journal_mode") == "wal"
    dialect.close()


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("nfs4", True),
        ("cifs", True),
        ("fuse.sshfs", True),
        ("ext4", False),
        ("tmpfs", False),
        ("overlay", False),
    ],
)
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str, *, refused: bool) -> None:
    mounts = tmp_path / "mounts"
    folder = str(tmp_path / "a b").replace(" ", r"\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {folder} {kind} rw 0 0\n")
    place = tmp_path / "a b" / "jobs.db"

    assert filesystem_of(place, mounts=mounts) == kind
    assert filesystem_of(tmp_path / "jobs.db", mounts=mounts) == "ext4"
    if refused:
        with pytest.raises(StoreRefused, match="any_filesystem"):
            check_local(place, mounts=mounts)
    else:
        check_local(place, mounts=mounts)


def test_without_a_list_of_mounts_nothing_is_refused(tmp_path: Path) -> None:
    check_local(tmp_path / "jobs.db", mounts=tmp_path / "none")


def test_a_grid_of_another_process_is_kept_and_leaves_the_others_alone(
    store: SqlStore, path: Path
) -> None:
    assert store.create([a_birth(1), a_birth(2)]) == [True, True]
    with sqlite3.connect(path) as connection:
        foreign = """UPDATE sempre_schedules SET definition =
            json_set(definition, '$.grid', json('{"grid": "nobody-knows", "hours": 12}'))
            WHERE id = 's1'"""
        connection.execute(foreign)
    connection.close()

    views = store.slice(after="", limit=10).value

    grid = views[0].schedule.definition.grid
    assert grid.to_json() == {"grid": "nobody-knows", "hours": 12}
    with pytest.raises(UnknownGrid, match="nobody-knows"):
        grid.after(views[0].schedule.created_at)
    assert views[1].schedule == a_birth(2).schedule


def a_birth(number: int) -> Birth:
    schedule = Schedule(
        id=f"s{number}",
        name=f"schedule {number}",
        definition=define(job="bill", grid=Every("1m"), note="n" * 500),
        created_at=START,
        cursor=START,
    )
    return Birth(schedule)


def pragma(dialect: Sqlite, text: str) -> object:
    """Set something on the connection of this thread, or ask for it."""
    row = dialect.connection().execute(f"PRAGMA {text}").fetchone()
    return row[0] if row else None
