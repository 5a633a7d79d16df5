"""On every store a row that this process cannot read is left alone, and hides no other."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.stores.redis import RedisStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.unreadable_rows import *  # noqa: F403
from sempre.testing.unreadable import BlindStore
from tests.contract.spoiling import Spoiler, on_memory, on_redis, on_sql
from tests.integration.sql.mariadb_server import new_database

STORES = ("memory", "sqlite", "postgresql", "mariadb", "redis")
SERVERS = {"postgresql", "mariadb", "redis"}


@pytest.fixture(scope="module", params=STORES)
def server(request: pytest.FixtureRequest) -> tuple[str, Any]:
    """Return the kind of a store, and its server if it has one."""
    kind: str = request.param
    return kind, request.getfixturevalue(kind) if kind in SERVERS else None


class Place(NamedTuple):
    """An empty store, how to write rows into it past its code, and the client of its server."""

    store: Store
    spoil: Spoiler
    client: Any = None


@contextmanager
def new_place(server: tuple[str, Any], folder: Path) -> Iterator[Place]:
    name, running = server
    if name == "memory":
        blind: Any = BlindStore(MemoryStore())
        yield Place(blind, on_memory(blind))
        return
    if name == "redis":
        with running.client() as client, closing(RedisStore(running.url)) as store:
            client.flushdb()
            store.upgrade()
            yield Place(store, on_redis(store, client), client)
        return
    name_of_its_own = f"rows_{uuid4().hex}"
    dialects: dict[str, Callable[[], Any]] = {
        "sqlite": lambda: Sqlite(folder / f"{name_of_its_own}.db"),
        "postgresql": lambda: Postgresql(running, schema=name_of_its_own, any_flush=True),
        "mariadb": lambda: Mariadb(new_database(running)),
    }
    with closing(SqlStore(dialects[name]())) as opened:
        opened.upgrade()
        yield Place(opened, on_sql(opened))


@pytest.fixture
def place(server: tuple[str, Any], tmp_path: Path) -> Iterator[Place]:
    with new_place(server, tmp_path) as found:
        yield found


@pytest.fixture
def store(place: Place) -> Store:
    return place.store


@pytest.fixture
def spoil(place: Place) -> Spoiler:
    return place.spoil
