"""Random lives that move to Redis: what is loaded is equal, and goes on equally."""

import pytest

from sempre.stores.memory import MemoryStore
from sempre.stores.redis import RedisStore
from tests.integration.redis.redis_server import RedisServer
from tests.integration.redis.test_against_memory import SharedClock, clock
from tests.integration.sql.test_loaded_lives import go_on, life, records_of

__all__ = ["clock"]


@pytest.mark.parametrize("seed", range(8))
def test_a_life_goes_on_after_its_move_as_in_the_memory_store(
    seed: int, server: RedisServer, clock: SharedClock
) -> None:
    led = life(seed, clock)
    store = RedisStore(server.url)

    go_on(led, records_of(led.stores[0]), MemoryStore(clock), store)

    store.close()
