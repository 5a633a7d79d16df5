"""Children whose time is over, whose worker or fork server has died: no process is left."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.testing.polling import eventually
from tests.integration.executors.hosting import Worker, descendants, fork_server, wait_for_exit

FOREVER = 3600.0
DIED = "the fork server of this worker died, and all child processes with it"
AT_REST = ["child S"] * 2 + ["fork server S"]


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


@pytest.fixture
def impatient() -> Iterator[Worker]:
    with Worker(grace=0.05) as made:
        yield made


def wait_for_rest(worker: Worker) -> None:
    """Return when a worker that has had runs has its fork server and the children that wait."""
    eventually(lambda: sorted(descendants(worker.process.pid).values()) == AT_REST)


def test_a_child_whose_time_is_over_is_ended_by_sigterm(worker: Worker) -> None:
    outcome = worker.run("hang", timeout=0.5)

    assert outcome["ended"] == "timed out"
    assert outcome["error"] == "timed out after 0.5s"
    assert outcome["seconds"] >= 0.5
    wait_for_rest(worker)
    assert worker.ask("stuck") == 0


def test_a_child_that_ignores_sigterm_is_killed_after_the_grace(impatient: Worker) -> None:
    assert impatient.run("hang_stubbornly", timeout=0.5)["ended"] == "timed out"
    wait_for_rest(impatient)

    identity = impatient.submit("hang_stubbornly")
    impatient.read_line()
    impatient.ask("cancel", identity=identity, reason="by ann")
    assert impatient.outcome()["ended"] == "cancelled"
    wait_for_rest(impatient)
    assert impatient.ask("stuck") == 0


def test_a_child_that_is_cancelled_ends(worker: Worker) -> None:
    identity = worker.submit("hang", timeout=FOREVER)
    worker.read_line()

    assert worker.ask("cancel", identity=identity, reason="by ann") is True
    outcome = worker.outcome()
    assert (outcome["ended"], outcome["error"]) == ("cancelled", "cancelled: by ann")
    assert worker.ask("cancel", identity=identity, reason="again") is False


def test_a_child_that_is_cancelled_before_it_is_born_ends(impatient: Worker) -> None:
    for _ in range(20):
        identity = impatient.submit("hang")
        impatient.ask("cancel", identity=identity, reason="at once")
        assert impatient.outcome()["ended"] == "cancelled"


def test_a_job_that_polls_is_not_ended_but_ends_itself(worker: Worker) -> None:
    identity = worker.submit("listen")
    assert worker.read_line() == "polling"

    worker.ask("cancel", identity=identity, reason="by ann è")

    outcome = worker.outcome()
    assert (outcome["ended"], outcome["error"]) == ("cancelled", "cancelled: by ann è")
    assert worker.read_line() == "cancelled: by ann è"


def test_a_job_that_polls_learns_that_its_time_is_over(worker: Worker) -> None:
    worker.submit("listen", timeout=3)
    worker.read_line()

    assert worker.outcome()["ended"] == "timed out"
    assert worker.read_line() == "cancelled: its time is over"


def test_a_job_that_finishes_though_it_was_cancelled_has_succeeded(worker: Worker) -> None:
    identity = worker.submit("finish_all_the_same")
    worker.read_line()
    worker.ask("cancel", identity=identity, reason="by ann")

    outcome = worker.outcome()

    assert (outcome["ended"], outcome["result"]) == ("succeeded", "done")


def test_a_job_that_finishes_after_its_time_was_late(worker: Worker) -> None:
    assert worker.run("finish_all_the_same", timeout=0.5)["ended"] == "timed out"


def test_what_a_child_has_started_ends_with_it(worker: Worker) -> None:
    identity = worker.submit("hang_with_a_grandchild")
    assert worker.read_line() == "stubborn"
    worker.ask("cancel", identity=identity, reason="by ann")
    assert worker.outcome()["ended"] == "cancelled"

    worker.submit("crash_with_a_grandchild")
    assert worker.read_line() == "stubborn"
    assert "SIGABRT" in worker.outcome()["error"]

    # The grandchildren ignore SIGTERM; the pipe ends when no process is left that holds it.
    worker.process.kill()
    assert worker.read_line() == ""


@pytest.mark.parametrize("no_prctl", [False, True])
@pytest.mark.parametrize("job", ["hang", "hang_stubbornly", "hang_with_a_grandchild"])
def test_nothing_survives_a_worker_that_is_killed(job: str, no_prctl: bool) -> None:  # noqa: FBT001
    with Worker(no_prctl=no_prctl) as worker:
        for _ in range(3):
            worker.submit(job)
            worker.read_line()

        worker.process.kill()

        # The end of the pipe: no process is left that had inherited it.
        assert worker.read_line() == ""


@pytest.mark.parametrize("no_prctl", [False, True])
def test_runs_of_a_fork_server_that_is_killed_have_crashed_and_the_worker_is_to_be_replaced(
    no_prctl: bool,  # noqa: FBT001
) -> None:
    with Worker(no_prctl=no_prctl) as worker:
        identities = {worker.submit(job) for job in ("hang", "hang", "hang_stubbornly")}
        pids = [int(worker.read_line()) for _ in identities]

        os.kill(fork_server(worker), signal.SIGKILL)

        found = [worker.outcome() for _ in identities]
        assert {outcome["id"] for outcome in found} == identities
        assert {outcome["ended"] for outcome in found} == {"crashed"}
        assert {outcome["error"] for outcome in found} == {DIED}
        for pid in pids:
            wait_for_exit(pid)
        assert worker.ask("broken") == [DIED]
        assert worker.run("echo")["error"] == f"it could not begin: {DIED}; restart the worker"
        assert descendants(worker.process.pid) == {}


def test_a_run_that_is_submitted_while_the_fork_server_dies_has_crashed(worker: Worker) -> None:
    server = fork_server(worker)
    os.kill(server, signal.SIGSTOP)
    identities = {worker.submit("echo") for _ in range(5)}

    os.kill(server, signal.SIGKILL)
    identities |= {worker.submit("echo") for _ in range(5)}

    found = [worker.outcome() for _ in identities]
    assert {outcome["id"] for outcome in found} == identities
    assert {outcome["ended"] for outcome in found} == {"crashed"}
    assert worker.is_silent


def test_a_run_that_nothing_can_end_is_reported_and_stuck_until_it_ends(impatient: Worker) -> None:
    impatient.submit("hang", timeout=3)
    impatient.read_line()
    server = fork_server(impatient)
    os.kill(server, signal.SIGSTOP)

    assert impatient.outcome()["ended"] == "timed out"
    assert impatient.ask("stuck") == 1

    os.kill(server, signal.SIGCONT)
    eventually(lambda: impatient.ask("stuck") == 0)
    assert impatient.run("echo", value=1)["result"] == 1


def test_a_fork_server_outlives_signals_meant_for_the_service(worker: Worker) -> None:
    server = fork_server(worker)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        os.kill(server, number)

    assert worker.run("echo", value=1)["result"] == 1
    wait_for_rest(worker)
    assert fork_server(worker) == server


def test_nothing_waits_for_a_run_before_there_was_one(worker: Worker) -> None:
    server = fork_server(worker)

    assert {*descendants(worker.process.pid)} == {server}


def test_children_that_die_while_they_wait_cost_no_run(worker: Worker) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        worker.run("echo")
        wait_for_rest(worker)
        for waiting in descendants(worker.process.pid).keys() - {fork_server(worker)}:
            os.kill(waiting, number)
            wait_for_exit(waiting)

        assert worker.run("echo", value="by another")["result"] == "by another"
    assert worker.written()[1] == ""


def test_hundreds_of_runs_leave_no_zombie_and_no_descriptor(worker: Worker) -> None:
    worker.run("echo")
    wait_for_rest(worker)
    server = fork_server(worker)
    before = [worker.ask("descriptors"), descriptors_of(server)]

    for number in range(200):
        assert worker.run("echo", value=number)["result"] == number
        if number % 20 == 0:
            worker.run("abort")
            worker.run("leave", code=3)

    wait_for_rest(worker)
    assert fork_server(worker) == server
    assert [worker.ask("descriptors"), descriptors_of(server)] == before


def descriptors_of(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def test_a_stopped_executor_kills_every_process_and_reports_no_run(worker: Worker) -> None:
    before = worker.ask("threads")
    for job in ("hang", "hang_stubbornly", "hang_with_a_grandchild"):
        worker.submit(job)
        worker.read_line()

    worker.ask("stop")

    assert descendants(worker.process.pid) == {}
    assert worker.ask("threads") < before + 1
    assert worker.is_silent
    worker.process.kill()
    assert worker.read_line() == ""


def test_a_process_with_threads_does_not_fork_and_says_what_to_do(worker: Worker) -> None:
    refusal = worker.ask("start_again")

    assert refusal.startswith("Refused: this process has")
    assert "sempre worker" in refusal
