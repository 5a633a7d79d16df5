"""A store that answers reads and refuses writes, or is down, ends no process of a fleet."""

from pathlib import Path
from signal import SIGKILL

import pytest

from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet, Member, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.processes import send
from tests.integration.fleet.unwritable import READ_ONLY, WITHOUT_RIGHTS, unwritable

WAYS = READ_ONLY | WITHOUT_RIGHTS
QUICK = ("redis: the memory is used up", "redis: ACL")
# Past the lease of three seconds, the silence of two leases, and five restarts.
LONG = 12.0


def cases() -> list[object]:
    marks = {way: () if way in QUICK else pytest.mark.long for way in WAYS}
    return [pytest.param(way, marks=marks[way]) for way in WAYS]


def wait_for_run_after(fleet: Fleet, instant: float, worker: int) -> None:
    """Wait until a process has run something after an instant."""

    def has_run() -> bool:
        log = read_log(fleet.folder)
        return any(each["at"] > instant and each["pid"] == worker for each in log)

    eventually(has_run, otherwise=fleet.outputs)


def processes_of(members: list[Member]) -> set[int]:
    """Return the pids of the workers and of their heartbeat processes."""
    workers = [(member, worker) for member in members for worker in member.workers]
    heartbeats = [
        each.pid for member, worker in workers for each in member.heartbeat_processes(worker)
    ]
    return {worker.pid for _, worker in workers} | set(heartbeats)


def pass_time(seconds: float) -> None:
    until = CLOCK.elapsed() + seconds
    eventually(lambda: CLOCK.elapsed() > until)


@pytest.mark.parametrize("way", cases())
def test_workers_wait_for_a_store_that_takes_no_writes_and_go_on_when_it_does(
    way: str, tmp_path: Path
) -> None:
    """The same processes, which say so once and then at intervals."""
    chosen = WAYS[way]
    with (
        unwritable(chosen, tmp_path) as (pairing, store),
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join(store=store)
        [worker] = eventually(lambda: member.workers)
        wait_for_run_after(fleet, 0.0, worker.pid)
        before = processes_of([member])

        chosen.harm(pairing.store)
        pass_time(LONG)
        during = processes_of([member])
        chosen.heal(pairing.store)
        wait_for_run_after(fleet, CLOCK.now().timestamp(), worker.pid)
        eventually(lambda: "store up again after" in member.output, otherwise=fleet.outputs)

        assert during == before, fleet.outputs()
        assert processes_of([member]) == before, fleet.outputs()
        assert member.output.count("store down: ") == 1, member.output
        fleet.part()
        assert member.code == 0
        assert "Traceback" not in member.output


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_a_worker_process_that_is_replaced_while_its_store_takes_no_writes_waits_too(
    way: str, tmp_path: Path
) -> None:
    """The store has accepted its predecessor, so that even a refusal will pass."""
    chosen = WAYS[way]
    with (
        unwritable(chosen, tmp_path) as (pairing, store),
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join(store=store)
        [worker] = eventually(lambda: member.workers)
        wait_for_run_after(fleet, 0.0, worker.pid)

        chosen.harm(pairing.store)
        send(worker.pid, SIGKILL)
        [other] = eventually(lambda: [each for each in member.workers if each != worker])
        pass_time(LONG)
        [waiting] = member.workers
        chosen.heal(pairing.store)
        wait_for_run_after(fleet, CLOCK.now().timestamp(), other.pid)

        assert waiting == other, fleet.outputs()
        assert "Traceback" not in member.output
        fleet.part()
        assert member.code == 0


@pytest.mark.long
@pytest.mark.parametrize("store", ["postgresql", "mariadb", "redis"])
def test_no_process_is_killed_for_a_store_that_is_down(store: str, tmp_path: Path) -> None:
    with (
        pairing_on(f"{store}+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join()
        [worker] = eventually(lambda: member.workers)
        wait_for_run_after(fleet, 0.0, worker.pid)
        before = processes_of([member])
        assert pairing.database is not None

        pairing.database.kill()
        pass_time(LONG)
        pairing.database.start()
        wait_for_run_after(fleet, CLOCK.now().timestamp(), worker.pid)

        assert processes_of([member]) == before, fleet.outputs()
        assert "Traceback" not in member.output
        fleet.part()
        assert member.code == 0
