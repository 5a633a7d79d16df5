"""A beanstalkd that is killed, full, draining or has forgotten everything."""

import resource
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from sempre.brokers.beanstalkd import BeanstalkdBroker
from sempre.brokers.beanstalkd_wire import Address
from sempre.errors import BrokerUnavailable
from sempre.ports.broker import LARGEST_BODY, Delivery, Message
from sempre.testing.contracts.broker.builders import (
    FOREVER,
    bodies_of,
    ended,
    new_lane,
    only,
    put_one,
    reserved,
)
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import (
    BeanstalkdServer,
    beanstalkd_server,
    waiting_connections,
)


@pytest.fixture(scope="module")
def server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


@pytest.fixture
def broker(server: BeanstalkdServer) -> Iterator[BeanstalkdBroker]:
    opened = server.broker()
    yield opened
    opened.close()


@pytest.fixture
def own_broker(own_server: BeanstalkdServer) -> Iterator[BeanstalkdBroker]:
    opened = own_server.broker()
    yield opened
    opened.close()


def test_each_of_very_many_messages_has_its_own_handle(broker: BeanstalkdBroker) -> None:
    """Though they go out in several windows, to several tubes, and some are too big for any."""
    lanes = new_lane(), new_lane()
    bodies = ["x" * (LARGEST_BODY + 1) if n % 500 == 7 else str(n) for n in range(2_300)]
    messages = [Message(lanes[n // 100 % 2], body, delay=60) for n, body in enumerate(bodies)]

    handles = broker.put(messages)

    assert [n for n, handle in enumerate(handles) if not handle] == [7, 507, 1007, 1507, 2007]
    for n in (0, 99, 100, 506, 508, 999, 1000, 1001, 2001, 2299):
        assert broker.holds(messages[n].lane, handles[n], bodies[n])
    assert broker.empty(lanes) == 2_295


def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    lane = new_lane()
    for address in (Address(path=str(tmp_path / "none.sock")), Address(port=1)):
        broker = BeanstalkdBroker(address)
        for use in (
            partial(broker.put, [Message(lane, "ring")]),
            partial(broker.reserve, [lane], limit=1, wait=FOREVER),
            partial(broker.holds, lane, "1", "ring"),
            partial(broker.has_any, lane),
            partial(broker.empty, [lane]),
        ):
            with pytest.raises(BrokerUnavailable, match=str(address)):
                use()
        broker.acknowledge([Delivery(Message(lane, "ring"), "1", "1")])
        broker.close()


def test_an_idle_connection_that_was_lost_is_not_noticed(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    lane = new_lane()
    put_one(own_broker, lane)
    delivery = only(own_broker, lane)

    own_server.restart()

    put_one(own_broker, lane, "after")
    own_broker.acknowledge([delivery])
    assert bodies_of([only(own_broker, lane)]) == ["after"]


def test_an_id_that_is_given_out_again_is_not_mistaken_for_the_old_one(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    """Neither is the old ticket said to be there, nor is the new one deleted in its place."""
    lane = new_lane()
    handle = put_one(own_broker, lane, "mine")
    delivery = only(own_broker, lane)
    own_server.restart()
    other = own_server.broker()
    assert put_one(other, lane, "another's") == handle

    assert not own_broker.holds(lane, handle, "mine")
    own_broker.acknowledge([delivery])
    own_broker.put_back([delivery], delay=FOREVER)

    assert other.holds(lane, handle, "another's")
    assert bodies_of([only(own_broker, lane)]) == ["another's"]
    # Now this connection has reserved a job of that id, but it is not that delivery's.
    own_broker.acknowledge([delivery])
    assert other.holds(lane, handle, "another's")
    other.close()


def test_a_body_that_this_server_does_not_take_is_refused_alone() -> None:
    with beanstalkd_server("-z", "100") as server:
        broker, lane = server.broker(), new_lane()

        first, refused, last = broker.put([Message(lane, "x" * size) for size in (10, 101, 100)])

        assert first
        assert refused == ""
        assert last
        assert broker.holds(lane, last, "x" * 100)
        with pytest.raises(BrokerUnavailable, match="JOB_TOO_BIG"):
            broker.put([Message(lane, "x" * 101)])
        assert len(reserved(broker, lane)) == 2
        broker.close()


def test_a_server_that_drains_takes_nothing_and_gives_what_it_has(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    lane = new_lane()
    put_one(own_broker, lane, "before")

    own_server.drain()

    with pytest.raises(BrokerUnavailable, match="DRAINING"):
        own_broker.put([Message(lane, "after")])
    delivery = only(own_broker, lane)
    assert delivery.message.body == "before"
    own_broker.put_back([delivery], delay=0)
    own_broker.acknowledge([only(own_broker, lane)])
    assert not own_broker.has_any(lane)


def test_many_large_messages_do_not_make_both_sides_wait(broker: BeanstalkdBroker) -> None:
    """The server stops reading while nobody reads its answers, so they are read in passing."""
    lane = new_lane()

    handles = broker.put([Message(lane, "x" * 50_000) for _ in range(1500)])

    assert len(set(filter(None, handles))) == 1500


def test_a_server_without_memory_refuses_what_it_cannot_keep(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    """What it took before is there, and it goes on."""
    lane = new_lane()
    large = Message(lane, "x" * 60_000)
    put_one(own_broker, lane)
    limits = resource.prlimit(own_server.pid, resource.RLIMIT_AS)
    resource.prlimit(own_server.pid, resource.RLIMIT_AS, (16 << 20, limits[1]))

    handles = own_broker.put([large] * 1000)

    assert any(handles)
    assert not all(handles)
    assert len([*filter(None, handles)]) + 1 == jobs_in(own_server, lane)
    with pytest.raises(BrokerUnavailable, match="OUT_OF_MEMORY"):
        own_broker.put([large])
    resource.prlimit(own_server.pid, resource.RLIMIT_AS, limits)
    put_one(own_broker, lane)


def jobs_in(server: BeanstalkdServer, lane: str) -> int:
    with server.wire() as wire:
        [stats] = wire.ask([f"stats-tube {lane}\r\n".encode()])
    return int(stats.fields()["current-jobs-ready"])


def test_what_others_put_into_a_tube_comes_like_anything_else(
    server: BeanstalkdServer, broker: BeanstalkdBroker
) -> None:
    """Bytes that are no text, priorities that are none of ours, jobs that were buried."""
    lane = new_lane()
    with server.wire() as wire:
        wire.ask([f"use {lane}\r\n".encode(), b"put 4294967295 0 9 4\r\n\xff\x00\xc3(\r\n"])
    handle = put_one(broker, lane, "ours")

    ours, theirs = reserved(broker, lane)

    assert ours.message.body == "ours"
    assert theirs.message.priority == 2**32 - 1
    assert broker.holds(lane, theirs.handle, theirs.message.body)
    broker.put_back([theirs], delay=0)
    broker.acknowledge([only(broker, lane), ours])
    assert not broker.has_any(lane)
    assert not broker.holds(lane, handle, "ours")


def test_a_buried_message_is_not_held(server: BeanstalkdServer, broker: BeanstalkdBroker) -> None:
    """It would never be delivered, so whoever asks had better put another."""
    lane = new_lane()
    handle = put_one(broker, lane)
    with server.wire() as wire:
        wire.ask([f"watch {lane}\r\n".encode(), b"reserve-with-timeout 0\r\n"])
        wire.ask([f"bury {handle} 0\r\n".encode()])

    assert not broker.holds(lane, handle, "ring")
    assert not broker.has_any(lane)


def test_a_wait_that_is_broken_off_leaves_nobody_waiting(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    """Else the server would give the next job to one who no longer listens."""
    lane = new_lane()
    answer = ended(lambda: own_broker.reserve([lane], limit=1, wait=FOREVER))
    eventually(lambda: waiting_connections(own_server))

    own_broker.wake()

    assert answer() == []
    eventually(lambda: waiting_connections(own_server) == 0)


def test_whole_seconds_of_waiting_cost_no_connection(
    own_server: BeanstalkdServer, own_broker: BeanstalkdBroker
) -> None:
    lane = new_lane()
    reserved(own_broker, lane)
    before = connections(own_server)

    assert own_broker.reserve([lane], limit=1, wait=1) == []
    reserved(own_broker, lane)

    assert connections(own_server) - before == 1  # that of the one who counts


def connections(server: BeanstalkdServer) -> int:
    with server.wire() as wire:
        [stats] = wire.ask([b"stats\r\n"])
    return int(stats.fields()["total-connections"])


def test_a_thread_that_ends_gives_back_what_it_had_reserved(broker: BeanstalkdBroker) -> None:
    lane = new_lane()
    put_one(broker, lane)
    thread = Thread(target=only, args=(broker, lane))
    thread.start()
    thread.join()

    assert bodies_of([only(broker, lane)]) == ["ring"]
