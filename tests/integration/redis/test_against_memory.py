"""Random lives in the Redis store and in the memory store: every answer is the same."""

from collections.abc import Iterator
from datetime import datetime

import pytest
import redis

from sempre import redis_server
from sempre.grids.instants import microseconds_of
from sempre.stores.memory import MemoryStore
from sempre.stores.redis import RedisStore
from tests.integration.redis.redis_server import RedisServer
from tests.integration.sql.side_by_side import SideBySide, VirtualClock

READS_TIME = 'redis.call("TIME")'
CLOCK = "the-time-of-this-test"


class SharedClock(VirtualClock):
    """A clock that tells the server, too, what time it is."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        super().__init__()

    @property
    def at(self) -> datetime:
        return self._at

    @at.setter
    def at(self, value: datetime) -> None:
        self._at = value
        seconds, rest = divmod(microseconds_of(value), 1_000_000)
        with self._client.pipeline() as pipe:
            pipe.delete(CLOCK)
            pipe.rpush(CLOCK, seconds, rest)
            pipe.execute()


@pytest.fixture
def clock(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedClock]:
    """Let the scripts read a clock that the test can set; all else of them stays as it is."""
    original, package = redis_server.script_text, "sempre.stores.redis"
    steered = f'redis.call("LRANGE", "{CLOCK}", 0, 1)'
    assert original(package, "due").count(READS_TIME) == 1
    monkeypatch.setattr(
        redis_server,
        "script_text",
        lambda package, name: original(package, name).replace(READS_TIME, steered),
    )
    with server.client() as client:
        client.flushdb()
        yield SharedClock(client)


@pytest.mark.parametrize("seed", range(20))
def test_redis_answers_as_the_memory_store_does(
    seed: int, server: RedisServer, clock: SharedClock
) -> None:
    store = RedisStore(server.url)
    store.upgrade()

    SideBySide(seed, clock, MemoryStore(clock), store).live(400)

    store.close()
