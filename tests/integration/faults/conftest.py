"""A place on each server for every test of this folder, and a store that reaches it by a proxy."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from sempre.ports.store import Store
from tests.integration.faults import backends
from tests.integration.faults.backends import Backend
from tests.integration.proxy import Proxy, proxy_before
from tests.integration.redis.redis_server import RedisServer, redis_server
from tests.integration.sql.mariadb_server import MariadbServer, running_mariadb
from tests.integration.sql.postgresql_server import PostgresqlServer, running_postgresql


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariadbServer]:
    with running_mariadb() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(params=["postgresql", "mariadb", "redis"])
def new_backend(request: pytest.FixtureRequest) -> Callable[[], Backend]:
    """What makes another empty place on the same server."""
    return partial(getattr(backends, request.param), request.getfixturevalue(request.param))


@pytest.fixture
def backend(new_backend: Callable[[], Backend]) -> Backend:
    return new_backend()


@pytest.fixture
def store(backend: Backend) -> Iterator[Store]:
    """The store, opened at the server itself."""
    opened = backend.direct()
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def proxy(backend: Backend) -> Iterator[Proxy]:
    with proxy_before(backend.socket) as running:
        yield running


@pytest.fixture
def distant(backend: Backend, proxy: Proxy, store: Store) -> Iterator[Store]:
    """The same store through the proxy, connected and checked."""
    opened = backend.through(proxy)
    assert opened.uuid == store.uuid
    yield opened
    opened.close()
