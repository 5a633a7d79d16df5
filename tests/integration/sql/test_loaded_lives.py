"""Random lives that move: what is loaded is equal, and goes on equally in every store."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from sempre.app.transfer.lines import Line, read_record, write_line
from sempre.app.transfer.reading import Export
from sempre.domain.switch import Switch
from sempre.ports.load import Record
from sempre.ports.messages import Attempt
from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.side_by_side import SideBySide, VirtualClock

STEPS = 300


def life(seed: int, clock: VirtualClock) -> SideBySide:
    """Lead a life in two memory stores."""
    led = SideBySide(seed, clock, MemoryStore(clock), MemoryStore(clock))
    led.live(STEPS)
    return led


def records_of(store: Store) -> list[Line]:
    """Return all records, each read from its line."""
    lines = map(write_line, Export(store).records())
    return [read_record(json.loads(line)) for line in lines]


def lines_of(records: Iterable[Line]) -> list[str]:
    return sorted(map(write_line, loadable(records)))


def loadable(records: Iterable[Line]) -> list[Record]:
    """Return the records that a store loads: without switches, which end by the clock."""
    return [each for each in records if not isinstance(each, Switch)]


def move(lines: list[Line], target: Store) -> None:
    """Load records in batches, as an import does."""
    records = loadable(lines)
    fences = [each.fence for each in records if isinstance(each, Attempt)]
    target.upgrade(fence=max(fences, default=0) + STEPS)
    for switch in (each for each in lines if isinstance(each, Switch)):
        target.switch(switch, off=True)
    for first in range(0, len(records), 50):
        batch = records[first : first + 50]
        assert target.load(batch) == len(batch)
    assert target.load(records) == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_life_goes_on_after_its_move_as_in_the_memory_store(seed: int, tmp_path: Path) -> None:
    clock = VirtualClock()
    led = life(seed, clock)
    sqlite = SqlStore(Sqlite(tmp_path / "moved.db", clock=clock))

    go_on(led, records_of(led.stores[0]), MemoryStore(clock), sqlite)

    sqlite.close()


def go_on(led: SideBySide, records: list[Line], memory: Store, other: Store) -> None:
    """Load the records of a life into two stores, and lead the life on in both."""
    for store in (memory, other):
        move(records, store)
        assert lines_of(records_of(store)) == lines_of(records)
    led.stores = memory, other
    led.old_orders.clear()
    for session in led.sessions[:2]:
        led.register(session)
    led.live(STEPS)


@pytest.mark.parametrize("seed", range(2))
def test_a_life_is_equal_in_postgresql(seed: int, server: str) -> None:
    check(seed, SqlStore(Postgresql(server, schema=f"loaded_{seed}")))


@pytest.mark.parametrize("seed", range(2))
def test_a_life_is_equal_in_mariadb(seed: int, mariadb: str) -> None:
    check(seed, SqlStore(Mariadb(new_database(mariadb))))


def check(seed: int, store: Store) -> None:
    records = records_of(life(seed, VirtualClock()).stores[0])
    move(records, store)
    found = records_of(store)
    store.close()

    assert lines_of(found) == lines_of(records)
