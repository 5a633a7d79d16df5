"""The supervisor: starts workers again that crash, and knows when that does not help."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL, SIGSTOP

import pytest

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.ports.messages import ExecutionQuery
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.polling import eventually
from tests.integration.fleet.crew import Fleet, Member, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.processes import send


def worker_of(member: Member, *besides: int) -> int:
    """Wait for a worker that is none of these; return its pid."""
    return eventually(lambda: next((w.pid for w in member.workers if w.pid not in besides), None))


def wait_for_work_of(fleet: Fleet, worker: int) -> None:
    """Wait until a worker process has run something."""
    eventually(
        lambda: worker in {each["pid"] for each in read_log(fleet.folder)}, otherwise=fleet.outputs
    )


def test_a_worker_that_crashes_in_mid_work_is_started_again_any_number_of_times(
    tmp_path: Path,
) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join()
        seen: list[int] = []
        for _ in range(6):
            worker = worker_of(member, *seen)
            wait_for_work_of(fleet, worker)
            seen.append(worker)
            send(worker, SIGKILL)

        wait_for_work_of(fleet, worker_of(member, *seen))

        fleet.part()
        assert member.code == 0


def test_the_store_knows_a_worker_by_the_process_that_runs_its_jobs(tmp_path: Path) -> None:
    """Not by the one that shows life for it: whoever looks for a worker has to find it."""
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single", processes=2) as fleet,
    ):
        [member] = fleet.join()
        store = SqlStore(Sqlite(pairing.store.removeprefix("sqlite:///")))
        fleet.wait_for_first()

        sessions = eventually(lambda: named if len(named := store.sessions().value) > 1 else None)

        assert {each.pid for each in sessions} == {each.pid for each in member.workers}
        store.close()


CRASHING = """
import logging
from sempre.clock import SystemClock
from sempre.engine.supervisor import Supervisor
logging.basicConfig(format="%(message)s")
Supervisor(lambda leash, begun: 1 // 0, processes=1, clock=SystemClock()).run_until_stopped()
"""


def test_five_crashes_before_any_run_end_it_with_the_reason() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHING], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert "5 worker processes crashed within a minute before they had begun a run" in done.stderr
    assert "exited with code 1; another worker starts in" in done.stderr
    assert done.stderr.count("ZeroDivisionError: integer division") == 5


def test_a_store_that_refuses_ends_it_at_once_with_the_reason(tmp_path: Path) -> None:
    with pairing_on("sqlite+store", tmp_path) as pairing, fleet_on(pairing, tmp_path) as fleet:
        newer = tmp_path / "newer.db"
        store = SqlStore(Sqlite(newer))
        store.upgrade()
        store.close()
        with sqlite3.connect(newer) as connection:
            connection.execute("UPDATE sempre_meta SET version = 999")
        connection.close()
        [member] = fleet.join(store=f"sqlite:///{newer}")

        assert member.wait() == 1
        assert member.output.count("the store has version 999 of the schema") == 1
        assert "StoreRefused" in member.output
        assert "another worker starts" not in member.output


def test_a_worker_whose_store_is_away_waits_for_it(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        away = tmp_path / "not mounted yet"
        [member] = fleet.join(store=f"sqlite:///{away / 'jobs.db'}")
        worker = worker_of(member)
        eventually(lambda: "does not answer; the next try is in 2 s" in member.output)

        away.mkdir()

        wait_for_work_of(fleet, worker)
        assert f"the store sqlite:///{away / 'jobs.db'} answers" in member.output
        fleet.part()
        assert member.code == 0


def test_a_worker_that_waits_for_its_store_can_be_stopped(tmp_path: Path) -> None:
    with pairing_on("sqlite+store", tmp_path) as pairing, fleet_on(pairing, tmp_path) as fleet:
        [member] = fleet.join(store=f"sqlite:///{tmp_path / 'nowhere' / 'jobs.db'}")
        eventually(lambda: "does not answer" in member.output)

        fleet.part()

        assert member.code == 0
        assert "Traceback" not in member.output


def test_a_job_that_kills_its_worker_ends_neither_the_daemon_nor_its_neighbours(
    tmp_path: Path,
) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="fatal") as fleet,
    ):
        [member] = fleet.join()
        store = SqlStore(Sqlite(pairing.store.removeprefix("sqlite:///")))
        fleet.wait_for_first()
        eventually(lambda: quarantined(store) >= CULPRITS, otherwise=fleet.outputs)
        until = fleet.wait_for_slots(8.0)

        assert member.code is None
        fleet.part()
        assert member.code == 0
        failed = executions(store, State.FAILED)
        assert {row.snapshot.name for row in failed} == CULPRITS
        assert {row.reason.partition(":")[0] for row in failed} == {"quarantined"}
        done = [row for row in executions(store, State.SUCCEEDED) if row.crashes]
        assert done, "no neighbour was in flight when the worker died"
        assert not fleet.finding(until).lost
        store.close()


CULPRITS = {"fatal", "fatal-async"}


def executions(store: SqlStore, state: State) -> tuple[Execution, ...]:
    """Return the executions in a state."""
    return store.executions(ExecutionQuery(states=frozenset({state}), limit=1000)).value.items


def quarantined(store: SqlStore) -> set[str]:
    """Return the schedules of which something was quarantined."""
    rows = executions(store, State.FAILED)
    return {row.snapshot.name for row in rows if row.reason.startswith("quarantined")}


def test_a_worker_process_that_crashes_is_logged_with_what_happens_next(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join()
        worker = worker_of(member)
        wait_for_work_of(fleet, worker)

        send(worker, SIGKILL)

        told = f"worker process {worker} was killed by SIGKILL; another worker starts in 0.2 s"
        eventually(lambda: told in member.output, otherwise=fleet.outputs)


@pytest.mark.long
def test_the_crash_of_a_process_of_its_own_never_ends_a_worker(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="crashing") as fleet,
    ):
        [member] = fleet.join()
        worker = worker_of(member)
        until = fleet.wait_for_slots(8.0)

        eventually(lambda: 3 in attempts_at(fleet, "crashing"), otherwise=fleet.outputs)
        workers = [each.pid for each in member.workers]
        fleet.part()
        crashed = [each for each in read_log(tmp_path) if each["schedule"] == "crashing"]
        assert len({each["slot"] for each in crashed}) > 1
        assert max(attempts_at(fleet, "crashing")) == 3
        assert workers == [worker]
        assert not fleet.finding(until).duplicated["thread-wait"]


def attempts_at(fleet: Fleet, name: str) -> set[int]:
    """Return which attempts at slots of a schedule have begun."""
    return {each["attempt"] for each in read_log(fleet.folder) if each["schedule"] == name}


@pytest.mark.long
def test_a_worker_whose_fork_server_is_killed_in_mid_run_is_replaced(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="forked") as fleet,
    ):
        [member] = fleet.join()
        fleet.wait_for_slots(3.0)
        [worker] = member.workers
        [server] = member.fork_servers(worker)

        send(server.pid, SIGKILL)
        until = fleet.wait_for_slots(4.0)
        successors = member.workers

        fleet.part()
        assert worker not in successors
        assert not fleet.finding(until).lost


@pytest.mark.long
@pytest.mark.parametrize("harmed", ["heartbeat process", "fork server"])
def test_a_worker_whose_other_process_is_killed_is_replaced(harmed: str, tmp_path: Path) -> None:
    with pairing_on("sqlite+store", tmp_path) as pairing, fleet_on(pairing, tmp_path) as fleet:
        [member] = fleet.join()
        fleet.wait_for_slots(3.0)
        [worker] = member.workers
        targets = (
            member.heartbeat_processes(worker)
            if harmed == "heartbeat process"
            else member.fork_servers(worker)
        )

        for each in targets:
            send(each.pid, SIGKILL)
        until = fleet.wait_for_slots(4.0)

        fleet.part()
        assert len(targets) == 1
        assert not fleet.finding(until).early
        assert not fleet.finding(until).doubled


@pytest.mark.long
def test_a_run_past_its_timeout_in_a_frozen_worker_is_taken_over(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="limited") as fleet,
    ):
        fleet.join(2)
        run = fleet.wait_for_running()
        send(run["pid"], SIGSTOP)

        # Several times its timeout, the lease and the sweep.
        eventually(lambda: run["pid"] not in last_starts(fleet, run["id"]), patience=20)
        told = f"worker process {run['pid']} is killed: it gave no sign of life for"
        eventually(lambda: told in fleet.outputs(), otherwise=fleet.outputs)


def last_starts(fleet: Fleet, execution: str) -> set[int]:
    """Return the process of the last start of an execution."""
    starts = [each for each in read_log(fleet.folder) if each["id"] == execution]
    return {each["pid"] for each in starts[-1:]}
