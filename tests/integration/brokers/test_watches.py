"""Two processes and one store: what one puts ends the wait of the other, and nothing else does."""

import logging
import multiprocessing
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg
import pytest

from sempre.brokers import bell_file
from sempre.brokers.bell_file import BellFile
from sempre.brokers.listen import Listener
from sempre.brokers.store import StoreBroker
from sempre.ports.broker import Broker, Message
from sempre.ports.messages import Session, Wanted
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.broker.builders import FOREVER, Stopwatch, ended, put_one
from sempre.urls import open_broker
from tests.integration.brokers.waiting import PATIENCE
from tests.integration.sql.postgresql_server import postgresql_server

SPAWN = multiprocessing.get_context("spawn")


def wait_and_tell(pipe: Connection, url: str, store_url: str) -> None:
    """Be the other process: wait for one bell after the other, and say when each was heard."""
    broker = open_broker(url, store_url=store_url)
    # A connection ends a wait by itself; what comes after it is what is tested.
    while not is_quiet(broker):
        pass
    pipe.send("ready")
    while pipe.recv() == "wait":
        pipe.send("waiting")
        broker.reserve(["lane"], limit=1, wait=FOREVER)
        pipe.send("heard")
    broker.close()


def check_that_another_process_hears(url: str, store_url: str) -> None:
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=wait_and_tell, args=(theirs, url, store_url), daemon=True)
    process.start()
    broker = open_broker(url, store_url=store_url)
    assert answer_of(ours) == "ready"

    for _ in range(5):
        ours.send("wait")
        assert answer_of(ours) == "waiting"
        assert not ours.poll(0.1)
        put_one(broker, "lane", delay=5)
        assert answer_of(ours) == "heard"

    ours.send("end")
    process.join(PATIENCE)
    assert process.exitcode == 0
    broker.close()


def answer_of(pipe: Connection) -> object:
    assert pipe.poll(PATIENCE), "the other process does not answer"
    return pipe.recv()


def test_another_process_hears_what_is_put_beside_an_sqlite_file(tmp_path: Path) -> None:
    store_url = f"sqlite:///{tmp_path}/jobs.db"
    store = SqlStore(Sqlite(tmp_path / "jobs.db"))
    store.upgrade()

    check_that_another_process_hears("store://", store_url)

    store.close()


def test_another_process_hears_what_is_put_through_postgresql() -> None:
    with postgresql_server() as conninfo:
        words = dict(part.split("=") for part in conninfo.split())
        store_url = f"postgresql:///postgres?host={words['host']}&user=postgres&schema=jobs"

        check_that_another_process_hears("store://?listen=1", store_url)


def is_quiet(broker: Broker) -> bool:
    """Tell whether a wait lasts as long as it may."""
    watch = Stopwatch()
    broker.reserve(["lane"], limit=1, wait=0.3)
    return watch.has_passed(0.3)


def test_renewing_a_session_wakes_nobody(tmp_path: Path) -> None:
    """Else two idle workers on one file would wake each other for ever."""
    store = SqlStore(Sqlite(tmp_path / "jobs.db"))
    store.upgrade()
    broker = StoreBroker(BellFile(tmp_path / "jobs.db"))
    store.register(Session("idle"), lease=timedelta(minutes=1))
    wanted = Wanted(frozenset({"default"}), frozenset({"job"}), 1)
    answer = ended(lambda: is_quiet(broker))

    for _ in range(10):
        store.tick("idle", wanted, lease=timedelta(minutes=1))

    assert answer()
    broker.close()
    store.close()


def test_every_bell_is_heard_also_when_the_file_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bell_file, "LONGEST", 100)
    (tmp_path / "jobs.db").touch()
    ours, theirs = BellFile(tmp_path / "jobs.db"), BellFile(tmp_path / "jobs.db")

    for _ in range(1000):
        theirs.tell()
        assert ours.wait(0)

    assert not ours.wait(0)
    assert (tmp_path / "jobs.db-bell").stat().st_size <= 100


def test_whoever_may_write_the_database_may_ring(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "jobs.db").chmod(0o660)

    BellFile(tmp_path / "jobs.db").tell()

    assert (tmp_path / "jobs.db-bell").stat().st_mode & 0o777 == 0o660


def test_one_database_by_two_names_has_one_bell(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "link.db").symlink_to("jobs.db")
    ours = BellFile(tmp_path / "link.db")

    BellFile(tmp_path / "jobs.db").tell()

    assert ours.wait(0)


def test_a_bell_that_cannot_be_written_is_told_once_and_wakes_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker = StoreBroker(BellFile(tmp_path / "nowhere" / "jobs.db"))

    with caplog.at_level(logging.WARNING):
        put_one(broker, "lane")
        put_one(broker, "lane")

    assert broker.reserve(["lane"], limit=1, wait=FOREVER) == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    broker.close()


def listening(conninfo: str) -> list[int]:
    query = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    with psycopg.connect(conninfo) as connection:
        return [row[0] for row in connection.execute(query).fetchall()]


def test_a_listener_that_was_cut_off_looks_and_listens_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with postgresql_server() as conninfo:
        watch = Listener(conninfo, retry_after=0.1)
        other = Listener(conninfo)
        assert watch.wait(FOREVER)
        [backend] = listening(conninfo)
        answer = ended(lambda: watch.wait(FOREVER))

        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", [backend])

        assert answer()
        while listening(conninfo) in ([], [backend]):
            watch.wait(0.1)
        watch.wait(0)
        answer = ended(lambda: watch.wait(FOREVER))
        other.tell()
        assert answer()
        assert "not listening" in caplog.text
        watch.close()
        other.close()


def test_without_a_server_a_listener_only_waits(caplog: pytest.LogCaptureFixture) -> None:
    """It says so, goes on without, and this process hears itself."""
    broker = StoreBroker(Listener("host=127.0.0.1 port=1 password=s3cret", retry_after=0.1))
    assert is_quiet(broker)

    answer = ended(lambda: broker.reserve(["lane"], limit=1, wait=FOREVER))
    broker.put([Message("lane", "ring")])

    assert answer() == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "not listening" in caplog.text
    assert "s3cret" not in caplog.text
    broker.close()


def test_a_bell_for_another_store_is_not_heard() -> None:
    with postgresql_server() as conninfo:
        ours, theirs = Listener(conninfo, channel="ours"), Listener(conninfo, channel="theirs")
        for each in (ours, theirs):
            assert each.wait(FOREVER)
            each.wait(0)

        theirs.tell()

        assert not ours.wait(0.3)
        ours.close()
        theirs.close()
