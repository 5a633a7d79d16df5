"""A worker inside a host program begins once its store answers, and never ends its host."""

import asyncio
import sqlite3
from pathlib import Path
from threading import Event

import pytest

from sempre import Sempre
from sempre.app.process.embedded_worker import Embedded
from sempre.app.process.worker_threads import Running
from sempre.errors import StoreUnavailable
from sempre.testing.polling import eventually

LONGEST = 60.0


class Host:
    """A program whose store is on a disk that is not mounted yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "not mounted yet"
        self.app = Sempre(f"sqlite:///{self.folder / 'jobs.db'}", lease="3s")
        self.ran = Event()
        self.app.every("1s", name="tick")(self.tick)

    def tick(self) -> None:
        self.ran.set()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_host_starts_although_the_store_is_down_and_the_worker_begins_later(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    with host.app.running() as running:
        assert running.worker is None
        [warning] = [each for each in caplog.records if "does not answer" in each.getMessage()]
        assert warning.levelname == "WARNING"
        assert "the worker begins once it does" in warning.getMessage()

        host.folder.mkdir()

        assert host.ran.wait(LONGEST)
        assert running.worker is not None
    host.app.close()
    assert running.worker is None


def test_the_async_form_starts_too(host: Host) -> None:
    async def main() -> bool:
        async with host.app.running():
            host.folder.mkdir()
            return await asyncio.to_thread(host.ran.wait, LONGEST)

    assert asyncio.run(main())
    host.app.close()


def test_a_host_that_ends_first_begins_nothing(host: Host) -> None:
    running = host.app.running().begin()

    running.end()
    host.folder.mkdir()

    assert running.worker is None
    running.end()
    assert list(host.folder.iterdir()) == []


def test_a_store_that_refuses_does_not_end_the_host_and_is_logged_as_an_error(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    host.folder.mkdir()
    host.app.sync()
    host.app.close()
    connection = sqlite3.connect(host.folder / "jobs.db")
    connection.execute("UPDATE sempre_meta SET version = 999")
    connection.commit()

    with host.app.running() as running:
        assert running.worker is None
        [error] = [each for each in caplog.records if "version 999" in each.getMessage()]
        assert error.levelname == "ERROR"
        connection.execute("UPDATE sempre_meta SET version = 1")
        connection.commit()

        assert host.ran.wait(LONGEST)
    connection.close()
    host.app.close()


def test_a_burst_tells_at_once_that_the_store_is_down(host: Host) -> None:
    with pytest.raises(StoreUnavailable), host.app.running(burst=True):
        pass


def test_a_fork_server_that_dies_while_the_worker_begins_leaves_one_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    begin = Running.begin

    def begin_while_the_fork_server_dies(running: Embedded) -> Running:
        order.append("begins")
        if len(order) == 1:
            running._leave("the fork server died")  # noqa: SLF001 - the executor calls it
            assert running._waiting is not None  # noqa: SLF001
            running._waiting.join(0.5)  # noqa: SLF001 - it could overtake
        begun = begin(running)
        order.append("begun")
        return begun

    monkeypatch.setattr(Running, "begin", begin_while_the_fork_server_dies)
    app = Sempre("memory://")
    with app.running():
        eventually(lambda: order.count("begun") == 2)
    app.close()

    assert order == ["begins", "begun", "begins", "begun"]
