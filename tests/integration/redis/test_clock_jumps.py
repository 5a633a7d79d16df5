"""The clock of a Redis server jumps ahead and comes back."""

from sempre.stores.redis import RedisStore
from tests.integration.redis.redis_server import RedisServer
from tests.integration.redis.test_against_memory import SharedClock, clock
from tests.integration.sql.jumping import Jump

__all__ = ["clock"]


def test_on_redis_all_goes_on_after_a_jump(server: RedisServer, clock: SharedClock) -> None:
    store = RedisStore(server.url)
    store.upgrade()

    Jump(store, clock).judge()

    store.close()
