"""How a worker ends: by a signal, from a terminal, or because its supervisor is gone.

Whatever ends it, no process is left behind, nothing is printed that frightens people, and what it
could not finish has an unknown outcome: it begins again elsewhere, or is held, as its policy says.
"""

from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from sempre.domain.states import State
from sempre.engine.ends import CUT_OFF
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet, Member, fleet_on
from tests.integration.fleet.effects import Effects, read_log
from tests.integration.fleet.hounded import AGAIN
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.processes import Process, send

LONG = pytest.mark.long
HOUNDED = "tests.integration.fleet.hounded"


def starts(fleet: Fleet) -> dict[str, int]:
    """Return how many runs of each line have begun."""
    found: dict[str, int] = {line.name: 0 for line in fleet.lines}
    for each in read_log(fleet.folder):
        found[each["schedule"]] += each["what"] == "start"
    return found


def wait_until_all_run(fleet: Fleet, times: int = 1) -> None:
    eventually(
        lambda: all(count >= times for count in starts(fleet).values()), otherwise=fleet.outputs
    )


def ask_to_end(member: Member, how: Signals) -> None:
    """Send a signal as its sender would: a terminal's go to the whole foreground group."""
    if how is SIGINT:
        member.interrupt()
    else:
        member.send(how)


@pytest.mark.parametrize(
    ("how", "processes"),
    [
        (SIGINT, 2),
        *(pytest.param(how, 1, marks=LONG) for how in (SIGINT, SIGTERM, SIGHUP)),
    ],
)
def test_one_signal_lets_what_runs_end_well(how: Signals, processes: int, tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated", processes=processes) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        ask_to_end(member, how)
        eventually(lambda: all_have_heard(member, processes), otherwise=fleet.outputs)
        before = starts(fleet)
        Effects(tmp_path).gate.touch()
        code = member.wait()

        assert code == 0
        assert starts(fleet) == before
        ends = [each for each in read_log(tmp_path) if each["what"] == "end"]
        assert len(ends) == sum(before.values())
        assert "Traceback" not in member.output


def all_have_heard(member: Member, processes: int) -> bool:
    return member.output.count("claims no more executions") >= processes


@LONG
@pytest.mark.parametrize("how", [SIGTERM, SIGINT])
def test_a_second_signal_ends_the_draining_and_what_it_cuts_off_begins_again(
    how: Signals, tmp_path: Path
) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated", settings={"drain": "10m"}) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        ask_to_end(member, how)
        eventually(lambda: all_have_heard(member, 1), otherwise=fleet.outputs)
        # Signals within a second are one, so an impatient person has to be so for longer.
        later = CLOCK.elapsed() + 1.5
        eventually(lambda: CLOCK.elapsed() > later)
        ask_to_end(member, how)
        code = member.wait()
        fleet.join()
        wait_until_all_run(fleet, times=2)

        assert code == 0
        assert "Traceback" not in member.output
        assert attempts_by_id(fleet) == [[1, 2]] * len(fleet.lines)


def test_a_signal_to_every_process_of_a_service_is_one_signal(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated") as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)
        [worker] = member.workers
        children = [each for each in member.processes if each.pid in runs_in_children(fleet)]

        # As systemd does, but for the children of jobs: those it ends at once.
        for each in member.processes:
            if each not in children:
                send(each.pid, SIGTERM)
        # At once: what comes a second later is another signal.
        send(worker.pid, SIGTERM)
        eventually(lambda: all_have_heard(member, 1), otherwise=fleet.outputs)
        Effects(tmp_path).gate.touch()

        assert member.wait() == 0
        log = read_log(tmp_path)
        assert len(children) == 1
        assert sum(each["what"] == "end" for each in log) == sum(starts(fleet).values())
        assert "Traceback" not in member.output


def test_a_signal_that_interrupts_the_hearing_of_another_is_heard_too(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated", alone=True, program=HOUNDED) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        member.send(SIGTERM)
        eventually(lambda: all_have_heard(member, 1), otherwise=fleet.outputs)
        Effects(tmp_path).gate.touch()

        assert member.wait() == 0
        assert AGAIN in member.output
        ends = [each for each in read_log(tmp_path) if each["what"] == "end"]
        assert len(ends) == sum(starts(fleet).values())
        assert "Traceback" not in member.output


def test_a_process_is_the_same_whatever_it_does_when_it_is_looked_at() -> None:
    sleeping = Process(7, "sempre-forksrv", "S", parent=6, session=5)

    assert Process(7, "sempre-forksrv", "R", parent=6, session=5) == sleeping
    assert Process(8, "sempre-forksrv", "S", parent=6, session=5) != sleeping


def runs_in_children(fleet: Fleet) -> set[int]:
    """Return the processes that jobs had for themselves."""
    names = {line.name for line in fleet.lines if line.isolation == "process"}
    return {each["pid"] for each in read_log(fleet.folder) if each["schedule"] in names}


@LONG
@pytest.mark.parametrize("store", ["redis", "postgresql", "mariadb"])
def test_a_worker_ends_well_while_the_store_is_down(store: str, tmp_path: Path) -> None:
    with (
        pairing_on(f"{store}+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="busy") as fleet,
    ):
        [member] = fleet.join()
        fleet.wait_for_running("process")
        assert pairing.database is not None

        pairing.database.kill()
        eventually(lambda: "store.unavailable" in member.output, otherwise=fleet.outputs)
        member.send(SIGTERM)
        code = member.wait()
        pairing.database.start()
        fleet.join(2)
        until = fleet.wait_for_slots(2.0)

        fleet.part()
        finding = fleet.finding(until)
        assert code == 0
        assert "Traceback" not in member.output
        assert not finding.doubled
        assert not finding.early


@LONG
def test_a_worker_without_a_supervisor_ends_well_by_ctrl_c(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated", alone=True) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        # Its heartbeat process and its fork server are in the same group, and get the signal too.
        member.interrupt()
        eventually(lambda: all_have_heard(member, 1), otherwise=fleet.outputs)
        Effects(tmp_path).gate.touch()

        assert member.wait() == 0
        ends = [each for each in read_log(tmp_path) if each["what"] == "end"]
        assert len(ends) == sum(starts(fleet).values())
        assert "Traceback" not in member.output


def test_what_a_drain_cannot_wait_for_is_on_record_and_begins_again(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="gated", settings={"drain": "1s"}) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        member.send(SIGTERM)
        code = member.wait()
        fleet.join()
        wait_until_all_run(fleet, times=2)

        assert code == 0
        assert attempts_by_id(fleet) == [[1, 2]] * len(fleet.lines)
        store = SqlStore(Sqlite(pairing.store.removeprefix("sqlite:///")))
        for identity in {each["id"] for each in read_log(tmp_path)}:
            [cut_off] = store.attempts(identity).value
            assert cut_off.error == CUT_OFF
        store.close()
        assert "Traceback" not in member.output


def attempts_by_id(fleet: Fleet) -> list[list[int]]:
    """Return the attempts that have begun at each execution."""
    found: dict[str, list[int]] = {}
    for each in read_log(fleet.folder):
        if each["what"] == "start":
            found.setdefault(each["id"], []).append(each["attempt"])
    return list(found.values())


def test_what_a_drain_cannot_wait_for_and_is_to_be_held_does_not_begin_again(
    tmp_path: Path,
) -> None:
    """Not even by the very next deploy: in a thread, on the loop or in a child."""
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="held", settings={"drain": "1s"}) as fleet,
    ):
        [member] = fleet.join()
        wait_until_all_run(fleet)

        member.send(SIGTERM)

        assert member.wait() == 0
        store = SqlStore(Sqlite(pairing.store.removeprefix("sqlite:///")))
        rows = {each["id"]: store.candidates([each["id"]]).value[0] for each in read_log(tmp_path)}
        assert len(rows) == len(fleet.lines)
        for row in rows.values():
            assert row.execution.state is State.FAILED
            assert (
                row.execution.reason == "unknown outcome: the worker stopped before the run ended"
            )
            assert row.view is not None
            assert row.view.schedule.pause is not None
            assert row.view.schedule.pause.until is None
        store.close()


@LONG
def test_a_signal_during_the_start_prints_no_traceback(tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        [member] = fleet.join()
        eventually(lambda: member.workers)

        member.interrupt()

        assert member.wait() == 0
        assert "Traceback" not in member.output


@pytest.mark.parametrize("processes", [pytest.param(1, marks=LONG), 2])
def test_workers_end_when_their_supervisor_is_killed(processes: int, tmp_path: Path) -> None:
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, processes=processes) as fleet,
    ):
        [member] = fleet.join()
        fleet.wait_for_slots(3.0)

        member.send(SIGKILL)

        assert member.wait() == -SIGKILL
        last = read_log(tmp_path)[-1]
        assert last["what"] == "end"


def test_a_store_in_memory_is_worked_on_in_one_process(tmp_path: Path) -> None:
    with (
        pairing_on("memory+memory", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="memory") as fleet,
    ):
        [member] = fleet.join()
        until = fleet.wait_for_slots(3.0)
        pids = {each["pid"] for each in read_log(tmp_path)}
        member.interrupt()

        assert member.wait() == 0
        assert pids == {member.pid}
        assert not fleet.finding(until).duplicated
        assert "Traceback" not in member.output
