"""Several processes on one SQLite file: nothing is lost, nothing runs twice, nobody fails."""

import multiprocessing
import os
import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import Birth, ExecutionQuery, Work
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.processes import die_in_mid_write, work_until_done

SPAWN = multiprocessing.get_context("spawn")
SLOTS = 60
PIECES = 150


def set_up(path: Path) -> SqlStore:
    """Write schedules that are due, each with slots to catch up, and one-off work."""
    store = SqlStore(Sqlite(path))
    store.upgrade()
    now = store.last_pass().now
    births = []
    for number in range(20):
        began = now - timedelta(hours=SLOTS + 1)
        schedule = Schedule(
            id=f"s{number}",
            name=f"schedule {number}",
            definition=define(
                job="bill", grid=Every("1h"), catch_up=True, limit=SLOTS // 20, overlap="allow"
            ),
            created_at=began,
            cursor=began,
            started=True,
        )
        slot = schedule.definition.grid.after(began)
        assert slot is not None
        row = Execution(
            id=f"s{number}-first",
            created_at=began,
            kind=Kind.SCHEDULED,
            run_at=slot,
            due_at=slot,
            snapshot=schedule.snapshot(),
            schedule_id=schedule.id,
        )
        births.append(Birth(copy_with(schedule, next_run_at=slot), (row,)))
    assert all(store.create(births))
    store.enqueue([piece(number, now) for number in range(PIECES)])
    return store


def piece(number: int, now: datetime) -> Work:
    snapshot = Snapshot(name="piece", job="bill", args={"number": number})
    return Work(
        Execution(
            id=f"p{number}",
            kind=Kind.ENQUEUED,
            snapshot=snapshot,
            run_at=now,
            due_at=now,
            created_at=now,
        )
    )


def test_of_four_processes_one_is_killed_and_every_piece_runs_once(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    store = set_up(path)
    ids = [row.id for row in store.executions(ExecutionQuery(limit=1000)).value.items]
    killed = SPAWN.Process(target=die_in_mid_write, args=(str(path), ids))
    workers = [
        SPAWN.Process(target=work_until_done, args=(str(path), f"{path}.{name}", f"worker {name}"))
        for name in range(3)
    ]

    for process in [killed, *workers]:
        process.start()
    for process in [killed, *workers]:
        process.join(120)

    assert killed.exitcode == -signal.SIGKILL
    assert [process.exitcode for process in workers] == [0, 0, 0]
    journals = (each.read_text() for each in tmp_path.glob("jobs.db.[0-9]"))
    lines = [line for text in journals for line in text.splitlines()]
    keys = Counter(line.rpartition(" ")[0].rpartition(" ")[0] for line in lines)
    fences = Counter(int(line.split()[-1]) for line in lines)
    assert len(keys) == SLOTS + PIECES
    assert set(keys.values()) == {1}
    assert set(fences.values()) == {1}
    rows = store.executions(ExecutionQuery(limit=1000)).value.items
    assert Counter(row.state for row in rows) == {State.SUCCEEDED: SLOTS + PIECES}
    store.close()


def test_several_processes_may_set_the_store_up_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "jobs.db")
    processes = [SPAWN.Process(target=set_up_only, args=(path,)) for _ in range(4)]

    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0, 0, 0, 0]


def set_up_only(path: str) -> None:
    store = SqlStore(Sqlite(path))
    store.upgrade()
    assert store.uuid
    store.close()


# Newer versions of Python warn of a fork beside threads, which the test runner may have.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_a_connection_of_its_own(tmp_path: Path) -> None:
    store = SqlStore(Sqlite(tmp_path / "jobs.db"))
    store.upgrade()
    now = datetime(2026, 1, 1, tzinfo=UTC)

    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.enqueue([piece(number, now) for number in range(50)])
            code = 0
        finally:
            os._exit(code)
    store.enqueue([piece(number, now) for number in range(50, 100)])
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert len(store.executions(ExecutionQuery(limit=1000)).value.items) == 100
    store.close()
