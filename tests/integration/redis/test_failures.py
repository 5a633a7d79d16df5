"""A server that is gone, full, slow or read-only: StoreUnavailable, and nothing half done."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest
import redis

from sempre.errors import StoreGone, StoreRefused, StoreUnavailable
from sempre.ports.messages import Cancelled
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store.builders import (
    LEASE,
    check_invariants,
    claim_order,
    claimed,
    due_schedule,
    enqueued,
    read,
    session_of,
    view_of,
    wanted,
    work_of,
)
from tests.integration.redis.redis_server import RedisServer, redis_server

PATIENCE = 10.0
PAUSE = 0.01


@contextmanager
def paused_writes(client: redis.Redis) -> Iterator[None]:
    """Let the server take scripts in without answering them."""
    client.client_pause(int(1000 * PATIENCE), all=False)
    try:
        yield
    finally:
        client.client_unpause()


def waiting_scripts(client: redis.Redis) -> list[str]:
    """Return the ids of connections whose script waits for the end of a pause."""
    listed = client.client_list()
    return [each["id"] for each in listed if each["cmd"] == "evalsha" and "b" in each["flags"]]


def test_a_server_that_is_not_there_is_unavailable() -> None:
    store = RedisStore("redis://user:s3cret@127.0.0.1:1/0", timeout=1)

    with pytest.raises(StoreUnavailable) as error:
        store.upgrade()

    assert "redis://127.0.0.1:1/0" in str(error.value)
    assert "s3cret" not in str(error.value)
    store.close()


def test_a_wrong_password_is_refused_and_not_shown() -> None:
    with redis_server(requirepass="s3cret") as server:
        store = RedisStore(server.url.replace("unix://", "unix://:wr0ng@"))

        with pytest.raises(StoreRefused) as error:
            store.upgrade()

        assert "wr0ng" not in str(error.value)
        right = RedisStore(server.url.replace("unix://", "unix://:s3cret@"))
        right.upgrade()
        assert right.uuid
        store.close()
        right.close()


@pytest.mark.parametrize(
    ("account", "database", "said"),
    [
        ("", "0", "check user and password in the store URL (Authentication required)"),
        (":wr0ng@", "0", "check user and password in the store URL (invalid username-password"),
        ("wr0ng@", "0", "check user and password in the store URL (invalid username-password"),
        (":s3cret@", "99", "check the number after the host (DB index is out of range)"),
    ],
)
def test_a_refusal_has_the_servers_words_and_the_remedy(
    account: str, database: str, said: str
) -> None:
    with redis_server(requirepass="s3cret") as server:
        store = RedisStore(f"unix://{account}{server.socket}?db={database}")

        with pytest.raises(StoreRefused) as error:
            store.upgrade()

        assert said in str(error.value)
        assert "wr0ng" not in str(error.value)
        assert "s3cret" not in str(error.value)
        store.close()


def test_a_connection_that_is_killed_in_mid_call_is_unavailable_once(
    store: RedisStore, server: RedisServer
) -> None:
    """Nobody knows what happened; repeating the order makes it so, and doubles nothing."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    order = claim_order(store, row.id)
    with server.client() as client, ThreadPoolExecutor(1) as pool, paused_writes(client):
        call = pool.submit(store.claim, [order], session=session)
        waiting: list[str] = []
        for _ in range(int(PATIENCE / PAUSE)):
            if waiting := waiting_scripts(client):
                break
            Event().wait(PAUSE)
        for each in waiting:
            client.client_kill_filter(_id=each)
        with pytest.raises(StoreUnavailable):
            call.result(PATIENCE)

    [execution] = store.claim([order], session=session)

    assert execution is not None
    assert read(store, row.id) == execution
    assert view_of(store).schedule.starts == 1
    check_invariants(store)


def test_an_answer_that_comes_too_late_is_given_to_nobody_else(
    store: RedisStore, server: RedisServer
) -> None:
    """The call that timed out may have happened; the next one gets its own answer."""
    hasty = RedisStore(server.url, timeout=0.2)
    work = work_of(store)
    assert hasty.uuid
    with server.client() as client, paused_writes(client), pytest.raises(StoreUnavailable):
        hasty.enqueue([work])

    assert hasty.sessions().value == []
    [receipt] = hasty.enqueue([work])

    assert receipt.created
    assert [row.id for row in hasty.claim_one_off(wanted(), session=session_of(store)).value] == [
        receipt.id
    ]
    hasty.close()


def test_connections_that_were_closed_while_idle_are_not_noticed(
    store: RedisStore, server: RedisServer
) -> None:
    assert store.sessions().value == []
    with server.client() as client:
        client.client_kill_filter(_type="normal", skipme=True)

    assert store.sessions().value == []


def test_scripts_that_the_server_forgot_are_sent_again(
    store: RedisStore, server: RedisServer
) -> None:
    row = due_schedule(store).rows[0]
    order = claim_order(store, row.id)
    session = session_of(store)
    with server.client() as client:
        client.script_flush()

    [execution] = store.claim([order], session=session)

    assert execution is not None
    check_invariants(store)


def test_a_full_server_is_unavailable_and_changes_nothing(
    store: RedisStore, server: RedisServer
) -> None:
    row = due_schedule(store).rows[0]
    order = claim_order(store, row.id)
    session = session_of(store)
    mail = enqueued(store)
    before = view_of(store), read(store, mail)
    with server.client() as client:
        client.config_set("maxmemory", 1)
        try:
            for write in (
                lambda: store.claim([order], session=session),
                lambda: store.claim_one_off(wanted(), session=session),
                lambda: store.enqueue([work_of(store)]),
                lambda: store.cancel([mail]),
                lambda: store.mark_announced([mail]),
            ):
                with pytest.raises(StoreUnavailable, match="maxmemory"):
                    write()
            assert (view_of(store), read(store, mail)) == before
        finally:
            client.config_set("maxmemory", 0)

    [execution] = store.claim([order], session=session)
    assert execution is not None
    assert [each.id for each in store.claim_one_off(wanted(), session=session).value] == [mail]


def test_a_server_that_has_become_a_replica_is_unavailable() -> None:
    """A failover: reads may still be answered, writes are not."""
    with redis_server() as server:
        store = RedisStore(server.url)
        store.upgrade()
        mail = enqueued(store)
        with server.client() as client:
            client.replicaof("127.0.0.1", "1")

            with pytest.raises(StoreUnavailable, match="read only"):
                store.cancel([mail])

            client.replicaof("NO", "ONE")
        assert store.cancel([mail]) == [Cancelled.ENDED]
        store.close()


def test_an_emptied_server_is_told_of_and_by_what_to_mend_it(server: RedisServer) -> None:
    store = RedisStore(server.url, prefix="emptied")
    store.upgrade()
    before, fence = store.uuid, claimed(store, enqueued(store), session_of(store)).fence
    work = work_of(store)
    with server.client() as client:
        client.flushdb()

    for operation in (
        lambda: store.enqueue([work]),
        lambda: store.tick("one", wanted(), lease=LEASE),
        lambda: store.uuid,
    ):
        with pytest.raises(StoreGone, match="sempre db upgrade"):
            operation()
    store.upgrade(fence=fence)

    assert store.uuid != before
    assert claimed(store, enqueued(store), session_of(store)).fence > fence
    store.close()
