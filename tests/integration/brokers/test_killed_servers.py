"""Beanstalkd and Redis alike: a server that is killed fails what is under way, and no more."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import pytest

from sempre.brokers.redis import RedisBroker
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import Broker, Delivery, Message
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    bodies_of,
    ended,
    new_lane,
    only,
    put_one,
)
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import (
    BeanstalkdServer,
    beanstalkd_server,
    waiting_connections,
)
from tests.integration.redis.redis_server import RedisServer, listeners, redis_server

BODIES = {str(number) for number in range(50)}


class Running(NamedTuple):
    """A server, a broker on it, and whether anybody waits for messages of a lane."""

    server: BeanstalkdServer | RedisServer
    broker: Broker
    is_awaited: Callable[[str], int]


@pytest.fixture(params=["beanstalkd", "redis"])
def running(request: pytest.FixtureRequest) -> Iterator[Running]:
    if request.param == "beanstalkd":
        with beanstalkd_server() as beanstalkd, closing(beanstalkd.broker()) as broker:
            yield Running(beanstalkd, broker, lambda _: waiting_connections(beanstalkd))
    else:
        with redis_server(appendonly="no") as redis, closing(RedisBroker(redis.url)) as broker:
            yield Running(redis, broker, lambda lane: listeners(redis, lane))


def test_a_wait_ends_when_the_server_is_killed_and_the_next_one_heals(running: Running) -> None:
    (server, broker, is_awaited), lane = running, new_lane()
    answer = ended(lambda: broker.reserve([lane], limit=1, wait=FOREVER))
    eventually(lambda: is_awaited(lane))

    server.kill()
    with pytest.raises(BrokerUnavailable):
        answer()
    server.start()
    put_one(broker, lane)

    assert bodies_of([only(broker, lane)]) == ["ring"]


def test_messages_go_on_while_the_server_dies_again_and_again(running: Running) -> None:
    """Each call fails or succeeds as a whole, and whatever was put after a restart is there."""
    (server, broker, _), lane = running, new_lane()
    stop: list[bool] = []

    def put_all_the_time() -> int:
        failures = 0
        while not stop:
            failures += not _succeeds(lambda: broker.put([Message(lane, each) for each in BODIES]))
        return failures

    def reserve() -> list[Delivery]:
        found: list[Delivery] = []
        _succeeds(lambda: found.extend(broker.reserve([lane], limit=100, wait=1)))
        return found

    answer = ended(put_all_the_time)
    try:
        for _ in range(3):
            found = eventually(reserve)
            server.kill()
            server.start()
            assert set(bodies_of(found)) <= BODIES
    finally:
        stop.append(True)

    assert answer() > 0
    marker = new_lane()
    put_one(broker, marker, "last")
    assert bodies_of([only(broker, marker)]) == ["last"]


def _succeeds(call: Callable[[], object]) -> bool:
    try:
        call()
    except BrokerUnavailable:
        return False
    return True
