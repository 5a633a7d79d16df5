"""Every server behind TLS: verified by a private authority, and refused by any other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sempre.brokers.redis import RedisBroker
from sempre.errors import BrokerUnavailable, StoreError
from sempre.ports.broker import Message
from sempre.ports.store import Store
from sempre.stores.redis import RedisStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store.builders import enqueued
from sempre.urls import open_broker, open_store
from tests.integration.redis.redis_server import redis_server
from tests.integration.sql.mariadb_server import ask, mariadb_server
from tests.integration.sql.postgresql_server import running_postgresql, unprivileged
from tests.integration.tls.authority import Authority, authority, free_port

Address = Callable[[str, Path], str]
"""Makes a URL of a host and the file of the authority that it is verified by."""


@pytest.fixture(scope="module")
def ours() -> Iterator[Authority]:
    with authority() as made:
        yield made


@pytest.fixture(scope="module")
def foreign() -> Iterator[Authority]:
    with authority() as made:
        yield made


@contextmanager
def postgresql(ours: Authority) -> Iterator[Address]:
    port = str(free_port())
    unprivileged(ours.key)
    with running_postgresql(
        listen_addresses="127.0.0.1",
        port=port,
        ssl="on",
        ssl_cert_file=str(ours.certificate),
        ssl_key_file=str(ours.key),
    ):
        yield (
            lambda host, root: (
                f"postgresql://postgres@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={root}"
            )
        )


@contextmanager
def mariadb(ours: Authority) -> Iterator[Address]:
    port = free_port()
    options = ["--skip-networking=0", "--bind-address=127.0.0.1", f"--port={port}"]
    files = [f"--ssl-cert={ours.certificate}", f"--ssl-key={ours.key}"]
    with mariadb_server(*options, *files) as server:
        ask(server, "CREATE DATABASE jobs")
        ask(server, "CREATE USER jobs@'%' IDENTIFIED BY 'secret' REQUIRE SSL")
        ask(server, "GRANT ALL ON jobs.* TO jobs@'%'")
        yield lambda host, root: f"mariadb://jobs:secret@{host}:{port}/jobs?ssl_ca={root}"


@contextmanager
def redis(ours: Authority) -> Iterator[Address]:
    port = free_port()
    with redis_server(
        tls_port=str(port),
        tls_cert_file=str(ours.certificate),
        tls_key_file=str(ours.key),
        tls_ca_cert_file=str(ours.root),
        tls_auth_clients="no",
    ):
        yield (
            lambda host, root: (
                f"rediss://{host}:{port}/0?ssl_ca_certs={root}&ssl_check_hostname=true"
            )
        )


@pytest.fixture(scope="module", params=[postgresql, mariadb, redis], ids=lambda each: each.__name__)
def address(request: pytest.FixtureRequest, ours: Authority) -> Iterator[Address]:
    with request.param(ours) as made:
        yield made


def impatient(url: str) -> Store:
    """Return the store of a URL that gives up soon."""
    if url.startswith("postgresql:"):
        return SqlStore(Postgresql(url, connect_after=1.0))
    if url.startswith("mariadb:"):
        return SqlStore(Mariadb(url, wait=lambda _: None))
    return RedisStore(url)


def test_a_store_is_used_by_the_name_that_its_authority_vouches_for(
    address: Address, ours: Authority
) -> None:
    url = address("localhost", ours.root)
    store = open_store(url)
    store.upgrade()
    broker = open_broker("store://", store_url=url, store=store)

    assert enqueued(store)

    broker.wake()
    broker.close()
    store.close()


def test_a_server_that_another_authority_vouches_for_is_refused(
    address: Address, foreign: Authority
) -> None:
    store = impatient(address("localhost", foreign.root))

    with pytest.raises(StoreError, match=r"(?i)tls|ssl|certificate"):
        store.upgrade()

    store.close()


def test_a_server_under_another_name_is_refused(address: Address, ours: Authority) -> None:
    store = impatient(address("127.0.0.1", ours.root))

    with pytest.raises(StoreError, match=r"(?i)tls|ssl|certificate"):
        store.upgrade()

    store.close()


def test_a_broker_is_verified_likewise(ours: Authority, foreign: Authority) -> None:
    with redis(ours) as address:
        good = open_broker(address("localhost", ours.root))
        good.put([Message("lane", "ring")])
        good.close()

        for host, root in (("localhost", foreign.root), ("127.0.0.1", ours.root)):
            bad = RedisBroker(address(host, root))
            with pytest.raises(BrokerUnavailable, match="certificate"):
                bad.put([Message("lane", "ring")])
            bad.close()
