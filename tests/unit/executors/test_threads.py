"""Threads: time limits are reported, not enforced, and the process can always exit."""

import subprocess
import sys
from collections.abc import Iterator
from threading import Barrier, Event, current_thread, get_ident
from threading import enumerate as threads

import pytest

from sempre.executors.current import current
from sempre.executors.threads import ThreadExecutor
from sempre.ports.executor import Ended, Outcome, Run
from sempre.testing.polling import eventually
from tests.unit.executors.runs import Outcomes, outcome_of, run_of


@pytest.fixture
def executor() -> Iterator[ThreadExecutor]:
    made = ThreadExecutor()
    made.start()
    yield made
    made.stop()


def test_a_job_that_hangs_is_reported_once_and_its_thread_is_stuck_until_it_returns(
    executor: ThreadExecutor,
) -> None:
    outcomes, release, leaving = Outcomes(), Event(), Event()

    def job() -> str:
        release.wait()
        leaving.set()
        return "too late"

    executor.submit(run_of(job, timeout=0.01), outcomes)

    outcome = outcomes.next()
    assert outcome.ended is Ended.TIMED_OUT
    assert "thread goes on" in outcome.error
    assert outcome.seconds >= 0.01
    assert executor.stuck == 1

    # Other runs are not held up, and the late result is not reported.
    assert outcome_of(executor, run_of(lambda: 1)).result == 1
    release.set()
    leaving.wait()
    eventually(lambda: executor.stuck == 0)
    assert outcomes.is_silent


def test_a_job_that_polls_ends_when_it_is_asked(executor: ThreadExecutor) -> None:
    outcomes, began = Outcomes(), Event()

    def job() -> None:
        began.set()
        eventually(lambda: current().cancelled)
        current().raise_if_cancelled()

    run = run_of(job)
    executor.submit(run, outcomes)
    began.wait()

    assert executor.cancel(run.execution.id, reason="by ann")
    outcome = outcomes.next()
    assert (outcome.ended, outcome.error) == (Ended.CANCELLED, "cancelled: by ann")


def test_a_job_that_does_its_work_all_the_same_has_succeeded(executor: ThreadExecutor) -> None:
    outcomes, began, release = Outcomes(), Event(), Event()

    def job() -> str:
        began.set()
        release.wait()
        return "done"

    run = run_of(job)
    executor.submit(run, outcomes)
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")
    release.set()

    assert outcomes.next().ended is Ended.SUCCEEDED


def test_a_job_whose_time_is_over_can_see_it(executor: ThreadExecutor) -> None:
    outcomes, saw = Outcomes(), Event()

    def job() -> None:
        eventually(lambda: current().cancelled)
        saw.set()

    executor.submit(run_of(job, timeout=0.01), outcomes)

    assert outcomes.next().ended is Ended.TIMED_OUT
    assert saw.wait(60)


def test_cancelling_concerns_one_execution(executor: ThreadExecutor) -> None:
    outcomes, release = Outcomes(), Event()

    def job() -> bool:
        release.wait()
        return current().cancelled

    one, other = run_of(job), run_of(job)
    executor.submit(one, outcomes)
    executor.submit(other, outcomes)
    executor.cancel(one.execution.id, reason="by ann")
    release.set()

    ends = (outcomes.next_of_run(), outcomes.next_of_run())
    results = {run.execution.id: outcome.result for run, outcome in ends}
    assert results == {one.execution.id: True, other.execution.id: False}


def test_every_run_begins_at_once_however_many_there_are(executor: ThreadExecutor) -> None:
    together, outcomes = Barrier(100), Outcomes()

    for _ in range(100):
        executor.submit(run_of(lambda: together.wait() * 0), outcomes)

    assert [outcomes.next().result for _ in range(100)] == [0] * 100


def test_threads_are_used_again_and_end_with_the_executor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sempre.executors.threads.MOST_IDLE", 2)
    executor = ThreadExecutor()
    before = set(threads())

    for _ in range(300):
        assert outcome_of(executor, run_of(lambda: 1)).result == 1
    ours = [thread for thread in set(threads()) - before if thread.name == "sempre-run"]
    executor.stop()

    # One that reports an outcome, and the idle ones.
    assert len(ours) <= 3
    for thread in ours:
        thread.join()


def test_a_run_submitted_while_another_is_reported_goes_to_the_reporting_thread(
    executor: ThreadExecutor,
) -> None:
    outcomes = Outcomes()
    names: list[object] = []

    def job() -> str:
        return current_thread().name + str(get_ident())

    def go_on(run: Run, outcome: Outcome) -> None:
        names.append(outcome.result)
        for number in range(2) if len(names) == 1 else ():
            executor.submit(run_of(job), outcomes if number else go_on)
        if len(names) == 2:
            outcomes(run, outcome)

    executor.submit(run_of(job), go_on)
    others = {outcomes.next().result for _ in range(2)}

    assert names[0] == names[1]
    assert len(others) == 2


def test_a_stopped_executor_asks_its_jobs_to_end_and_reports_none() -> None:
    executor, outcomes, began, ended = ThreadExecutor(), Outcomes(), Event(), Event()

    def job() -> None:
        began.set()
        eventually(lambda: current().cancelled)
        ended.set()

    executor.submit(run_of(job), outcomes)
    began.wait()
    executor.stop()

    assert ended.wait(60)
    assert executor.stuck == 0
    assert outcomes.is_silent


def test_a_process_can_exit_though_a_job_hangs() -> None:
    program = """
from threading import Event
from sempre.executors.threads import ThreadExecutor
from tests.unit.executors.runs import run_of

began = Event()

def job():
    began.set()
    Event().wait()

executor = ThreadExecutor()
executor.submit(run_of(job, timeout=3600), print)
began.wait()
print("leaving")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "leaving\n"
