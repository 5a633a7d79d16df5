"""The store as its own broker keeps the contract of a broker that carries nothing.

With each of its watches: of this process, beside an SQLite file, and by PostgreSQL and Redis.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.brokers.bell_file import BellFile
from sempre.brokers.listen import Listener
from sempre.brokers.redis.watch import RedisWatch
from sempre.brokers.store import StoreBroker
from sempre.brokers.watch import ThisProcess, Watch
from sempre.ports.broker import Broker
from sempre.stores.redis import RedisStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.silent_broker import *  # noqa: F403
from tests.integration.redis.redis_server import redis_server
from tests.integration.sql.postgresql_server import postgresql_server


@pytest.fixture(scope="module")
def conninfo() -> Iterator[str]:
    with postgresql_server() as running:
        yield running


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with redis_server() as running:
        yield running.url


@pytest.fixture(params=["this process", "bell file", "listen", "redis"])
def watch(request: pytest.FixtureRequest, tmp_path: Path, conninfo: str, redis_url: str) -> Watch:
    if request.param == "bell file":
        (tmp_path / "jobs.db").touch()
        return BellFile(tmp_path / "jobs.db")
    if request.param == "listen":
        # A new connection ends a wait; what is tested here is what does so besides.
        notifier = SqlStore(Postgresql(conninfo)).notifier("bell")
        listener = Listener(conninfo, channel="bell", notifier=notifier)
        listener.wait(0)
        return listener
    if request.param == "redis":
        of_store = RedisStore(redis_url).notifier("bell")
        watch = RedisWatch(redis_url, channel="bell", notifier=of_store)
        watch.wait(0)
        return watch
    return ThisProcess()


@pytest.fixture
def broker(watch: Watch) -> Iterator[Broker]:
    opened = StoreBroker(watch)
    yield opened
    opened.close()
