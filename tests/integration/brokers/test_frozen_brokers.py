"""Real servers that freeze: they take what is sent to them, and never answer."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from sempre import Sempre
from sempre.brokers.redis import RedisBroker
from sempre.clock import SystemClock
from sempre.domain.execution import Execution
from sempre.engine.events import Event, Happened
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Broker, Message, Remote
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import beanstalkd_server
from tests.integration.redis.redis_server import redis_server

CLOCK = SystemClock()
PATIENCE = 0.25
# Far from the patience, and far from what it was before: ten seconds, for one after the other.
HUNG = 4.5
# A sweep of two seconds and some calls of half a second; it was ten seconds for each call.
LATE = 8.0
CALLERS = 4


class Frozen:
    """A server that can be frozen, and a broker on it."""

    def __init__(self, pid: int, broker: Broker) -> None:
        self._pid = pid
        self.broker = broker

    @contextmanager
    def frozen(self) -> Iterator[None]:
        os.kill(self._pid, SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._pid, SIGCONT)


@pytest.fixture(params=["beanstalkd", "redis"])
def server(request: pytest.FixtureRequest) -> Iterator[Frozen]:
    if request.param == "beanstalkd":
        with beanstalkd_server() as beanstalkd, closing(beanstalkd.broker()) as broker:
            yield Frozen(beanstalkd.pid, broker)
    else:
        with redis_server() as redis, closing(RedisBroker(redis.url)) as broker:
            yield Frozen(redis.pid, broker)


def seconds_of_a_put(broker: Broker) -> float:
    began = CLOCK.elapsed()
    with pytest.raises(BrokerUnavailable):
        broker.put([Message("lane", "body")])
    return CLOCK.elapsed() - began


def test_callers_of_a_frozen_server_wait_side_by_side_and_for_the_given_time(
    server: Frozen,
) -> None:
    broker = server.broker
    assert isinstance(broker, Remote)
    broker.answer_within(PATIENCE)
    broker.put([Message("lane", "body")])

    with server.frozen(), ThreadPoolExecutor(CALLERS) as pool:
        waited = list(pool.map(seconds_of_a_put, [broker] * CALLERS))

    assert max(waited) < HUNG
    assert broker.put([Message("lane", "body")])


def test_while_a_server_is_frozen_the_store_serves_and_nobody_waits_long(
    server: Frozen, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    app = Sempre(url, broker=server.broker, lease="6s", sweep="2s", grace="0.1s")
    told: list[Event] = []
    app.events.listen(told.append, Happened.BROKER_DOWN, Happened.BROKER_UP, Happened.STARTED)
    app.every(1)(tock)
    enqueued = app.job(tick)

    def slots() -> list[Execution]:
        rows = [each.facts["execution"] for each in told if each.name is Happened.STARTED]
        return [row for row in rows if row.schedule_id]

    def seconds_of_an_enqueue(_: int) -> float:
        began = CLOCK.elapsed()
        enqueued.enqueue()
        return CLOCK.elapsed() - began

    with app.running(), ThreadPoolExecutor(CALLERS) as callers:
        eventually(lambda: len(slots()) >= 2)
        with server.frozen():
            waited = list(callers.map(seconds_of_an_enqueue, range(2 * CALLERS)))
            frozen_for = len(slots()) + 4
            eventually(lambda: len(slots()) >= frozen_for)
        eventually(lambda: _is_up(told))
        until = len(slots()) + 2
        eventually(lambda: len(slots()) >= until)

    ran = sorted(row.run_at for row in slots())
    assert {(after - before).total_seconds() for before, after in pairwise(ran)} == {1.0}
    late = [row.started_at - row.due_at for row in slots() if row.started_at]
    assert max(late).total_seconds() < LATE
    assert max(waited) < HUNG
    app.close()


def _is_up(told: list[Event]) -> bool:
    """Tell whether the breaker was open and is closed again."""
    names = [each.name for each in told if each.name is not Happened.STARTED]
    return bool(names) and names[-1] is Happened.BROKER_UP


def tock() -> None:
    pass


def tick() -> None:
    pass
