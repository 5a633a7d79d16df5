"""The Redis store keeps the contract of a store."""

from collections.abc import Iterator

import pytest

from sempre.ports.store import Store
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store import *  # noqa: F403
from tests.integration.redis.redis_server import RedisServer


@pytest.fixture
def store(redis: RedisServer) -> Iterator[Store]:
    with redis.client() as client:
        client.flushdb()
    opened = RedisStore(redis.url)
    opened.upgrade()
    yield opened
    opened.close()
