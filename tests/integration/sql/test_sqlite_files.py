"""The files of a store in SQLite: who reads them, what stands in their place, how they grow."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sempre.brokers.bell_file import BellFile
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.stores.sql.dialects.sqlite.connection import LOG_KEPT
from sempre.testing.contracts.store.builders import enqueued
from sempre.urls import UrlError, open_broker, open_store

BESIDE = ("", "-wal", "-shm", "-bell")


@pytest.fixture
def masked(request: pytest.FixtureRequest) -> Iterator[None]:
    """The umask of the test's parameter, for the length of the test."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(path: Path) -> dict[str, str]:
    found = {suffix: Path(f"{path}{suffix}").stat().st_mode & 0o777 for suffix in BESIDE}
    return {suffix: f"{mode:04o}" for suffix, mode in found.items()}


def used(url: str) -> None:
    """Set a store up, put work in and ring its bell."""
    store = open_store(url)
    store.upgrade()
    broker = open_broker("store://", store_url=url, store=store)
    enqueued(store)
    broker.put([])
    BellFile(url.removeprefix("sqlite:///").partition("?")[0]).wake_all()
    broker.close()
    _OPEN.append(store)


_OPEN: list[object] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while _OPEN:
        _OPEN.pop().close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("masked", [0o000, 0o022], indirect=True)
@pytest.mark.usefixtures("masked")
def test_nobody_else_reads_a_store_that_is_new(tmp_path: Path) -> None:
    used(f"sqlite:///{tmp_path}/jobs.db")

    assert modes(tmp_path / "jobs.db") == dict.fromkeys(BESIDE, "0600")


@pytest.mark.parametrize("masked", [0o077], indirect=True)
@pytest.mark.usefixtures("masked")
@pytest.mark.parametrize("mode", ["660", "0640", "0o666"])
def test_a_mode_opens_it_to_others_whatever_the_umask_is(tmp_path: Path, mode: str) -> None:
    used(f"sqlite:///{tmp_path}/jobs.db?mode={mode}")

    expected = f"0{mode[-3:]}"
    assert modes(tmp_path / "jobs.db") == dict.fromkeys(BESIDE, expected)


@pytest.mark.parametrize("mode", ["", "rw", "0200", "0066", "0770", "1777", "-600", "9"])
def test_a_mode_that_is_none_of_a_file_is_refused(tmp_path: Path, mode: str) -> None:
    with pytest.raises(UrlError, match="0600"):
        open_store(f"sqlite:///{tmp_path}/jobs.db?mode={mode}")


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.touch()
    path.chmod(0o640)

    used(f"sqlite:///{path}")

    assert modes(path) == dict.fromkeys(BESIDE, "0640")


def test_a_file_behind_a_link_is_created_private(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.symlink_to(tmp_path / "elsewhere.db")

    used(f"sqlite:///{path}")

    assert modes(tmp_path / "elsewhere.db") == dict.fromkeys(BESIDE, "0600")


# The bell


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def _hard_link(path: Path, target: Path) -> None:
    path.hardlink_to(target)


def _pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path, _: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("place", [_link, _hard_link, _pipe, _folder])
def test_what_is_no_file_of_its_own_is_not_taken_for_the_bell(
    place: Callable[[Path, Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody else's file would grow and be cut; a pipe without a reader would hold us up."""
    target = tmp_path / "precious"
    target.write_text("x" * 100_000)
    (tmp_path / "jobs.db").touch()
    place(tmp_path / "jobs.db-bell", target)
    bell = BellFile(tmp_path / "jobs.db")

    bell.wake_all()
    bell.wake()
    assert bell.wait(0.0)

    assert target.read_text() == "x" * 100_000
    assert not bell.shared
    assert "jobs.db-bell is no plain file: remove it" in caplog.text
    bell.close()


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "jobs.db-bell").symlink_to(tmp_path / "victim")
    bell = BellFile(tmp_path / "jobs.db")

    bell.wake_all()

    assert not (tmp_path / "victim").exists()
    bell.close()


# The log


def test_a_log_that_has_grown_is_cut_when_nobody_reads_the_past_any_more(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    store = SqlStore(Sqlite(path))
    store.upgrade()
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sempre_executions").fetchall()
    log = Path(f"{path}-wal")
    text = "x" * 1_000_000
    while log.stat().st_size < 2 * LOG_KEPT:
        enqueued(store, args={"text": text})

    reader.execute("COMMIT")
    for _ in range(3):
        enqueued(store)

    assert log.stat().st_size <= LOG_KEPT
    reader.close()
    store.close()
