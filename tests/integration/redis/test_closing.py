"""A thread whose command is under way while another thread closes leaves no connection behind."""

from typing import Any

import pytest
import redis

from sempre.brokers.redis.server import BrokerServer
from sempre.stores.redis.server import StoreServer
from sempre.testing.polling import eventually
from tests.integration.redis.redis_server import RedisServer


@pytest.mark.parametrize("kind", [StoreServer, BrokerServer])
def test_a_command_that_a_close_overtakes_leaves_no_connection(
    kind: type[StoreServer | BrokerServer], server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = kind(server.url, root="{sempre}:", answer_after=5.0)
    send: Any = redis.Redis.execute_command

    def close_first(client: redis.Redis, *command: object) -> object:
        opened.close()
        return send(client, *command)

    monkeypatch.setattr(redis.Redis, "execute_command", close_first)
    assert opened.ask("PING")
    monkeypatch.undo()

    with server.client() as client:
        assert eventually(lambda: len(client.client_list()) == 1)
