"""A PostgreSQL server that comes back: whoever waits for a connection gets one, and soon.

The pool gives up connecting after a while, and by itself begins again only for the next who asks.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import psycopg
import pytest

from sempre.errors import StoreUnavailable
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from tools.scratch import scratch_root

# How long a call waits for a connection. The second caller asks later than the first.
PATIENCE = 4.0
LATER = 0.7 * PATIENCE
SOCKET = ".s.PGSQL.5432"


@pytest.fixture
def door() -> Iterator[Path]:
    """Return a folder in which a server can appear at once, by a link to its socket."""
    with TemporaryDirectory(prefix="sempre-", dir=scratch_root()) as folder:
        yield Path(folder) / SOCKET


class GivenUp(logging.Handler):
    """Hears that the pool has given up to connect."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = Event()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("reconnection attempt"):
            self.heard.set()


@pytest.fixture
def given_up() -> Iterator[Event]:
    handler, logger = GivenUp(), logging.getLogger("psycopg.pool")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler.heard
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


def test_a_call_that_waits_gets_a_connection_when_the_server_is_back(
    server: str, door: Path, given_up: Event
) -> None:
    real = Path(server.partition("host=")[2].partition(" ")[0]) / SOCKET
    address = server.replace(str(real.parent), str(door.parent))
    store = SqlStore(Postgresql(address, schema="back_again", connect_after=PATIENCE))
    # A server that has never answered is not waited for.
    door.symlink_to(real)
    store.upgrade()
    door.unlink()
    with psycopg.connect(server, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(store.upgrade)
        Event().wait(LATER)
        given_up.clear()
        second = threads.submit(store.upgrade)
        assert given_up.wait(60)

        door.symlink_to(real)

        assert second.exception() is None
        assert first.exception() is None or isinstance(first.exception(), StoreUnavailable)
    store.close()
