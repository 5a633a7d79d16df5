"""One server for the tests of this folder, and a store on it that is empty for each test."""

from collections.abc import Iterator

import pytest

from sempre.stores.redis import RedisStore
from tests.integration.redis.redis_server import RedisServer, redis_server


@pytest.fixture(scope="session")
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _empty_server(request: pytest.FixtureRequest) -> None:
    """Leave nothing of one test on the shared server for another, whatever their order."""
    if "server" in request.fixturenames:
        server: RedisServer = request.getfixturevalue("server")
        with server.client() as client:
            client.flushdb()


@pytest.fixture
def store(server: RedisServer) -> Iterator[RedisStore]:
    opened = RedisStore(server.url)
    opened.upgrade()
    yield opened
    opened.close()
