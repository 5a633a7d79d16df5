"""What schedules keep whatever its age: examined once, and by no later pass."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sempre import Sempre
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, View
from sempre.ports.retention import Purge
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.contracts.store.builders import draft_schedule, now_of, row_of
from tests.integration.sql.mariadb_server import new_database
from tests.integration.sql.steered import Traced

DAY = timedelta(days=1)
KEPT = 100
SCHEDULES = 50


@pytest.fixture(params=["sqlite", "server", "mariadb"])
def traced(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[SqlStore, Traced]]:
    """A store, and the statements of its transactions."""
    dialect: Sqlite | Postgresql | Mariadb
    if request.param == "sqlite":
        dialect = Sqlite(tmp_path / "jobs.db")
    elif request.param == "server":
        dialect = Postgresql(request.getfixturevalue("server"), schema=f"kept_{uuid4().hex}")
    else:
        dialect = Mariadb(new_database(request.getfixturevalue("mariadb")))
    traces: Any = Traced(dialect)
    store = SqlStore(traces)
    store.upgrade()
    yield store, traces
    store.close()


def fill(store: SqlStore) -> None:
    """Write schedules whose executions are all old, and all kept but one."""
    now = now_of(store)
    for number in range(SCHEDULES):
        schedule = draft_schedule(store, f"daily {number}", keep=KEPT)
        rows = []
        for days in range(31, 31 + KEPT + (number == 0)):
            at = now - days * DAY
            times = {"first_started_at": at, "started_at": at, "finished_at": at}
            rows.append(
                row_of(View(schedule), at, kind=Kind.MANUAL, state=State.SUCCEEDED, **times)
            )
        assert store.create([Birth(schedule, tuple(rows))]) == [True]


def examined(traces: Traced) -> int:
    """Return how many pages of ended executions had rows, and begin to count anew."""
    found = sum("ended_page" in trace.found for trace in traces.traces)
    traces.traces.clear()
    return found


def test_a_second_pass_examines_none_of_5000_kept_executions(
    traced: tuple[SqlStore, Traced],
) -> None:
    store, traces = traced
    fill(store)
    app = Sempre(store)
    examined(traces)

    first = app.watchdog.perform()
    pages = examined(traces)
    again = store.last_pass().value
    store.finish_pass(holder=again.holder, report=again.report, due_in=timedelta(0))
    second = app.watchdog.perform()

    assert (first.purged, second.purged) == (1, 0)
    assert second.lock_acquired
    assert pages == 6
    assert examined(traces) == 0
    left = store.purge(Purge(before=now_of(store), limit=10_000, keep=0, count_only=True))
    assert left.count == SCHEDULES * KEPT
