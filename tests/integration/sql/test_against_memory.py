"""Random lives in the SQL store and in the memory store: every answer is the same."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from sempre.grids.instants import microseconds_of
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.side_by_side import SideBySide, VirtualClock

T = TypeVar("T")
# How a statement asks for the server's clock, real or steered.
_NOW = re.compile(r"SELECT CAST\((floor\(.*?1000000\)|\d+) AS bigint\)")


class SteeredPostgresql(Postgresql):
    """A server whose clock is the test's."""

    clock = VirtualClock()

    def read(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().read(work)

    def write(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().write(work)

    def _set_clock(self) -> None:
        real = _NOW.search(self.statements["tick"])
        assert real
        steered = f"SELECT CAST({microseconds_of(self.clock.now())} AS bigint)"
        self.statements["tick"] = self.statements["tick"].replace(real[0], steered)
        self.statements["now"] = steered


class SteeredMariadb(Mariadb):
    """A server whose clock is the test's."""

    clock = VirtualClock()

    def read(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().read(work)

    def write(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().write(work)

    def _set_clock(self) -> None:
        self.statements["now"] = f"SELECT {microseconds_of(self.clock.now())}"


@pytest.mark.parametrize("seed", range(16))
def test_sqlite_answers_as_the_memory_store_does(seed: int, tmp_path: Path) -> None:
    clock = VirtualClock()
    store = SqlStore(Sqlite(tmp_path / "jobs.db", clock=clock))
    store.upgrade()

    SideBySide(seed, clock, MemoryStore(clock), store).live(400)

    store.close()


@pytest.mark.parametrize("seed", range(100, 104))
def test_postgresql_answers_as_the_memory_store_does(seed: int, server: str) -> None:
    dialect = SteeredPostgresql(server, schema=f"beside_{seed}")
    dialect.clock = VirtualClock()
    store = SqlStore(dialect)
    store.upgrade()

    SideBySide(seed, dialect.clock, MemoryStore(dialect.clock), store).live(300)

    store.close()


@pytest.mark.parametrize("seed", range(200, 204))
def test_mariadb_answers_as_the_memory_store_does(seed: int, mariadb: str) -> None:
    dialect = SteeredMariadb(new_database(mariadb))
    dialect.clock = VirtualClock()
    store = SqlStore(dialect)
    store.upgrade()

    SideBySide(seed, dialect.clock, MemoryStore(dialect.clock), store).live(300)

    store.close()
