"""URLs of stores and brokers: which one means which adapter, and what is said about others."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sempre.addresses.options import own_options
from sempre.errors import BrokerUnavailable, MissingExtra, StoreUnavailable
from sempre.ports.broker import Message
from sempre.stores.memory import MemoryStore
from sempre.urls import UrlError, masked, open_broker, open_store


def test_memory_is_a_store_of_this_process() -> None:
    store = open_store("memory://")

    assert store.capabilities.durable is False
    assert store.sessions().value == []


def test_sqlite_is_a_file_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///some%20jobs.db")

    store.upgrade()
    store.close()

    assert (tmp_path / "some jobs.db").exists()


def test_four_slashes_are_a_whole_path(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/jobs.db?prefix=mine_")

    store.upgrade()
    store.close()

    assert (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/jobs?schema=mine",
        "postgresql:///jobs?host=%2Fnowhere&schema=mine",
        "mariadb://ann:s3cret@127.0.0.1:1/jobs?prefix=mine_",
        "redis://:s3cret@127.0.0.1:1/0",
        "postgresql://127.0.0.1:1/jobs?any_flush=1&read_only=0&connect_timeout=5",
        "mariadb://127.0.0.1:1/jobs?any_flush=1&any_cluster=1&read_only=1",
        "redis://127.0.0.1:1/0?allow_eviction=1&allow_no_aof=1&allow_replica=1",
        "sqlite:///jobs.db?any_filesystem=1",
        "postgresql://127.0.0.1:1/jobs?connections=20",
        "mariadb://127.0.0.1:1/jobs?connections=1",
    ],
)
def test_nothing_is_connected_before_it_is_used(url: str) -> None:
    open_store(url).close()


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    store = open_store("redis://:s3cret@127.0.0.1:1/0")

    with pytest.raises(StoreUnavailable) as refused:
        store.sessions()

    assert "s3cret" not in str(refused.value)
    store.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgres://host/db", "postgresql"),
        ("sqlite://jobs.db", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite:///jobs.db?prefx=a_", "prefix"),
        ("memory://?prefix=a", "no options"),
        ("redis://host/0?allow_replica=yes", "0 or 1"),
        ("redis://host/jobs", "the number of a database"),
        ("redis://host/0?db=jobs", "a number"),
        ("redis://one:1,two:2/0", "one host"),
        ("postgresql://host/jobs?read_only=", "0 or 1"),
        ("postgresql://host/jobs?connections=0", "a number from 1 on"),
        ("mariadb://host/jobs?connections=many", "a number from 1 on"),
        ("mysql://ann:s3cret@host/db", "sqlite://"),
        ("jobs.db", "sqlite:///jobs.db"),
        ("", "sqlite:///jobs.db"),
    ],
)
def test_a_wrong_url_says_what_is_right(url: str, told: str) -> None:
    with pytest.raises(UrlError) as refused:
        open_store(url)

    assert told in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    package = "sempre.stores.sql.dialects.postgresql"
    for name in [name for name in sys.modules if name.startswith(package)]:
        monkeypatch.delitem(sys.modules, name)

    with pytest.raises(MissingExtra, match=r'pip install "sempre\[postgres\]"'):
        open_store("postgresql://127.0.0.1/jobs")


def test_a_password_is_not_shown() -> None:
    assert masked("redis://ann:s3cret@host:1/0?password=s3cret") == "redis://host:1/0"
    assert masked("redis://ann:s3/cret@host:1/0") == "redis://..."
    assert masked("ann:s3cret@host:1/0") == "..."
    assert masked("sqlite:///jobs.db") == "sqlite:///jobs.db"
    assert masked("sqlite:////srv/ann@lan/jobs.db") == "sqlite:////srv/ann@lan/jobs.db"
    assert masked("postgresql://ann:x@one:1,two:2/db") == "postgresql://one:1,two:2/db"


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("redis://host/0?allow_noaof=1", "Did you mean allow_no_aof"),
        ("redis://host/0?ssl_ca_certs=x", "client_name"),
        ("rediss://host/0?ssl_ca_cert=x", "Did you mean ssl_ca_certs"),
        ("postgresql://host/db?sslmod=require", "Did you mean sslmode"),
        ("postgresql://host/db?any_flsh=1", "Did you mean any_flush"),
        ("mariadb://host/db?ssl_caa=x", "Did you mean ssl_ca"),
    ],
)
def test_a_misspelt_option_names_the_likely_one(url: str, hint: str) -> None:
    with pytest.raises(UrlError, match="store option") as refused:
        open_store(url)

    assert hint in str(refused.value)


def test_a_misspelt_option_of_a_broker_names_the_likely_one() -> None:
    with pytest.raises(UrlError, match=r"broker option.*Did you mean prefix"):
        open_broker("redis://host/0?prefx=a")


def test_the_options_of_a_driver_reach_it_as_they_are_written() -> None:
    parts = urlsplit("postgresql://host/db?options=-c%20jit%3Doff&prefix=a_&password=a+b%2Fc")

    options, url = own_options(parts, ("prefix",))

    assert options == {"prefix": "a_"}
    assert url == "postgresql://host/db?options=-c%20jit%3Doff&password=a+b%2Fc"


def test_a_password_with_any_character_but_three_reaches_the_driver() -> None:
    pytest.importorskip("psycopg")
    open_store("postgresql://ann:p@ss%w[o]rd@127.0.0.1:1/db").close()
    open_store("redis://:p@ss%w[o]rd@127.0.0.1:1/0").close()
    with pytest.raises(UrlError, match="write / as %2F"):
        open_store("redis://:p/ss@127.0.0.1:1/0")


# Brokers


@pytest.mark.parametrize("url", ["", "store://", "store://?listen=0"])
@pytest.mark.parametrize("store_url", ["", "memory://", "mariadb://host/db", "redis://host/0"])
def test_the_store_is_its_own_broker_for_this_process(url: str, store_url: str) -> None:
    broker = open_broker(url, store_url=store_url)

    assert not broker.capabilities.carries
    assert not broker.capabilities.shared
    broker.close()


def test_an_sqlite_store_is_heard_by_other_processes(tmp_path: Path) -> None:
    broker = open_broker("", store_url=f"sqlite:///{tmp_path}/some%20jobs.db?prefix=mine_")

    (tmp_path / "some jobs.db").touch()
    broker.put([Message("lane", "ring")])

    assert broker.capabilities.shared
    assert (tmp_path / "some jobs.db-bell").exists()
    broker.close()


def test_postgresql_does_not_listen_if_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor needs the broker the driver then."""
    monkeypatch.setitem(sys.modules, "psycopg", None)

    silent = open_broker("store://?listen=0", store_url="postgresql://127.0.0.1:1/jobs")

    assert not silent.capabilities.shared
    silent.close()


def test_memory_is_a_broker_of_this_process() -> None:
    broker = open_broker("memory://")

    broker.put([Message("lane", "ring")])

    assert broker.has_any("lane")
    broker.close()


@pytest.mark.parametrize(
    "url",
    [
        "beanstalkd://127.0.0.1:1",
        "beanstalkd:///nowhere/beanstalkd.sock",
        "redis://ann:s3cret@127.0.0.1:1/0",
        "rediss://ann:s3cret@127.0.0.1:1/0?prefix=mine",
    ],
)
def test_a_broker_that_does_not_answer_is_told_without_the_password(url: str) -> None:
    broker = open_broker(url)

    with pytest.raises(BrokerUnavailable) as refused:
        broker.put([Message("lane", "ring")])

    assert "s3cret" not in str(refused.value)
    assert "127.0.0.1:1" in str(refused.value) or "nowhere" in str(refused.value)
    broker.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("beanstalk://host", "beanstalkd"),
        ("beanstalkd://", "beanstalkd://host:11300"),
        ("beanstalkd://host/tube", "beanstalkd://host:11300"),
        ("beanstalkd://ann:s3cret@host", "no passwords"),
        ("beanstalkd://host:port", "beanstalkd://127.0.0.1:11300"),
        ("beanstalkd://host?ttr=5", "no options"),
        ("redis://ann:s3cret@host:port/0", "beanstalkd://127.0.0.1:11300"),
        ("celery://ann:s3cret@host", "store://, beanstalkd://"),
        ("store://host", "store://?listen=1"),
        ("store://?listn=1", "listen"),
        ("store://?listen=yes", "0, or 1"),
        ("store://?listen=1", "PostgreSQL"),
        ("memory://host", "memory://"),
        ("host:11300", "beanstalkd://127.0.0.1:11300"),
    ],
)
def test_a_wrong_url_of_a_broker_says_what_is_right(url: str, told: str) -> None:
    with pytest.raises(UrlError) as refused:
        open_broker(url, store_url="sqlite:///jobs.db")

    assert told in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("driver", "url", "extra"),
    [("redis", "redis://host/0", "redis"), ("psycopg", "store://", "postgres")],
)
def test_a_missing_driver_of_a_broker_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, driver: str, url: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, driver, None)

    with pytest.raises(MissingExtra, match=rf'pip install "sempre\[{extra}\]"'):
        open_broker(url, store_url="postgresql://127.0.0.1/jobs", store=MemoryStore())
