"""Two processes and one store: what one puts ends the wait of the other, and nothing else does."""

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg
import pytest

from sempre.brokers import bell_file
from sempre.brokers.bell_file import BellFile
from sempre.brokers.listen import Listener
from sempre.brokers.redis.watch import RedisWatch
from sempre.brokers.store import StoreBroker
from sempre.ports.broker import Broker, Message
from sempre.ports.messages import Session, Wanted
from sempre.stores.redis import RedisStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.broker.builders import FOREVER, Stopwatch, ended, put_one
from sempre.testing.polling import eventually
from sempre.urls import open_broker, open_store
from tests.contract.test_pgbouncer import bouncer_before
from tests.integration.fleet.pairings import pairing_on
from tests.integration.redis.redis_server import RedisServer, redis_server
from tests.integration.sql.postgresql_server import postgresql_server

PATIENCE = 30.0
SPAWN = multiprocessing.get_context("spawn")


def wait_and_tell(pipe: Connection, url: str, store_url: str) -> None:
    """Be the other process: wait for one bell after the other, and say when each was heard."""
    with broker_on(url, store_url) as broker:
        # A connection ends a wait by itself; what comes after it is what is tested.
        eventually(lambda: is_quiet(broker))
        pipe.send("ready")
        while pipe.recv() == "wait":
            pipe.send("waiting")
            broker.reserve(["lane"], limit=1, wait=FOREVER)
            pipe.send("heard")


@contextmanager
def broker_on(url: str, store_url: str) -> Iterator[Broker]:
    with (
        closing(open_store(store_url)) as store,
        closing(open_broker(url, store_url=store_url, store=store)) as broker,
    ):
        yield broker


def check_that_another_process_hears(url: str, store_url: str) -> None:
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=wait_and_tell, args=(theirs, url, store_url), daemon=True)
    process.start()
    with broker_on(url, store_url) as broker:
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

        check_that_another_process_hears("store://", store_url)


def test_another_process_hears_what_is_put_through_redis(tmp_path: Path) -> None:
    with pairing_on("redis+store", tmp_path) as pairing:
        check_that_another_process_hears("store://", pairing.store)


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
        theirs.wake_all()
        assert ours.wait(0)

    assert not ours.wait(0)
    assert (tmp_path / "jobs.db-bell").stat().st_size <= 100


def test_the_system_tells_of_a_bell_and_nobody_has_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bell_file, "SELDOM", FOREVER)
    monkeypatch.setattr(bell_file, "OFTEN", FOREVER)
    (tmp_path / "jobs.db").touch()
    ours, theirs = BellFile(tmp_path / "jobs.db"), BellFile(tmp_path / "jobs.db")
    ours.wait(0)

    for _ in range(5):
        answer = ended(lambda: ours.wait(FOREVER))
        theirs.wake_all()
        assert answer()
    ours.close()


def test_every_thread_that_waits_hears_a_bell(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    ours, theirs = BellFile(tmp_path / "jobs.db"), BellFile(tmp_path / "jobs.db")
    answers = [ended(lambda: ours.wait(FOREVER)) for _ in range(3)]

    theirs.wake_all()

    assert all(answer() for answer in answers)


@pytest.mark.parametrize("missing", ["events", "file", "both"])
def test_without_help_of_the_system_the_file_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """No more events to be had, or a file that was replaced meanwhile."""
    if missing != "file":
        monkeypatch.setattr(bell_file, "open_file_events", lambda _: None)
    (tmp_path / "jobs.db").touch()
    ours, theirs = BellFile(tmp_path / "jobs.db"), BellFile(tmp_path / "jobs.db")
    ours.wait(0)
    if missing != "events":
        (tmp_path / "jobs.db-bell").unlink()

    theirs.wake_all()

    assert ours.wait(FOREVER)
    theirs.wake_all()
    assert ours.wait(FOREVER)
    assert not ours.wait(0.1)


def test_where_no_bell_can_be_hung_up_nothing_is_heard_and_the_worker_knows(
    tmp_path: Path,
) -> None:
    """A directory that this process may not write to, as one that is not there."""
    watch = BellFile(tmp_path / "nowhere" / "jobs.db", retry_after=0)
    assert watch.shared

    assert not watch.wait(0)

    assert not watch.shared
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere" / "jobs.db").touch()
    assert not watch.wait(0)
    assert watch.shared


def test_whoever_may_write_the_database_may_ring(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "jobs.db").chmod(0o660)

    BellFile(tmp_path / "jobs.db").wake_all()

    assert (tmp_path / "jobs.db-bell").stat().st_mode & 0o777 == 0o660


def test_one_database_by_two_names_has_one_bell(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "link.db").symlink_to("jobs.db")
    ours = BellFile(tmp_path / "link.db")

    BellFile(tmp_path / "jobs.db").wake_all()

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


class Listeners:
    """Makes listeners whose notifications go through a store's own connections."""

    def __init__(self) -> None:
        self._opened: list[Listener | SqlStore] = []

    def __call__(
        self, conninfo: str, *, channel: str = "bell", through_poolers: bool = False
    ) -> Listener:
        store = SqlStore(Postgresql(conninfo, connect_after=0.5))
        made = Listener(
            conninfo,
            channel=channel,
            notifier=store.notifier(channel),
            retry_after=0.1,
            through_poolers=through_poolers,
        )
        self._opened += [made, store]
        return made

    def close(self) -> None:
        for each in self._opened:
            each.close()


@pytest.fixture
def listener() -> Iterator[Listeners]:
    made = Listeners()
    yield made
    made.close()


def listening(conninfo: str) -> list[int]:
    query = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'"
    with psycopg.connect(conninfo) as connection:
        return [row[0] for row in connection.execute(query).fetchall()]


def test_a_listener_that_was_cut_off_looks_and_listens_again(
    listener: Listeners, caplog: pytest.LogCaptureFixture
) -> None:
    with postgresql_server() as conninfo:
        watch, other = listener(conninfo), listener(conninfo)
        assert not watch.shared
        assert watch.wait(FOREVER)
        assert watch.shared
        [backend] = listening(conninfo)
        answer = ended(lambda: watch.wait(FOREVER))

        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", [backend])

        assert answer()
        while watch.shared:
            watch.wait(0.1)
        while listening(conninfo) in ([], [backend]):
            watch.wait(0.1)
        watch.wait(0)
        assert watch.shared
        answer = ended(lambda: watch.wait(FOREVER))
        other.wake_all()
        assert answer()
        assert "does not notify" in caplog.text


def test_without_a_server_a_listener_only_waits(
    listener: Listeners, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so, goes on without, and this process hears itself."""
    nowhere = "host=127.0.0.1 port=1 password=s3cret"
    broker = StoreBroker(listener(nowhere))
    assert is_quiet(broker)
    assert not broker.capabilities.shared

    answer = ended(lambda: broker.reserve(["lane"], limit=1, wait=FOREVER))
    broker.put([Message("lane", "ring")])

    assert answer() == []
    told = [
        record.message.partition(":")[0] for record in caplog.records if "sempre" in record.name
    ]
    assert told == [
        "PostgreSQL does not notify this worker, which queries it instead",
        "idle workers were not notified of new work",
    ]
    assert "s3cret" not in caplog.text
    broker.close()


def test_a_bell_for_another_store_is_not_heard(listener: Listeners) -> None:
    with postgresql_server() as conninfo:
        ours, theirs = listener(conninfo, channel="ours"), listener(conninfo, channel="theirs")
        for each in (ours, theirs):
            assert each.wait(FOREVER)
            each.wait(0)

        theirs.wake_all()

        assert not ours.wait(0.3)


def test_a_process_that_only_notifies_does_not_listen(listener: Listeners) -> None:
    with postgresql_server() as conninfo:
        watch = listener(conninfo)

        watch.wake_all()

        assert listening(conninfo) == []


def test_a_listener_that_rests_has_no_connection_until_the_next_wait(listener: Listeners) -> None:
    """Else the server would keep for it what nobody reads."""
    with postgresql_server() as conninfo:
        watch = listener(conninfo)
        assert watch.wait(FOREVER)

        watch.rest()

        assert not watch.shared
        eventually(lambda: listening(conninfo) == [])
        assert watch.wait(FOREVER)
        assert watch.shared


def test_what_a_process_notifies_itself_of_ends_one_wait(listener: Listeners) -> None:
    """Its threads are woken at once; the notification that comes back is theirs."""
    with postgresql_server() as conninfo:
        watch = listener(conninfo)
        assert watch.wait(FOREVER)

        watch.wake_all()

        assert watch.wait(FOREVER)
        assert not watch.wait(0.3)


def test_a_commit_of_a_caller_is_heard_and_a_rollback_is_not(listener: Listeners) -> None:
    with postgresql_server() as conninfo:
        watch = listener(conninfo)
        assert watch.wait(FOREVER)
        with psycopg.connect(conninfo) as connection:
            connection.execute("SELECT 1")
            watch.wake_all_after_commit(connection)
            connection.rollback()
            connection.execute("SELECT 1")
            watch.wake_all_after_commit(connection)
            assert not watch.wait(0.3)
            answer = ended(lambda: watch.wait(FOREVER))

            connection.commit()

            assert answer()


def test_behind_a_transaction_pooler_nothing_listens(
    listener: Listeners, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with postgresql_server() as conninfo, bouncer_before(conninfo) as bounced:
        watch = listener(bounced)

        assert not watch.wait(0.1)
        assert not watch.wait(0.1)

        assert not watch.shared
        assert listening(conninfo) == []
        assert caplog.text.count("a pooler stands before PostgreSQL") == 1


def test_a_listener_may_be_told_to_listen_behind_a_pooler(listener: Listeners) -> None:
    with postgresql_server() as conninfo, bouncer_before(conninfo) as bounced:
        watch = listener(bounced, through_poolers=True)

        assert watch.wait(FOREVER)

        assert watch.shared


class Subscribers:
    """Makes watches of a store in Redis."""

    def __init__(self) -> None:
        self._opened: list[RedisWatch | RedisStore] = []

    def __call__(self, server: RedisServer, url: str = "") -> RedisWatch:
        store = RedisStore(url or server.url)
        made = RedisWatch(
            url or server.url, channel="bell", notifier=store.notifier("bell"), retry_after=0.1
        )
        self._opened += [made, store]
        return made

    def close(self) -> None:
        for each in self._opened:
            each.close()


@pytest.fixture
def subscriber() -> Iterator[Subscribers]:
    made = Subscribers()
    yield made
    made.close()


def subscribed(server: RedisServer) -> int:
    with server.client() as client:
        return int(client.pubsub_numsub("bell")[0][1])


def test_a_subscriber_that_was_cut_off_queries_and_listens_again(
    subscriber: Subscribers, caplog: pytest.LogCaptureFixture
) -> None:
    with redis_server() as server:
        watch, other = subscriber(server), subscriber(server)
        assert watch.wait(FOREVER)
        assert watch.shared
        with server.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")

        assert watch.wait(FOREVER)

        assert "Redis does not notify this worker" in caplog.text
        eventually(lambda: watch.wait(0.01) or subscribed(server))
        watch.wait(0)
        assert not watch.wait(0.1)
        other.wake_all()
        assert watch.wait(FOREVER)


def test_a_subscriber_listens_again_to_a_server_that_was_started_again(
    subscriber: Subscribers,
) -> None:
    with redis_server() as server:
        watch, other = subscriber(server), subscriber(server)
        assert watch.wait(FOREVER)
        server.kill()
        assert watch.wait(FOREVER)
        assert not watch.shared

        server.start()

        eventually(lambda: watch.wait(0.1) and watch.shared)
        watch.wait(0)
        other.wake_all()
        assert watch.wait(FOREVER)


def test_a_user_who_may_not_subscribe_is_told_once_and_hears_nothing(
    subscriber: Subscribers, caplog: pytest.LogCaptureFixture
) -> None:
    """Then the worker queries the store."""
    with redis_server() as server:
        with server.client() as client:
            rights = ["on", ">s3cret", "~*", "+@all", "resetchannels"]
            client.execute_command("ACL", "SETUSER", "ann", *rights)
        watch = subscriber(server, server.url.replace("unix://", "unix://ann:s3cret@"))

        assert not watch.wait(0.3)
        watch.wake_all()
        watch.wake_all()

        assert not watch.shared
        told = [each.message.partition(":")[0] for each in caplog.records]
        assert told == [
            "Redis does not notify this worker, which queries it instead",
            "idle workers were not notified of new work",
        ]
        assert "s3cret" not in caplog.text
