"""A forked child and its parent use one broker object, each by connections of its own."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock

import pytest

from sempre.brokers.bell_file import BellFile
from sempre.brokers.listen import Listener
from sempre.brokers.redis import RedisBroker
from sempre.brokers.store import StoreBroker
from sempre.ports.broker import Broker, Message
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    bodies_of,
    delivered,
    ended,
    new_lane,
    only,
    put_one,
)
from tests.integration.brokers.beanstalkd_server import beanstalkd_server
from tests.integration.redis.redis_server import redis_server
from tests.integration.sql.postgresql_server import postgresql_server

# Newer versions of Python warn of a fork beside threads, which the test runner may have.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@contextmanager
def beanstalkd() -> Iterator[Broker]:
    with beanstalkd_server() as server:
        yield server.broker()


@contextmanager
def redis() -> Iterator[Broker]:
    with redis_server(appendonly="no") as server:
        yield RedisBroker(server.url)


@pytest.fixture(params=[beanstalkd, redis])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with request.param() as opened:
        yield opened
        opened.close()


@contextmanager
def forked(work: Callable[[], object]) -> Iterator[None]:
    """Do work in a forked child, and in the meantime the body; the child must not fail."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    try:
        yield
    finally:
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_parent_and_child_put_at_the_same_time(broker: Broker) -> None:
    lane = new_lane()
    put_one(broker, lane, "before")

    def put(name: str) -> None:
        for number in range(100):
            broker.put([Message(lane, f"{name} {number} {part}") for part in range(5)])

    with forked(lambda: put("child")):
        put("parent")

    found = bodies_of(delivered(broker, [lane], count=1001))
    assert len(set(found)) == 1001


def test_a_child_works_whatever_its_parent_was_doing_in_that_moment(broker: Broker) -> None:
    """Locks that other threads of the parent held are held for ever in the child."""
    lane, stop = new_lane(), list[bool]()

    def use_all_the_time() -> None:
        while not stop:
            put_one(broker, lane)
            broker.acknowledge(broker.reserve([lane], limit=1, wait=0.01))

    answers = [ended(use_all_the_time) for _ in range(3)]
    for _ in range(10):
        with forked(lambda: put_one(broker, new_lane())):
            pass
    stop.append(True)

    assert [answer() for answer in answers] == [None] * 3


def test_a_child_does_not_finish_what_its_parent_has_reserved(broker: Broker) -> None:
    """On Beanstalkd it cannot; on Redis a receipt may be handed on, as between threads."""
    lane, other = new_lane(), new_lane()
    handle = put_one(broker, lane)
    delivery = only(broker, lane)

    def work() -> None:
        put_one(broker, other)
        broker.acknowledge([only(broker, other)])
        broker.close()

    with forked(work):
        pass

    assert broker.holds(lane, handle, "ring")
    assert not broker.has_any(other)
    broker.acknowledge([delivery])
    assert not broker.holds(lane, handle, "ring")


def test_a_child_that_closes_its_broker_does_not_disturb_a_waiting_parent(broker: Broker) -> None:
    lane = new_lane()
    answer = ended(lambda: broker.reserve([lane], limit=1, wait=FOREVER))

    with forked(broker.close):
        pass
    with forked(broker.wake):
        pass
    put_one(broker, lane)

    assert bodies_of(answer()) == ["ring"]


def test_a_child_is_born_while_a_thread_of_its_parent_holds_a_lock_of_the_driver() -> None:
    """A fork collects what other threads had: a subscription must not wait for that lock."""
    lane, held, free = new_lane(), Event(), Event()

    def hold(lock: Lock) -> None:
        with lock:
            held.set()
            free.wait()

    with redis() as broker, ThreadPoolExecutor(2) as threads:
        assert isinstance(broker, RedisBroker)
        threads.submit(broker.reserve, [lane], limit=1, wait=0.01).result()
        pool = broker._process.get().server._client.connection_pool  # noqa: SLF001
        holding = threads.submit(hold, pool._lock)  # noqa: SLF001
        held.wait()
        with forked(lambda: put_one(broker, lane)):
            pass
        free.set()
        holding.result()

        assert bodies_of([only(broker, lane)]) == ["ring"]
        broker.close()


def test_a_child_rings_for_its_parent_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    broker = StoreBroker(BellFile(tmp_path / "jobs.db"))
    answer = ended(lambda: broker.reserve(["lane"], limit=1, wait=FOREVER))

    with forked(lambda: put_one(broker, "lane")):
        pass

    assert answer() == []
    broker.close()


def test_a_child_waits_for_a_file_beside_its_parent(tmp_path: Path) -> None:
    """What the one is told of by the system the other is told of too."""
    (tmp_path / "jobs.db").touch()
    watch, other = BellFile(tmp_path / "jobs.db"), BellFile(tmp_path / "jobs.db")
    watch.wait(0)
    answer = ended(lambda: watch.wait(FOREVER))

    def wait_and_end() -> None:
        assert watch.wait(FOREVER)

    with forked(wait_and_end):
        other.wake_all()

    assert answer()
    watch.close()


def test_a_child_listens_by_a_connection_of_its_own() -> None:
    with postgresql_server() as conninfo:
        store = SqlStore(Postgresql(conninfo))
        watch = Listener(conninfo, channel="bell", notifier=store.notifier("bell"))
        watch.wait(0)
        answer = ended(lambda: watch.wait(FOREVER))

        def ring_and_end() -> None:
            watch.wake_all()
            watch.close()

        with forked(ring_and_end):
            pass

        assert answer()
        answer = ended(lambda: watch.wait(FOREVER))
        with forked(watch.wake_all):
            pass
        assert answer()
        watch.close()
        store.close()
