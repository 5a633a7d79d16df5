"""The store as its own broker keeps the contract of a broker that carries nothing.

With each of its watches: of this process, beside an SQLite file, and by PostgreSQL and Redis.
"""

from collections.abc import Iterator
from contextlib import closing
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
from tests.integration.redis.redis_server import RedisServer


@pytest.fixture(params=["this process", "bell file", "listen", "redis"])
def watch(
    request: pytest.FixtureRequest, tmp_path: Path, postgresql: str, redis: RedisServer
) -> Iterator[Watch]:
    if request.param == "bell file":
        (tmp_path / "jobs.db").touch()
        yield BellFile(tmp_path / "jobs.db")
    elif request.param == "listen":
        with closing(SqlStore(Postgresql(postgresql, any_flush=True))) as sql:
            yield connected(Listener(postgresql, channel="bell", notifier=sql.notifier("bell")))
    elif request.param == "redis":
        with closing(RedisStore(redis.url)) as store:
            yield connected(RedisWatch(redis.url, channel="bell", notifier=store.notifier("bell")))
    else:
        yield ThisProcess()


def connected(watch: Watch) -> Watch:
    """Let a watch connect now: a new connection ends a wait, and other causes are tested here."""
    watch.wait(0)
    return watch


@pytest.fixture
def broker(watch: Watch) -> Iterator[Broker]:
    opened = StoreBroker(watch)
    yield opened
    opened.close()
