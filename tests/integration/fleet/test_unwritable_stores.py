"""A store that answers reads and refuses writes, or is down, ends no process of a fleet."""

from pathlib import Path

import pytest

from tests.integration.fleet.crew import CLOCK, Fleet, Member, eventually, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.unwritable import READ_ONLY, WITHOUT_RIGHTS, unwritable

WAYS = READ_ONLY | WITHOUT_RIGHTS
QUICK = ("redis: the memory is used up", "redis: ACL")
# Past the lease of three seconds, the silence of two leases, and five restarts.
LONG = 12.0
# Before a worker has begun, and after.
WAITS = ("does not answer", "store.unavailable")
GOES_ON = ("answers", "store.available")


def cases() -> list[object]:
    marks = {way: () if way in QUICK else pytest.mark.long for way in WAYS}
    return [pytest.param(way, marks=marks[way]) for way in WAYS]


def wait_for_run_after(fleet: Fleet, instant: float, *workers: int) -> None:
    """Wait until each of these processes has run something after an instant."""

    def have_run() -> bool:
        ran = {each["pid"] for each in read_log(fleet.folder) if each["at"] > instant}
        return ran >= set(workers)

    eventually(have_run, otherwise=fleet.outputs)


def processes_of(members: list[Member]) -> set[int]:
    """Return the pids of the workers and of their heartbeat processes."""
    workers = [(member, worker) for member in members for worker in member.workers]
    pulses = [each.pid for member, worker in workers for each in member.pulses(worker)]
    return {worker.pid for _, worker in workers} | set(pulses)


def pass_time(seconds: float) -> None:
    until = CLOCK.elapsed() + seconds
    eventually(lambda: CLOCK.elapsed() > until)


@pytest.mark.parametrize("way", cases())
def test_workers_wait_for_a_store_that_takes_no_writes_and_go_on_when_it_does(
    way: str, tmp_path: Path
) -> None:
    """The same processes; so does a member that starts meanwhile. Each says so a few times only."""
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
        [late] = fleet.join(store=store)
        pass_time(LONG)
        eventually(lambda: has_said(late, *WAITS), otherwise=fleet.outputs)
        during = processes_of([member, late])
        chosen.heal(pairing.store)
        healed_at = CLOCK.now().timestamp()
        [other] = late.workers
        eventually(lambda: ran_after(fleet, healed_at), otherwise=fleet.outputs)
        eventually(lambda: "store.available" in member.output, otherwise=fleet.outputs)
        eventually(lambda: has_said(late, *GOES_ON), otherwise=fleet.outputs)

        assert during >= before, fleet.outputs()
        assert processes_of([member, late]) == during, fleet.outputs()
        assert {worker.pid, other.pid} <= during
        for each in (member, late):
            assert "Traceback" not in each.output
            # In the words of the logs: once, and then at intervals.
            assert each.output.count("store down: ") <= 1, each.output
        fleet.part()
        assert (member.code, late.code) == (0, 0)


def has_said(member: Member, *words: str) -> bool:
    return any(word in member.output for word in words)


def ran_after(fleet: Fleet, instant: float) -> bool:
    return any(each["at"] > instant for each in read_log(fleet.folder))


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
