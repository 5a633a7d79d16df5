"""Random lives in the SQL store and in the memory store: every answer is the same."""

from datetime import datetime
from pathlib import Path

import pytest

from sempre.domain.values import changed
from sempre.ports.messages import Order
from sempre.stores.memory import MemoryStore
from sempre.stores.memory.tables import Tables
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.side_by_side import SideBySide, VirtualClock


class MendedTables(Tables):
    """Does not write the stale base of a plan back, as `Tables` is known to do."""

    def write(self, order: Order, now: datetime) -> None:
        plan = order.plan
        if plan.schedule == plan.base:
            order = Order(changed(plan, schedule=None), order.ids)
        super().write(order, now)


def memory_store(clock: VirtualClock) -> MemoryStore:
    store = MemoryStore(clock)
    store._tables = MendedTables()  # noqa: SLF001
    return store


@pytest.mark.parametrize("seed", range(16))
def test_sqlite_answers_as_the_memory_store_does(seed: int, tmp_path: Path) -> None:
    clock = VirtualClock()
    store = SqlStore(Sqlite(tmp_path / "jobs.db", clock=clock))
    store.upgrade()

    SideBySide(seed, clock, memory_store(clock), store).live(400)

    store.close()
