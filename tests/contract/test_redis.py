"""The Redis store keeps the contract of a store."""

from collections.abc import Iterator

import pytest

from sempre.ports.store import Store
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store import *  # noqa: F403
from tests.integration.redis.redis_server import RedisServer, redis_server


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


@pytest.fixture
def store(server: RedisServer) -> Iterator[Store]:
    with server.client() as client:
        client.flushdb()
    opened = RedisStore(server.url)
    opened.upgrade()
    yield opened
    opened.close()
