"""The heartbeat process of a worker: what the jobs of the worker can and cannot do to it."""

from datetime import UTC, datetime
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import Fleet, fleet_on
from tests.integration.fleet.effects import Effects, read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.processes import children, send

# Nothing is asserted by it: far more than a lease, a sweep and the rest after a crash.
TAKEN_BACK = 30.0


def starts_of(fleet: Fleet, name: str) -> list[dict[str, Any]]:
    log = read_log(fleet.folder)
    return [each for each in log if each["schedule"] == name and each["what"] == "start"]


def slot_of(start: dict[str, Any]) -> str:
    return datetime.fromtimestamp(start["slot"], UTC).isoformat()


def test_a_worker_that_is_killed_is_missed_at_once_though_a_job_has_forked(
    tmp_path: Path,
) -> None:
    """The job's child lives on, with what it has inherited."""
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="forking") as fleet,
    ):
        [member] = fleet.join()
        [run, *_] = eventually(lambda: starts_of(fleet, "forking"), otherwise=fleet.outputs)
        [worker] = member.workers
        # The job's child, the heartbeat process and the fork server.
        eventually(lambda: len(children(worker.pid)) > 2)

        send(worker.pid, SIGKILL)
        rescued = f"execution.rescued {{'execution': 'forking:{slot_of(run)}"
        eventually(lambda: rescued in member.output, otherwise=fleet.outputs, patience=TAKEN_BACK)

        Effects(tmp_path).gate.touch()
        fleet.part()
        assert member.code == 0


def test_what_a_jobs_child_writes_to_inherited_pipes_costs_no_session(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="scribbling") as fleet,
    ):
        [member] = fleet.join()
        eventually(lambda: starts_of(fleet, "scribbling"), otherwise=fleet.outputs)
        [worker] = member.workers
        before = {each.pid for each in member.heartbeat_processes(worker)}
        # Past a lease: until then nobody would miss a heartbeat.
        fleet.wait_for_first()
        eventually(lambda: len(starts_of(fleet, "thread-wait")) > 5, otherwise=fleet.outputs)

        after = {each.pid for each in member.heartbeat_processes(worker)}
        Effects(tmp_path).gate.touch()
        fleet.part()
        assert before <= after
        assert "session.lost" not in member.output
        assert "to be replaced" not in member.output
        assert member.code == 0


@pytest.mark.long
def test_a_job_that_holds_the_interpreter_past_its_lease_costs_no_session(tmp_path: Path) -> None:
    with (
        pairing_on("redis+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="holding") as fleet,
    ):
        [member] = fleet.join()
        eventually(lambda: len(starts_of(fleet, "holding")) > 2, otherwise=fleet.outputs)
        until = fleet.wait_for_slots(1.0)

        fleet.part()
        finding = fleet.finding(until)
        assert "session.lost" not in member.output
        assert not finding.duplicated
        assert not finding.lost
