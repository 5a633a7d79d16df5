"""Database servers that must not be used are refused with the remedy, unless somebody insists."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from sempre.errors import StoreRefused, StoreUnavailable
from sempre.ports.messages import Session
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.postgresql.connection import check_server
from sempre.testing.contracts.store.builders import LEASE
from sempre.urls import open_store
from tests.integration.sql.mariadb_server import ask, new_database
from tests.integration.sql.postgresql_server import PostgresqlServer, running_postgresql
from tools.scratch import scratch_root

NUMBERS = count()
SOUND = ("UTF8", False, "off", "on", "on")


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresqlServer]:
    with running_postgresql() as server:
        yield server


@contextmanager
def standby_of(primary: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """Run a server that follows another one, and can take its place."""
    folder = Path(tempfile.mkdtemp(prefix="sempre-", dir=scratch_root()))
    standby = PostgresqlServer(folder, {})
    copied = ["-D", str(standby.data), "-R", "-X", "stream", "-c", "fast", "--no-sync"]
    try:
        standby.run("pg_basebackup", "-h", str(primary.folder), "-U", "postgres", *copied)
        standby.start()
        yield standby
    finally:
        standby.stop()
        shutil.rmtree(folder, ignore_errors=True)


def opened(conninfo: str, **accepted: bool) -> SqlStore:
    """Open a store that is not set up, in a schema of its own."""
    schema = f"probe_{next(NUMBERS)}"
    return SqlStore(Postgresql(conninfo, schema=schema, wait=lambda _: None, **accepted))  # type: ignore[arg-type]


def test_a_standby_is_refused_until_it_takes_over(primary: PostgresqlServer) -> None:
    store = SqlStore(Postgresql(primary.conninfo, schema="followed"))
    store.upgrade()
    with standby_of(primary) as standby:
        refused = SqlStore(Postgresql(standby.conninfo, schema="followed"))
        looking = SqlStore(Postgresql(standby.conninfo, schema="followed", read_only=True))

        with pytest.raises(StoreRefused, match=r"Connect to the primary server.*\?read_only=1"):
            refused.upgrade()
        with pytest.raises(StoreRefused, match="standby"):
            refused.sessions()
        assert looking.uuid == store.uuid
        [weaker] = looking.weaker_promises
        assert "standby" in weaker
        with pytest.raises(StoreUnavailable, match="read-only"):
            looking.register(Session("worker"), lease=LEASE)

        standby.run("pg_ctl", "promote", "-w", "-D", str(standby.data))
        refused.register(Session("worker"), lease=LEASE)
        assert refused.weaker_promises == ()
        for each in (store, refused, looking):
            each.close()


@pytest.mark.parametrize(
    ("settings", "remedy", "accepted"),
    [
        ({"fsync": "off"}, "ALTER SYSTEM SET fsync = on", "any_flush"),
        ({"full_page_writes": "off"}, "ALTER SYSTEM SET full_page_writes = on", "any_flush"),
        ({"default_transaction_read_only": "on"}, "primary server", "read_only"),
    ],
)
def test_a_server_that_breaks_promises_is_refused(
    settings: dict[str, str], remedy: str, accepted: str
) -> None:
    with running_postgresql(**settings) as server:
        store, insisting = opened(server.conninfo), opened(server.conninfo, **{accepted: True})

        with pytest.raises(StoreRefused, match=remedy) as refusal:
            store.upgrade()

        assert f"?{accepted}=1 in the store URL" in str(refusal.value)
        insisting.upgrade()
        [weaker] = insisting.weaker_promises
        assert next(iter(settings)) in weaker
        url = f"postgresql://postgres@/postgres?host={server.folder}&schema=by_url&{accepted}=1"
        by_url = open_store(url)
        by_url.upgrade()
        for each in (store, insisting, by_url):
            each.close()


def test_a_sound_server_promises_nothing_less(primary: PostgresqlServer) -> None:
    store = opened(primary.conninfo)

    assert store.weaker_promises == ()
    assert check_server(SOUND, "here", any_flush=False, read_only=False) == ()
    store.close()


@pytest.mark.parametrize("value", ["off", "local", "remote_write"])
def test_a_commit_waits_for_the_disk_though_the_server_would_not(
    primary: PostgresqlServer, value: str
) -> None:
    """So there is nothing to refuse: the promise does not depend on the server's default."""
    dialect = Postgresql(f"{primary.conninfo} options='-c synchronous_commit={value}'")
    dialect.statements["shown"] = "SELECT current_setting('synchronous_commit')"

    assert dialect.write(lambda transaction: transaction.rows("shown")) == [("on",)]
    assert dialect.weaker_promises() == ()
    dialect.close()


def test_a_server_that_becomes_read_only_is_unavailable_until_it_is_not(
    primary: PostgresqlServer,
) -> None:
    """A failover, which ends; what was never good is refused for good."""
    store = opened(primary.conninfo)
    store.upgrade()
    leave = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    primary.ask("ALTER DATABASE postgres SET default_transaction_read_only = on")
    try:
        primary.ask(leave)
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.sessions()
        fresh = opened(primary.conninfo)
        with pytest.raises(StoreRefused, match="read-only"):
            fresh.upgrade()
        fresh.close()
    finally:
        primary.ask(
            "BEGIN READ WRITE;ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT"
        )
        primary.ask(leave)

    assert store.sessions().value == []
    store.close()


@pytest.mark.parametrize(
    ("variable", "weak", "sound", "accepted"),
    [
        ("innodb_flush_log_at_trx_commit", "2", "1", "any_flush"),
        ("read_only", "1", "0", "read_only"),
    ],
)
def test_a_mariadb_that_is_accepted_shows_what_it_promises_less(
    mariadb: str, *, variable: str, weak: str, sound: str, accepted: str
) -> None:
    url = new_database(mariadb)
    before, refused = SqlStore(Mariadb(url, connections=1)), SqlStore(Mariadb(url))
    before.upgrade()
    assert before.weaker_promises == ()
    told = open_store(f"{url}&{accepted}=1")
    assert isinstance(told, SqlStore)
    ask(mariadb, f"SET GLOBAL {variable} = {weak}")
    try:
        with pytest.raises(StoreRefused, match=rf"\?{accepted}=1"):
            refused.sessions()
        assert told.sessions().value == []
        [weaker] = told.weaker_promises
        assert variable.replace("_", "-") in weaker or variable in weaker
        drop_connections(mariadb)
        with pytest.raises(StoreUnavailable, match=rf"\?{accepted}=1"):
            before.sessions()
    finally:
        ask(mariadb, f"SET GLOBAL {variable} = {sound}")

    assert before.sessions().value == []
    for each in (before, refused, told):
        each.close()


def drop_connections(server: str) -> None:
    others = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
    for (identity,) in ask(server, f"{others} AND user = 'root'"):
        ask(server, f"KILL SOFT CONNECTION {identity}")
