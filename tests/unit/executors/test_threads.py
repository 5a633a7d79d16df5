"""Threads: limits that cannot be enforced are told of, and the process can always exit."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Event, current_thread, get_ident
from threading import enumerate as threads

import pytest

from sempre.executors.current import current
from sempre.executors.threads import ThreadExecutor
from sempre.ports.executor import Ended, Outcome, Run
from tests.unit.executors.runs import Told, outcome_of, run_of


@pytest.fixture
def executor() -> Iterator[ThreadExecutor]:
    made = ThreadExecutor()
    made.start()
    yield made
    made.stop()


def test_a_job_that_hangs_is_told_of_once_and_its_thread_is_stuck_until_it_returns(
    executor: ThreadExecutor,
) -> None:
    told, release, leaving = Told(), Event(), Event()

    def job() -> str:
        release.wait()
        leaving.set()
        return "too late"

    executor.submit(run_of(job, timeout=0.01), told)

    outcome = told.next()
    assert outcome.ended is Ended.TIMED_OUT
    assert "thread goes on" in outcome.error
    assert outcome.seconds >= 0.01
    assert executor.stuck == 1

    # Others are not held up, and the late result is not told.
    assert outcome_of(executor, run_of(lambda: 1)).result == 1
    release.set()
    leaving.wait()
    assert outcome_of(executor, run_of(until_unstuck(executor))).result == 0
    assert told.is_silent


def until_unstuck(executor: ThreadExecutor) -> Callable[[], int]:
    def job() -> int:
        # The stuck thread has nothing left to do but to say so.
        while executor.stuck:
            pass
        return executor.stuck

    return job


def test_a_job_that_looks_ends_when_it_is_asked(executor: ThreadExecutor) -> None:
    told, began = Told(), Event()

    def job() -> None:
        began.set()
        while True:
            current().raise_if_cancelled()

    run = run_of(job)
    executor.submit(run, told)
    began.wait()

    assert executor.cancel(run.execution.id, reason="by ann")
    outcome = told.next()
    assert (outcome.ended, outcome.error) == (Ended.CANCELLED, "cancelled: by ann")


def test_a_job_that_does_its_work_all_the_same_has_succeeded(executor: ThreadExecutor) -> None:
    told, began, release = Told(), Event(), Event()

    def job() -> str:
        began.set()
        release.wait()
        return "done"

    run = run_of(job)
    executor.submit(run, told)
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")
    release.set()

    assert told.next().ended is Ended.SUCCEEDED


def test_a_job_whose_time_is_over_can_see_it(executor: ThreadExecutor) -> None:
    told, saw = Told(), Event()

    def job() -> None:
        while not current().cancelled:
            pass
        saw.set()

    executor.submit(run_of(job, timeout=0.01), told)

    assert told.next().ended is Ended.TIMED_OUT
    assert saw.wait(60)


def test_cancelling_concerns_one_execution(executor: ThreadExecutor) -> None:
    told, release = Told(), Event()

    def job() -> bool:
        release.wait()
        return current().cancelled

    one, other = run_of(job), run_of(job)
    executor.submit(one, told)
    executor.submit(other, told)
    executor.cancel(one.execution.id, reason="by ann")
    release.set()

    ends = (told.next_of_run(), told.next_of_run())
    results = {run.execution.id: outcome.result for run, outcome in ends}
    assert results == {one.execution.id: True, other.execution.id: False}


def test_every_run_begins_at_once_however_many_there_are(executor: ThreadExecutor) -> None:
    together, told = Barrier(100), Told()

    for _ in range(100):
        executor.submit(run_of(lambda: together.wait() * 0), told)

    assert [told.next().result for _ in range(100)] == [0] * 100


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


def test_what_is_submitted_when_a_run_is_told_of_goes_on_in_the_same_thread(
    executor: ThreadExecutor,
) -> None:
    told = Told()
    names: list[object] = []

    def job() -> str:
        return current_thread().name + str(get_ident())

    def go_on(run: Run, outcome: Outcome) -> None:
        names.append(outcome.result)
        for number in range(2) if len(names) == 1 else ():
            executor.submit(run_of(job), told if number else go_on)
        if len(names) == 2:
            told(run, outcome)

    executor.submit(run_of(job), go_on)
    others = {told.next().result for _ in range(2)}

    assert names[0] == names[1]
    assert len(others) == 2


def test_a_stopped_executor_asks_its_jobs_to_end_and_tells_of_none() -> None:
    executor, told, began, ended = ThreadExecutor(), Told(), Event(), Event()

    def job() -> None:
        began.set()
        while not current().cancelled:
            pass
        ended.set()

    executor.submit(run_of(job), told)
    began.wait()
    executor.stop()

    assert ended.wait(60)
    assert executor.stuck == 0
    assert told.is_silent


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
