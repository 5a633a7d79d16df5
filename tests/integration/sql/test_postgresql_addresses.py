"""PostgreSQL as a URL names it: several hosts, encodings, and a role with few rights."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from sempre.errors import StoreRefused, TransactionError
from sempre.ports.store import Store
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.contracts.store.builders import enqueued, work_of
from sempre.urls import UrlError, open_broker, open_store


@pytest.fixture
def folder(server: str) -> str:
    """The folder of the server's socket, as the host of a URL."""
    return quote(str(conninfo_to_dict(server)["host"]), safe="")


@pytest.fixture
def opened() -> Iterator[list[Store]]:
    stores: list[Store] = []
    yield stores
    for store in stores:
        store.close()


def test_the_first_of_several_hosts_that_answers_is_used(folder: str, opened: list[Store]) -> None:
    url = f"postgresql://postgres@{folder}:1,{folder}:5432/postgres?schema=hosts"
    store = open_store(url)
    opened.append(store)

    store.upgrade()
    broker = open_broker("store://", store_url=url, store=store)

    assert enqueued(store)
    broker.close()


def test_several_hosts_are_named_each_with_its_port() -> None:
    dialect = Postgresql("postgresql://ann:secret@one.lan:5432,two.lan:6432/jobs")

    assert dialect.callers.place == "PostgreSQL at one.lan:5432,two.lan:6432/jobs"


def test_one_port_is_the_port_of_every_host() -> None:
    dialect = Postgresql("host=one.lan,two.lan port=6432 dbname=jobs")

    assert dialect.callers.place == "PostgreSQL at one.lan:6432,two.lan:6432/jobs"


@pytest.mark.parametrize("hosts", ["one.lan:port,two.lan:5432", "one.lan:5432,two.lan:70000"])
def test_a_port_that_is_none_is_refused_without_the_password(hosts: str) -> None:
    with pytest.raises(UrlError) as refused:
        open_store(f"postgresql://ann:secret@{hosts}/jobs")

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["mariadb", "redis"])
def test_other_servers_have_one_host(scheme: str) -> None:
    with pytest.raises(UrlError):
        open_store(f"{scheme}://one.lan:1,two.lan:2/jobs")


def test_texts_are_sent_as_utf8_whatever_the_url_or_the_environment_says(
    folder: str, opened: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    url = f"postgresql://postgres@{folder}/postgres?schema=encoded&client_encoding=SQL_ASCII"
    store = open_store(url)
    opened.append(store)
    store.upgrade()
    mail = work_of(store, args={"to": "Zoë 😀"})

    store.enqueue([mail])

    [found] = store.candidates([mail.execution.id]).value
    assert found.execution.snapshot.args == {"to": "Zoë 😀"}


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_is_not_in_utf8_is_refused_with_the_remedy(
    encoding: str, server: str
) -> None:
    database = f"in_{encoding.lower()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {database} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    dialect = Postgresql(f"{server} dbname={database}")

    with pytest.raises(StoreRefused, match=f"(?s){encoding}.*ENCODING 'UTF8'"):
        dialect.read(lambda transaction: transaction.now)

    dialect.close()


def test_a_callers_connection_in_another_encoding_is_refused(
    server: str, opened: list[Store]
) -> None:
    store = open_store(f"postgresql:///postgres?{_options(server)}&schema=callers_encoding")
    opened.append(store)
    store.upgrade()
    with (
        psycopg.connect(server, client_encoding="LATIN1") as connection,
        pytest.raises(TransactionError, match="SET client_encoding TO 'UTF8'"),
    ):
        store.enqueue_within(connection, [work_of(store)])  # type: ignore[attr-defined]


def test_a_role_that_owns_its_schema_needs_no_right_to_create_others(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE ROLE tenant LOGIN")
        connection.execute("CREATE SCHEMA tenants AUTHORIZATION tenant")
        connection.execute("REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
    host = Path(str(conninfo_to_dict(server)["host"]))
    store = open_store(f"postgresql://tenant@/postgres?host={host}&schema=tenants")

    store.upgrade()
    store.upgrade(fence=7)

    assert enqueued(store)
    store.close()


def _options(server: str) -> str:
    known = conninfo_to_dict(server)
    return f"host={known['host']}&user={known['user']}"
