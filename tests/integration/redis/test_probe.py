"""Servers that must not be used are refused with the remedy, unless somebody insists."""

import sys
from datetime import timedelta

import pytest

from sempre.errors import MissingExtra, StoreError, StoreRefused
from sempre.stores.redis import RedisStore
from sempre.stores.redis.probe import Allowance, examine
from tests.integration.redis.redis_server import RedisServer, redis_server

SOUND = {
    "redis_version": "7.2.4",
    "maxmemory_policy": "noeviction",
    "aof_enabled": 1,
    "role": "master",
}


def always(_name: str) -> str:
    return "always"


@pytest.mark.parametrize(
    ("settings", "remedy", "keyword"),
    [
        (
            {"maxmemory_policy": "allkeys-lru"},
            "CONFIG SET maxmemory-policy noeviction",
            "allow_eviction",
        ),
        ({"appendonly": "no"}, "CONFIG SET appendonly yes", "allow_no_aof"),
        ({"replicaof": "127.0.0.1 1"}, "REPLICAOF NO ONE", "allow_replica"),
    ],
)
def test_a_server_that_would_lose_work_is_refused(
    settings: dict[str, str], remedy: str, keyword: str
) -> None:
    with redis_server(**settings) as server:
        store = RedisStore(server.url)
        with pytest.raises(StoreRefused, match=remedy) as refusal:
            store.upgrade()
        assert f"?{keyword}=1 in the store URL" in str(refusal.value)
        with server.client() as client:
            assert client.dbsize() == 0

        insisting = RedisStore(server.url, **{keyword: True})  # type: ignore[arg-type]
        if keyword != "allow_replica":
            insisting.upgrade()
        fault = str(refusal.value).split(": ")[1].split(".")[0]
        assert any(fault in weaker for weaker in insisting.weaker_promises)
        assert insisting.capabilities.durable == (keyword != "allow_no_aof")
        store.close()
        insisting.close()


def test_the_remedy_mends_the_server(server: RedisServer) -> None:
    with server.client() as client:
        client.flushdb()
        client.config_set("maxmemory-policy", "volatile-ttl")
        store = RedisStore(server.url)
        with pytest.raises(StoreRefused):
            store.upgrade()

        client.config_set("maxmemory-policy", "noeviction")
        store.upgrade()

        assert store.uuid
        store.close()


def test_a_log_that_is_not_written_at_once_is_a_weaker_promise(server: RedisServer) -> None:
    store = RedisStore(server.url)
    store.upgrade()

    [weaker] = store.weaker_promises

    assert "appendfsync is everysec" in weaker
    store.close()
    with redis_server(appendfsync="always") as strict:
        other = RedisStore(strict.url)
        assert other.weaker_promises == ()
        other.close()


@pytest.mark.parametrize("version", ["5.0.14", "6.0.20"])
def test_an_old_server_is_refused(version: str) -> None:
    with pytest.raises(StoreRefused, match=f"{version} is too old"):
        examine(SOUND | {"redis_version": version}, always, Allowance())


@pytest.mark.parametrize("version", ["6.2.0", "7.0.15", "10.0.1"])
def test_a_newer_server_is_accepted(version: str) -> None:
    assert examine(SOUND | {"redis_version": version}, always, Allowance()) == ()


def test_what_a_server_does_not_say_is_not_taken_for_safe() -> None:
    with pytest.raises(StoreRefused):
        examine({"redis_version": "7.2.4"}, always, Allowance())
    [weaker] = examine(SOUND, lambda _: "", Allowance())
    assert "appendfsync is unknown" in weaker
    [weaker] = examine(SOUND | {"connected_slaves": 1}, always, Allowance())
    assert "replicas" in weaker


def test_a_newer_schema_is_refused(store: RedisStore, server: RedisServer) -> None:
    assert store.uuid
    with server.client() as client:
        client.hset("{sempre}:meta", "version", "4")

    late = RedisStore(server.url)

    with pytest.raises(StoreRefused, match="version 4"):
        late.upgrade()
    with pytest.raises(StoreRefused, match="version 4"):
        late.last_pass()
    late.close()


def test_a_store_that_is_not_set_up_says_so(server: RedisServer) -> None:
    with server.client() as client:
        client.flushdb()
    store = RedisStore(server.url)

    with pytest.raises(StoreRefused, match=r"upgrade\(\)"):
        store.last_pass()
    store.close()


def test_a_closed_store_is_not_used_any_more(store: RedisStore) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.last_pass()


@pytest.mark.parametrize("prefix", ["", "Sempre", "1st", "a-b", "a{b}", "a:b", "a b", "x" * 42])
def test_a_prefix_that_is_no_plain_word_is_refused(prefix: str) -> None:
    with pytest.raises(StoreRefused, match="prefix"):
        RedisStore("redis://localhost", prefix=prefix)


def test_stores_of_two_prefixes_share_a_server(store: RedisStore, server: RedisServer) -> None:
    other = RedisStore(server.url, prefix="_other_2")
    other.upgrade()
    assert store.begin_pass(holder="a", every=timedelta(0)) is not None

    assert other.uuid != store.uuid
    assert other.last_pass().value.holder == ""
    with server.client() as client:
        roots = {str(each).split(":")[0] for each in client.keys("*")}
    assert roots == {"{sempre}", "{_other_2}"}
    other.close()


def test_a_missing_driver_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(MissingExtra, match=r'pip install "sempre\[redis\]"'):
        RedisStore("redis://localhost")


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://localhost", "redis://host:port"])
def test_what_is_no_url_of_redis_is_refused(url: str) -> None:
    with pytest.raises(StoreRefused, match="no URL of Redis"):
        RedisStore(url)
