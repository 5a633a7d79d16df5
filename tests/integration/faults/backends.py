"""The stores that have a server, opened at the server itself and through a proxy."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import pymysql  # type: ignore[import-untyped]

from sempre.ports.store import Store
from sempre.stores.redis import RedisStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.testing.polling import eventually
from tests.integration.proxy import LostReply, LostRequest, Proxy, Rule, Silence
from tests.integration.redis.redis_server import RedisServer
from tests.integration.sql.mariadb_server import MariadbServer, ask, new_database
from tests.integration.sql.postgresql_server import PostgresqlServer

__all__ = ["Backend", "mariadb", "postgresql", "redis"]

NUMBERS = count()
PATIENT = 30.0


@dataclass(frozen=True)
class Backend:
    """A place on a server for one store.

    Attributes:
        socket: of the server.
        opened: opens the store at a port, or at the server itself; with how many seconds to wait.
        decides: what the request says after which the server has decided.
        undone: how the answer begins that says that nothing was done.
        address: of the server itself, as the dialect takes it.
        schema: the tables are in, on PostgreSQL.
        drop_clients: has the server end every connection that it has.
    """

    socket: str
    opened: Callable[[int | None, float], Store]
    decides: bytes
    undone: bytes = b""
    address: str = ""
    schema: str = ""
    drop_clients: Callable[[], object] = lambda: None

    def direct(self) -> Store:
        """Open the store at the server itself."""
        return self.opened(None, PATIENT)

    def through(self, proxy: Proxy, patience: float = PATIENT) -> Store:
        """Open the store through a proxy."""
        return self.opened(proxy.port, patience)

    def lost_reply(self) -> Rule:
        """The server does it, and nobody hears of it."""
        return LostReply(self.decides, self.undone)

    def lost_request(self) -> Rule:
        """The server never hears that it should do it."""
        return LostRequest(self.decides)

    def silence_at_the_end(self) -> Rule:
        """The server falls silent when it should decide."""
        return Silence(self.decides)


def postgresql(server: PostgresqlServer) -> Backend:
    """Return a new schema."""
    schema = f"faults_{next(NUMBERS)}"

    def opened(port: int | None, patience: float) -> Store:
        address = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        times: dict[str, Any] = {"statement_after": patience, "connect_after": patience}
        return SqlStore(
            Postgresql(
                address if port else server.conninfo, schema=schema, wait=lambda _: None, **times
            )
        )

    def drop_clients() -> None:
        server.ask(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )

    return Backend(
        str(server.socket),
        opened,
        rb"\bCOMMIT\b",
        address=server.conninfo,
        schema=schema,
        drop_clients=drop_clients,
    )


def mariadb(server: MariadbServer) -> Backend:
    """Return a new database."""
    url = new_database(server.path)
    name = urlsplit(url).path

    def opened(port: int | None, patience: float) -> Store:
        address = f"mariadb://root@127.0.0.1:{port}{name}"
        times: dict[str, Any] = {"statement_after": patience, "connect_after": patience}
        return SqlStore(Mariadb(address if port else url, wait=lambda _: None, **times))

    def drop_clients() -> None:
        others = (
            "SELECT id FROM information_schema.processlist"
            " WHERE id <> CONNECTION_ID() AND user = 'root'"
        )
        found = set(ask(server.path, others))
        for (identity,) in found:
            with suppress(pymysql.OperationalError):  # it has gone by itself
                ask(server.path, f"KILL CONNECTION {identity}")
        # A connection that was told to end may still answer a little.
        eventually(lambda: not found & set(ask(server.path, others)))

    return Backend(server.path, opened, rb"\bCOMMIT\b", address=url, drop_clients=drop_clients)


def redis(server: RedisServer) -> Backend:
    """Return a new prefix."""
    prefix = f"faults_{next(NUMBERS)}"

    def opened(port: int | None, patience: float) -> Store:
        address = f"redis://127.0.0.1:{port}/0"
        return RedisStore(address if port else server.url, prefix=prefix, timeout=patience)

    return Backend(str(server.socket), opened, rb"\bEVAL(SHA)?\b", b"-NOSCRIPT")
