"""The clock of the store jumps ahead and comes back: in memory, SQLite, PostgreSQL, MariaDB."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sempre.grids.instants import microseconds_of
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.jumping import Jump
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.side_by_side import VirtualClock

T = TypeVar("T")


class SteeredPostgresql(Postgresql):
    """A server whose clock is the test's, in every statement that reads it."""

    clock = VirtualClock()
    _as_written: dict[str, str] | None = None

    def read(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().read(work)

    def write(self, work: Callable[[Transaction], T]) -> T:
        self._set_clock()
        return super().write(work)

    def _set_clock(self) -> None:
        if self._as_written is None:
            self._as_written = dict(self.statements)
        real = self._as_written["now"]
        steered = f"SELECT CAST({microseconds_of(self.clock.now())} AS bigint)"
        for name, text in self._as_written.items():
            if real in text:
                self.statements[name] = text.replace(real, steered)


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


def test_in_memory_all_goes_on_after_a_jump() -> None:
    clock = VirtualClock()

    Jump(MemoryStore(clock), clock).judge()


def test_on_sqlite_all_goes_on_after_a_jump(tmp_path: Path) -> None:
    clock = VirtualClock()
    store = SqlStore(Sqlite(tmp_path / "jobs.db", clock=clock))
    store.upgrade()

    Jump(store, clock).judge()

    store.close()


def test_on_postgresql_all_goes_on_after_a_jump(server: str) -> None:
    dialect = SteeredPostgresql(server, schema="jumping")
    dialect.clock = VirtualClock()
    store = SqlStore(dialect)
    store.upgrade()

    Jump(store, dialect.clock).judge()

    store.close()


def test_on_mariadb_all_goes_on_after_a_jump(mariadb: str) -> None:
    dialect = SteeredMariadb(new_database(mariadb))
    dialect.clock = VirtualClock()
    store = SqlStore(dialect)
    store.upgrade()

    Jump(store, dialect.clock).judge()

    store.close()
