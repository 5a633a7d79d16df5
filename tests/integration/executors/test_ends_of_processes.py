"""Children whose time is over, whose worker or nursery is gone, and what is left: nothing."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.integration.executors.hosting import Worker, descendants, nurseries

FOREVER = 3600.0
AT_REST = ["child S"] * 2 + ["nursery S"] * 2


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


@pytest.fixture
def impatient() -> Iterator[Worker]:
    with Worker(grace=0.05) as made:
        yield made


def wait_for_rest(worker: Worker) -> None:
    """Return when a worker that has had runs has its nurseries and the children that wait."""
    while sorted(descendants(worker.process.pid).values()) != AT_REST:
        pass


def wait_for_the_end(pid: int) -> None:
    """Return when a process is gone; whether its new parent has reaped it is not our concern."""
    with suppress(FileNotFoundError, ProcessLookupError):
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            pass


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
    impatient.said()
    impatient.ask("cancel", identity=identity, reason="by ann")
    assert impatient.outcome()["ended"] == "cancelled"
    wait_for_rest(impatient)
    assert impatient.ask("stuck") == 0


def test_a_child_that_is_cancelled_ends(worker: Worker) -> None:
    identity = worker.submit("hang", timeout=FOREVER)
    worker.said()

    assert worker.ask("cancel", identity=identity, reason="by ann") is True
    outcome = worker.outcome()
    assert (outcome["ended"], outcome["error"]) == ("cancelled", "cancelled: by ann")
    assert worker.ask("cancel", identity=identity, reason="again") is False


def test_a_child_that_is_cancelled_before_it_is_born_ends(impatient: Worker) -> None:
    for _ in range(20):
        identity = impatient.submit("hang")
        impatient.ask("cancel", identity=identity, reason="at once")
        assert impatient.outcome()["ended"] == "cancelled"


def test_a_job_that_looks_is_not_ended_but_ends_itself(worker: Worker) -> None:
    identity = worker.submit("listen")
    assert worker.said() == "listening"

    worker.ask("cancel", identity=identity, reason="by ann è")

    outcome = worker.outcome()
    assert (outcome["ended"], outcome["error"]) == ("cancelled", "cancelled: by ann è")
    assert worker.said() == "heard: by ann è"


def test_a_job_that_looks_hears_that_its_time_is_over(worker: Worker) -> None:
    worker.submit("listen", timeout=3)
    worker.said()

    assert worker.outcome()["ended"] == "timed out"
    assert worker.said() == "heard: its time is over"


def test_a_job_that_finishes_though_it_was_cancelled_has_succeeded(worker: Worker) -> None:
    identity = worker.submit("finish_all_the_same")
    worker.said()
    worker.ask("cancel", identity=identity, reason="by ann")

    outcome = worker.outcome()

    assert (outcome["ended"], outcome["result"]) == ("succeeded", "done")


def test_a_job_that_finishes_after_its_time_was_late(worker: Worker) -> None:
    assert worker.run("finish_all_the_same", timeout=0.5)["ended"] == "timed out"


def test_what_a_child_has_started_ends_with_it(worker: Worker) -> None:
    identity = worker.submit("hang_with_a_grandchild")
    assert worker.said() == "stubborn"
    worker.ask("cancel", identity=identity, reason="by ann")
    assert worker.outcome()["ended"] == "cancelled"

    worker.submit("crash_with_a_grandchild")
    assert worker.said() == "stubborn"
    assert "SIGABRT" in worker.outcome()["error"]

    # The grandchildren ignore SIGTERM; with the nurseries nobody is left to speak.
    worker.process.kill()
    assert worker.said() == ""


@pytest.mark.parametrize("no_prctl", [False, True])
@pytest.mark.parametrize("job", ["hang", "hang_stubbornly", "hang_with_a_grandchild"])
def test_nothing_survives_a_worker_that_is_killed(job: str, no_prctl: bool) -> None:  # noqa: FBT001
    with Worker(no_prctl=no_prctl) as worker:
        for _ in range(3):
            worker.submit(job)
            worker.said()

        worker.process.kill()

        # The end of the pipe: no process is left that had inherited it.
        assert worker.said() == ""


@pytest.mark.parametrize("no_prctl", [False, True])
def test_runs_of_a_nursery_that_is_killed_have_crashed_and_another_takes_over(
    no_prctl: bool,  # noqa: FBT001
) -> None:
    with Worker(no_prctl=no_prctl) as worker:
        for round_number in range(5):
            identities = {worker.submit("hang") for _ in range(3)}
            pids = [int(worker.said()) for _ in range(3)]
            nursery = parent_of(pids[0])

            os.kill(nursery, signal.SIGKILL)

            told = [worker.outcome() for _ in range(3)]
            assert {outcome["id"] for outcome in told} == identities
            assert {outcome["ended"] for outcome in told} == {"crashed"}
            assert "nursery" in told[0]["error"]
            for pid in pids:
                wait_for_the_end(pid)
            assert worker.run("echo", value=round_number)["result"] == round_number
            wait_for_two_nurseries(worker, other_than=nursery)


def wait_for_two_nurseries(worker: Worker, *, other_than: int) -> None:
    """Return when a spare nursery is there again; one bred by a dead one is not a descendant."""
    while True:
        worker.submit("hang")
        pid = int(worker.said())
        nursery = parent_of(pid)
        assert nursery != other_than
        os.kill(pid, signal.SIGKILL)
        worker.outcome()
        if nurseries(nursery):
            return


def two_nurseries(worker: Worker) -> list[int]:
    """Return both nurseries of a worker, as soon as there are two."""
    while len(found := nurseries(worker.process.pid)) != 2:
        pass
    return sorted(found)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_without_any_nursery_a_run_fails_with_the_remedy(worker: Worker) -> None:
    for pid in (both := two_nurseries(worker)):
        os.kill(pid, signal.SIGSTOP)
    for pid in both:
        os.kill(pid, signal.SIGKILL)
    worker.submit("echo")

    first = worker.outcome()
    while "restart" not in (outcome := worker.run("echo"))["error"]:
        assert outcome["ended"] == "crashed"

    assert first["ended"] in ("crashed", "failed")
    assert outcome["error"] == "it could not begin: both nurseries of this worker died; restart it"


def test_a_run_that_nothing_can_end_is_told_of_and_stuck_until_it_ends(impatient: Worker) -> None:
    impatient.submit("hang", timeout=3)
    nursery = parent_of(int(impatient.said()))
    os.kill(nursery, signal.SIGSTOP)

    assert impatient.outcome()["ended"] == "timed out"
    assert impatient.ask("stuck") == 1

    os.kill(nursery, signal.SIGCONT)
    while impatient.ask("stuck"):
        pass
    assert impatient.run("echo", value=1)["result"] == 1


def test_a_nursery_outlives_signals_meant_for_the_service(worker: Worker) -> None:
    for pid in (both := two_nurseries(worker)):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            os.kill(pid, number)

    assert worker.run("echo", value=1)["result"] == 1
    wait_for_rest(worker)
    assert two_nurseries(worker) == both


def test_nothing_waits_for_a_run_before_there_was_one(worker: Worker) -> None:
    both = two_nurseries(worker)

    assert sorted(descendants(worker.process.pid)) == both


def test_children_that_die_while_they_wait_cost_no_run(worker: Worker) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        worker.run("echo")
        wait_for_rest(worker)
        for waiting in descendants(worker.process.pid).keys() - {*two_nurseries(worker)}:
            os.kill(waiting, number)
            wait_for_the_end(waiting)

        assert worker.run("echo", value="by another")["result"] == "by another"
    assert worker.written()[1] == ""


def test_hundreds_of_runs_leave_no_zombie_and_no_descriptor(worker: Worker) -> None:
    worker.run("echo")
    wait_for_rest(worker)
    both = two_nurseries(worker)
    before = [worker.ask("descriptors"), *map(descriptors_of, both)]

    for number in range(200):
        assert worker.run("echo", value=number)["result"] == number
        if number % 20 == 0:
            worker.run("abort")
            worker.run("leave", code=3)

    wait_for_rest(worker)
    assert two_nurseries(worker) == both
    assert [worker.ask("descriptors"), *map(descriptors_of, both)] == before


def descriptors_of(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def test_a_stopped_executor_kills_everything_and_tells_of_nothing(worker: Worker) -> None:
    before = worker.ask("threads")
    for job in ("hang", "hang_stubbornly", "hang_with_a_grandchild"):
        worker.submit(job)
        worker.said()

    worker.ask("stop")

    assert descendants(worker.process.pid) == {}
    assert worker.ask("threads") < before + 1
    assert worker.is_silent
    worker.process.kill()
    assert worker.said() == ""


def test_a_process_with_threads_does_not_fork_and_says_what_to_do(worker: Worker) -> None:
    refusal = worker.ask("start_again")

    assert refusal.startswith("Refused: this process has")
    assert "sempre worker" in refusal
