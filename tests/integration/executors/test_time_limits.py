"""Time limits of children hold while a job keeps every thread of their worker from running."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.integration.executors.hosting import Worker, wait_for_exit


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker(grace=0.05) as made:
        yield made


def test_a_child_ends_at_its_limit_though_no_thread_of_its_worker_can_run(worker: Worker) -> None:
    wanted = {worker.submit(job, timeout=2) for job in ("hang", "hang_stubbornly")}
    pids = [int(worker.read_line()) for _ in wanted]
    worker.hold()

    for pid in pids:
        wait_for_exit(pid)
    worker.release()

    outcomes = [worker.outcome() for _ in wanted]
    assert {each["id"] for each in outcomes} == wanted
    assert {each["ended"] for each in outcomes} == {"timed out"}
    assert {each["error"] for each in outcomes} == {"timed out after 2s"}
    assert worker.run("echo", value=1)["result"] == 1
    assert worker.is_silent
    assert worker.ask("stuck") == 0


def test_a_job_that_polls_learns_from_its_own_clock_that_its_time_is_over() -> None:
    with Worker() as worker:
        worker.submit("listen", timeout=2)
        assert worker.read_line() == "polling"
        worker.hold()

        assert worker.read_line() == "cancelled: its time is over"
        worker.release()
        assert worker.outcome()["ended"] == "timed out"


def test_a_job_that_finishes_late_is_late_also_if_its_worker_reads_the_report_much_later() -> None:
    with Worker() as worker:
        worker.submit("finish_all_the_same", timeout=2)
        assert worker.read_line() == "ready"
        worker.hold()

        assert worker.read_line() == "finished"
        worker.release()
        assert worker.outcome()["ended"] == "timed out"


def test_a_job_that_was_done_in_time_has_succeeded_though_its_worker_reads_the_report_too_late(
    worker: Worker,
) -> None:
    early = worker.submit("finish_on_signal", timeout=3)
    first = int(worker.read_line())
    late = worker.submit("hang", timeout=4)
    second = int(worker.read_line())
    worker.hold()
    os.kill(first, signal.SIGUSR1)
    wait_for_exit(first)

    # When this one is ended, the limit and both graces of the other are over as well.
    wait_for_exit(second)
    worker.release()

    ends = {each["id"]: each["ended"] for each in (worker.outcome(), worker.outcome())}
    assert ends == {early: "succeeded", late: "timed out"}
    worker.run("echo")
    assert worker.is_silent
