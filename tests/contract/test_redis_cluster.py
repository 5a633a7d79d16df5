"""The Redis store keeps its contract on a node of a cluster that has one slot only.

So every key that any script touches has the one hash tag of the store: the node would refuse any
other. The store does not follow its slot from node to node.
"""

import socket
from collections.abc import Iterator
from threading import Event

import pytest
import redis

from sempre.errors import StoreUnavailable
from sempre.ports.store import Store
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store import *  # noqa: F403
from tests.integration.redis.redis_server import RedisServer, redis_server

PREFIX = "sempre"
PAUSE = 0.02


def free_ports() -> tuple[str, str]:
    """Return two ports that nobody listens on: for clients, and for other nodes."""
    anywhere = "127.0.0.1", 0
    with socket.create_server(anywhere) as one, socket.create_server(anywhere) as other:
        return str(one.getsockname()[1]), str(other.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    port, cluster_port = free_ports()
    settings = {"bind": "127.0.0.1", "port": port, "cluster_port": cluster_port}
    partly = {"cluster_enabled": "yes", "cluster_require_full_coverage": "no"}
    with redis_server(**settings, **partly) as running, running.client() as client:
        slot = client.execute_command("CLUSTER KEYSLOT", PREFIX)
        client.execute_command("CLUSTER ADDSLOTS", slot)
        while client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
            Event().wait(PAUSE)
        yield running


@pytest.fixture
def store(server: RedisServer) -> Iterator[Store]:
    with server.client() as client:
        client.flushdb()
    opened = RedisStore(server.url, prefix=PREFIX)
    opened.upgrade()
    yield opened
    opened.close()


def test_the_node_refuses_a_key_of_another_slot(server: RedisServer) -> None:
    """What the other tests here rest on."""
    script = "return redis.call('SET', 'another', 1)"
    with server.client() as client, pytest.raises(redis.ResponseError, match="non local key"):
        client.eval(script, 1, f"{{{PREFIX}}}:meta")


def test_a_node_that_does_not_have_the_slot_is_unavailable(server: RedisServer) -> None:
    store = RedisStore(server.url, prefix="elsewhere")

    with pytest.raises(StoreUnavailable, match="slot"):
        store.upgrade()
    store.close()
