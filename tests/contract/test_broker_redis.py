"""The Redis broker keeps the contract of a broker."""

from collections.abc import Iterator

import pytest

from sempre.brokers.redis import RedisBroker
from sempre.ports.broker import Broker
from sempre.testing.contracts.broker import *  # noqa: F403
from tests.integration.redis.redis_server import RedisServer, redis_server


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server(appendonly="no") as running:
        yield running


@pytest.fixture
def broker(server: RedisServer) -> Iterator[Broker]:
    opened = RedisBroker(server.url)
    yield opened
    opened.close()


@pytest.fixture
def hasty(server: RedisServer) -> Iterator[Broker]:
    opened = RedisBroker(server.url, visibility=1)
    yield opened
    opened.close()
