"""The clock of the store jumps ahead and comes back: in memory, SQLite, PostgreSQL, MariaDB."""

from pathlib import Path

from sempre.stores.memory import MemoryStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.jumping import Jump
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.side_by_side import VirtualClock
from tests.integration.sql.steered import open_steered


def test_in_memory_all_goes_on_after_a_jump() -> None:
    clock = VirtualClock()

    Jump(MemoryStore(clock), clock).judge()


def test_on_sqlite_all_goes_on_after_a_jump(tmp_path: Path) -> None:
    clock = VirtualClock()
    store, _ = open_steered(Sqlite(tmp_path / "jobs.db", clock=clock), clock)

    Jump(store, clock).judge()

    store.close()


def test_on_postgresql_all_goes_on_after_a_jump(server: str) -> None:
    clock = VirtualClock()
    store, _ = open_steered(Postgresql(server, schema="jumping"), clock)

    Jump(store, clock).judge()

    store.close()


def test_on_mariadb_all_goes_on_after_a_jump(mariadb: str) -> None:
    clock = VirtualClock()
    store, _ = open_steered(Mariadb(new_database(mariadb)), clock)

    Jump(store, clock).judge()

    store.close()
