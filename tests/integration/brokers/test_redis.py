"""A Redis server that is killed, full, read-only, loading, or has forgotten everything."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from sempre.brokers.redis import RedisBroker
from sempre.errors import BrokerError, BrokerUnavailable
from sempre.ports.broker import Message
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    bodies_of,
    delivered,
    ended,
    new_lane,
    only,
    put_one,
    reserved,
)
from sempre.testing.polling import eventually
from tests.integration.redis.redis_server import RedisServer, listeners, redis_server


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with redis_server(appendonly="no") as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    with redis_server(appendonly="no") as running:
        yield running


@pytest.fixture
def broker(server: RedisServer) -> Iterator[RedisBroker]:
    opened = RedisBroker(server.url)
    yield opened
    opened.close()


@pytest.fixture
def own_broker(own_server: RedisServer) -> Iterator[RedisBroker]:
    opened = RedisBroker(own_server.url)
    yield opened
    opened.close()


def keys(server: RedisServer) -> set[str]:
    with server.client() as client:
        return {str(key) for key in client.scan_iter()}


def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_shown() -> None:
    broker, lane = RedisBroker("redis://user:s3cret@127.0.0.1:1/0"), new_lane()

    for use in (
        partial(broker.put, [Message(lane, "ring")]),
        partial(broker.reserve, [lane], limit=1, wait=FOREVER),
        partial(broker.holds, lane, "1", "ring"),
        partial(broker.has_any, lane),
        partial(broker.empty, [lane]),
    ):
        with pytest.raises(BrokerUnavailable, match=r"redis://127.0.0.1:1/0") as error:
            use()
        assert "s3cret" not in str(error.value)
    broker.close()


def test_a_wrong_password_is_unavailable_and_not_shown() -> None:
    with redis_server(appendonly="no", requirepass="s3cret") as server:
        broker = RedisBroker(server.url.replace("unix://", "unix://:wr0ng@"))

        with pytest.raises(BrokerUnavailable) as error:
            broker.put([Message("lane", "ring")])

        assert "wr0ng" not in str(error.value)
        broker.close()


@pytest.mark.parametrize("prefix", ["", "Jobs", "a-b", "{a}", "a:b"])
def test_a_prefix_that_could_meet_other_keys_is_refused(prefix: str) -> None:
    with pytest.raises(BrokerError, match="prefix"):
        RedisBroker("redis://127.0.0.1:1/0", prefix=prefix)


def test_a_lost_subscription_is_made_again_in_mid_wait(
    server: RedisServer, broker: RedisBroker
) -> None:
    """Only the listener was cut off: nobody notices, and the message is heard."""
    lane = new_lane()
    answer = ended(lambda: broker.reserve([lane], limit=1, wait=FOREVER))
    eventually(lambda: listeners(server, lane))

    with server.client() as client:
        client.client_kill_filter(_type="pubsub")
    put_one(broker, lane)

    assert bodies_of(answer()) == ["ring"]


def test_a_broken_off_wait_keeps_its_ear_and_closing_ends_it(server: RedisServer) -> None:
    broker, lane = RedisBroker(server.url), new_lane()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(broker.reserve, [lane], limit=1, wait=FOREVER)
        eventually(lambda: listeners(server, lane))

        broker.wake()
        assert answer.result() == []
        assert listeners(server, lane) == 1
        broker.close()

    eventually(lambda: listeners(server, lane) == 0)


def test_a_full_server_takes_nothing_in_but_gives_what_it_has(
    own_server: RedisServer, own_broker: RedisBroker
) -> None:
    """So that it becomes less full."""
    lane = new_lane()
    own_broker.put([Message(lane, "ready"), Message(lane, "delayed", delay=0.01)])
    before = keys(own_server)
    with own_server.client() as client:
        client.config_set("maxmemory", 1)

        with pytest.raises(BrokerUnavailable, match="maxmemory"):
            own_broker.put([Message(new_lane(), "another")])
        found = delivered(own_broker, [lane], count=2)
        own_broker.put_back(found[:1], delay=0)
        own_broker.acknowledge(found[1:])
        own_broker.acknowledge([only(own_broker, lane)])

        assert sorted(bodies_of(found)) == ["delayed", "ready"]
        assert keys(own_server) < before
        client.config_set("maxmemory", 0)


def test_a_server_that_has_become_a_replica_is_unavailable(
    own_server: RedisServer, own_broker: RedisBroker
) -> None:
    """A failover: what it has may be read, but nothing put or reserved."""
    lane = new_lane()
    handle = put_one(own_broker, lane)
    with own_server.client() as client:
        client.replicaof("127.0.0.1", "1")

        with pytest.raises(BrokerUnavailable, match="read only"):
            own_broker.put([Message(lane, "again")])
        with pytest.raises(BrokerUnavailable, match="read only"):
            own_broker.reserve([lane], limit=1, wait=FOREVER)
        assert own_broker.holds(lane, handle, "ring")

        client.replicaof("NO", "ONE")
    assert bodies_of([only(own_broker, lane)]) == ["ring"]


def test_a_server_that_does_not_answer_is_unavailable(
    own_server: RedisServer,
) -> None:
    broker, lane = RedisBroker(own_server.url, answer_after=0.2), new_lane()
    put_one(broker, lane)
    with own_server.client() as client:
        client.client_pause(10_000, all=False)

        with pytest.raises(BrokerUnavailable):
            broker.put([Message(lane, "late")])

        client.client_unpause()
    assert "ring" in bodies_of(reserved(broker, lane))
    broker.close()


def test_scripts_that_the_server_forgot_are_sent_again(
    server: RedisServer, broker: RedisBroker
) -> None:
    lane = new_lane()
    put_one(broker, lane)
    with server.client() as client:
        client.script_flush()

    assert bodies_of([only(broker, lane)]) == ["ring"]


def test_an_id_that_is_given_out_again_is_not_mistaken_for_the_old_one(
    server: RedisServer, broker: RedisBroker
) -> None:
    lane = new_lane()
    with server.client() as client:
        client.flushdb()
    handle = put_one(broker, lane, "mine")
    delivery = only(broker, lane)
    with server.client() as client:
        client.flushdb()
    assert put_one(broker, lane, "another's") == handle

    assert not broker.holds(lane, handle, "mine")
    broker.acknowledge([delivery])
    assert bodies_of([only(broker, lane)]) == ["another's"]
    broker.acknowledge([delivery])

    assert broker.holds(lane, handle, "another's")


def test_what_others_wrote_into_a_lane_is_passed_over(
    server: RedisServer, broker: RedisBroker
) -> None:
    lane = new_lane()
    with server.client() as client:
        client.zadd(f"{{sempre-bell}}:ready:{lane}", {"junk": 0, "0-0": 7})
        client.zadd(f"{{sempre-bell}}:delayed:{lane}", {"more junk": 1})
    put_one(broker, lane)

    assert bodies_of([only(broker, lane)]) == ["ring"]
    assert reserved(broker, lane) == []


def test_a_key_of_another_kind_is_unavailable_and_harms_no_other_lane(
    server: RedisServer, broker: RedisBroker
) -> None:
    broken, lane = new_lane(), new_lane()
    with server.client() as client:
        client.set(f"{{sempre-bell}}:ready:{broken}", "junk")

    with pytest.raises(BrokerUnavailable, match="WRONGTYPE"):
        broker.reserve([broken], limit=1, wait=0)

    put_one(broker, lane)
    assert bodies_of([only(broker, lane)]) == ["ring"]


def test_finished_messages_leave_nothing_behind(
    own_server: RedisServer, own_broker: RedisBroker
) -> None:
    lane = new_lane()
    put_one(own_broker, lane)
    own_broker.put_back([only(own_broker, lane)], delay=0)
    own_broker.acknowledge([only(own_broker, lane)])

    assert keys(own_server) == {"{sempre-bell}:number"}


def test_a_store_and_a_broker_of_one_prefix_have_no_key_in_common(own_server: RedisServer) -> None:
    store = RedisStore(own_server.url, prefix="jobs", allow_no_aof=True)
    store.upgrade()
    stored = keys(own_server)
    broker = RedisBroker(own_server.url, prefix="jobs")

    put_one(broker, new_lane())
    put_one(broker, new_lane(), delay=60)

    rung = keys(own_server) - stored
    assert stored
    assert all(key.startswith("{jobs-bell}:") for key in rung)
    assert not any(key.startswith("{jobs-bell}:") for key in stored)
    broker.close()
    store.close()
