"""The event loop: cancelled tasks end, and a task that does not is reported as stuck."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from threading import Event

import pytest

from sempre.errors import Refused
from sempre.executors.current import current
from sempre.executors.event_loop import AsyncExecutor
from sempre.ports.executor import Ended
from sempre.testing.polling import eventually
from tests.unit.executors.runs import Outcomes, outcome_of, run_of


@pytest.fixture
def executor() -> Iterator[AsyncExecutor]:
    made = AsyncExecutor(grace=timedelta(milliseconds=50))
    made.start()
    yield made
    made.stop()


async def forever() -> None:
    await asyncio.Event().wait()


async def one() -> int:
    return 1


def test_a_task_whose_time_is_over_is_cancelled() -> None:
    # On a busy machine the task begins late, and ends late.
    executor, cleaned = AsyncExecutor(grace=timedelta(minutes=1)), Event()
    executor.start()

    async def job() -> None:
        try:
            await forever()
        finally:
            cleaned.set()

    outcome = outcome_of(executor, run_of(job, timeout=1))

    assert outcome.ended is Ended.TIMED_OUT
    assert cleaned.is_set()
    assert executor.stuck == 0
    executor.stop()


def test_a_task_ends_when_it_is_asked(executor: AsyncExecutor) -> None:
    outcomes, began = Outcomes(), Event()

    async def job() -> None:
        began.set()
        await forever()

    run = run_of(job, timeout=3600)
    executor.submit(run, outcomes)
    began.wait()

    assert executor.cancel(run.execution.id, reason="by ann")
    outcome = outcomes.next()
    assert (outcome.ended, outcome.error) == (Ended.CANCELLED, "cancelled: by ann")
    assert executor.stuck == 0


def test_a_run_that_is_cancelled_before_it_begins_is_reported(executor: AsyncExecutor) -> None:
    outcomes, free = Outcomes(), Event()

    def block() -> None:
        free.wait()

    executor.submit(run_of(block), Outcomes())
    runs = [run_of(forever) for _ in range(50)]
    for run in runs:
        executor.submit(run, outcomes)
        executor.cancel(run.execution.id, reason="at once")
    free.set()

    assert {outcomes.next().ended for _ in runs} == {Ended.CANCELLED}


def test_a_run_may_be_cancelled_at_any_moment_of_its_life(executor: AsyncExecutor) -> None:
    outcomes = Outcomes()
    runs = [run_of(forever) for _ in range(300)]

    for run in runs:
        executor.submit(run, outcomes)
        executor.cancel(run.execution.id, reason="at once")

    assert {outcomes.next().ended for _ in runs} == {Ended.CANCELLED}
    assert outcomes.is_silent
    assert executor.stuck == 0


def test_a_task_that_swallows_its_cancellation_is_stuck_until_it_ends(
    executor: AsyncExecutor,
) -> None:
    outcomes, began, release = Outcomes(), Event(), Event()

    async def job() -> None:
        began.set()
        try:
            await forever()
        except asyncio.CancelledError:
            await asyncio.to_thread(release.wait)

    run = run_of(job)
    executor.submit(run, outcomes)
    # A run that is cancelled before it begins never gets stuck.
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")

    assert outcomes.next().ended is Ended.CANCELLED
    assert executor.stuck == 1
    assert outcome_of(executor, run_of(one)).result == 1

    release.set()
    eventually(lambda: executor.stuck == 0)
    assert outcomes.is_silent


def test_a_job_that_blocks_the_loop_is_reported_by_another_thread(executor: AsyncExecutor) -> None:
    outcomes, release = Outcomes(), Event()

    async def job() -> None:
        release.wait()

    executor.submit(run_of(job, timeout=0.5), outcomes)

    assert outcomes.next().ended is Ended.TIMED_OUT
    assert executor.stuck == 1
    release.set()
    assert outcome_of(executor, run_of(one)).result == 1
    assert outcomes.is_silent


def test_work_that_was_done_before_the_request_was_noticed_counts(executor: AsyncExecutor) -> None:
    outcomes, began, free = Outcomes(), Event(), Event()

    async def job() -> str:
        began.set()
        free.wait()
        return "done"

    run = run_of(job)
    executor.submit(run, outcomes)
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")
    free.set()

    assert outcomes.next().ended is Ended.SUCCEEDED


def test_a_task_that_raises_on_its_way_out_was_cancelled_all_the_same(
    executor: AsyncExecutor,
) -> None:
    outcomes, began = Outcomes(), Event()

    async def job() -> None:
        began.set()
        try:
            await forever()
        finally:
            raise ValueError("while cleaning up")

    run = run_of(job)
    executor.submit(run, outcomes)
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")

    assert outcomes.next().ended is Ended.CANCELLED


def test_a_job_can_poll_for_its_cancellation(executor: AsyncExecutor) -> None:
    outcomes, began = Outcomes(), Event()

    async def job() -> None:
        began.set()
        eventually(lambda: current().cancelled)
        current().raise_if_cancelled()

    run = run_of(job)
    executor.submit(run, outcomes)
    began.wait()
    executor.cancel(run.execution.id, reason="by ann")

    assert outcomes.next().ended is Ended.CANCELLED


def test_a_task_of_a_job_that_raises_system_exit_does_not_end_the_loop(
    executor: AsyncExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    async def job() -> None:
        await asyncio.gather(leave())

    outcome = outcome_of(executor, run_of(job))

    assert outcome.error == "SystemExit: 3"
    assert outcome_of(executor, run_of(one)).result == 1
    assert "tried to end the event loop" in caplog.text


def test_jobs_share_the_loop(executor: AsyncExecutor) -> None:
    outcomes = Outcomes()
    met: list[asyncio.Event] = []

    async def job(number: int) -> int:
        if not met:
            met.append(asyncio.Event())
        if number == 99:
            met[0].set()
        await met[0].wait()
        return number

    for number in range(100):
        executor.submit(run_of(job, args={"number": number}), outcomes)

    assert {outcomes.next().result for _ in range(100)} == set(range(100))


def test_it_must_be_started_and_stopping_cancels_what_runs() -> None:
    executor, outcomes, began, ended = AsyncExecutor(), Outcomes(), Event(), Event()

    async def job() -> None:
        began.set()
        try:
            await forever()
        finally:
            ended.set()

    with pytest.raises(Refused, match="start"):
        executor.submit(run_of(job), outcomes)
    executor.start()
    executor.start()
    executor.submit(run_of(job), outcomes)
    began.wait()
    executor.stop()

    assert ended.is_set()
    assert outcomes.is_silent
