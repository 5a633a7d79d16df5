"""What a job can ask about its run, in a test without any worker."""

import asyncio
import logging
import math
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest

from sempre.errors import InvalidInput, NotInJob, RunCancelled
from sempre.executors.current import Current, current, running
from sempre.executors.link import Link
from sempre.ports.executor import Progress
from tests.unit.executors.runs import SLOT, run_of


class StillClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return SLOT + timedelta(seconds=self.seconds)

    def elapsed(self) -> float:
        return self.seconds


def test_outside_of_a_job_the_error_says_what_to_do() -> None:
    with pytest.raises(NotInJob, match="with running"):
        current()


def test_a_test_can_play_the_worker() -> None:
    with running(Current(name="bill", attempt=3)) as run:
        assert current() is run
        assert (current().name, current().attempt) == ("bill", 3)

    with pytest.raises(NotInJob):
        current()


def test_a_run_within_a_run_gives_way_to_the_outer_one() -> None:
    with running(Current(name="outer")):
        with running(Current(name="inner")):
            assert current().name == "inner"
        assert current().name == "outer"


def test_a_job_knows_its_execution() -> None:
    run = run_of(test_a_job_knows_its_execution, args={"region": "eu"}, timeout=9)

    seen = Current.of(run, began=1.0, clock=StillClock(), link=Link())

    execution = run.execution
    assert (seen.name, seen.job, seen.id) == ("billing", run.task.name, execution.id)
    assert (seen.slot, seen.due_at, seen.kind) == (SLOT, execution.due_at, execution.kind)
    assert (seen.attempt, seen.fence, seen.key) == (2, execution.fence, execution.key)
    assert seen.args == {"region": "eu"}
    assert seen.timeout == timedelta(seconds=9)
    assert seen.slot.tzinfo is UTC


@pytest.mark.parametrize("timeout", [None, 9])
def test_a_run_is_seen_as_the_constructor_would_make_it(timeout: int | None) -> None:
    run = run_of(test_a_job_knows_its_execution, args={"region": "eu"}, timeout=timeout)
    execution, snapshot, clock, link = run.execution, run.execution.snapshot, StillClock(), Link()

    seen = Current.of(run, began=clock.elapsed(), clock=clock, link=link)

    made = Current(
        name=snapshot.name,
        job=run.task.name,
        slot=execution.run_at,
        due_at=execution.due_at,
        attempt=execution.attempt,
        fence=execution.fence,
        id=execution.id,
        kind=execution.kind,
        args=snapshot.args,
        timeout=run.timeout,
        clock=clock,
        link=link,
        opener=None,
        redact=run.task.redact,
    )
    effects = [vars(each).pop("effects") for each in (seen, made)]
    assert vars(seen) == vars(made)
    slots = [name for name in effects[0].__slots__ if name != "_lock"]
    assert len({tuple(getattr(each, name) for name in slots) for each in effects}) == 1


def test_tasks_of_a_job_belong_to_its_run() -> None:
    def name() -> str:
        return current().name

    async def ask() -> str:
        return name()

    async def job() -> list[str]:
        return [await ask(), await asyncio.create_task(ask()), await asyncio.to_thread(name)]

    with running(Current(name="bill")):
        assert asyncio.run(job()) == ["bill"] * 3


def test_a_thread_of_the_jobs_own_is_handed_the_run() -> None:
    found: list[object] = []

    def inside(run: Current) -> None:
        run.progress(1, 2)
        try:
            current()
        except NotInJob as error:
            found.append(error)

    with running(Current()) as run:
        thread = Thread(target=inside, args=(run,))
        thread.start()
        thread.join()

    assert run.link.progress == Progress(1, 2)
    assert len(found) == 1


def test_progress_is_reported_with_a_short_redacted_note() -> None:
    run = Current()

    run.progress(0.5)
    assert run.link.progress == Progress(0.5)

    run.progress(3, total=9, note=f"password=hunter2 {'è' * 300}\0")
    assert run.link.progress is not None
    assert (run.link.progress.done, run.link.progress.total) == (3, 9)
    assert "hunter2" not in run.link.progress.note
    assert len(run.link.progress.note.encode()) <= 200


@pytest.mark.parametrize("amount", [math.nan, math.inf, "half", True, 10**400])
def test_an_amount_that_is_no_finite_number_is_refused(amount: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        Current().progress(amount)
    with pytest.raises(InvalidInput, match="finite"):
        Current().progress(1, amount)


def test_a_run_that_was_asked_to_end_can_see_it_and_end() -> None:
    run = Current()
    run.raise_if_cancelled()
    assert not run.cancelled

    run.link.cancel("by ann")
    run.link.cancel("by bob")

    assert run.cancelled
    with pytest.raises(RunCancelled, match="by ann"):
        run.raise_if_cancelled()


def test_what_is_left_of_the_time_goes_down() -> None:
    clock = StillClock()
    run = Current(timeout=timedelta(seconds=10), clock=clock)
    ends_at = run.times_out_at

    clock.seconds += 4
    assert run.seconds_left == 6
    assert run.times_out_at == ends_at == SLOT + timedelta(seconds=110)

    clock.seconds += 7
    assert run.seconds_left == -1


def test_without_a_limit_nothing_is_left_to_count() -> None:
    assert Current().seconds_left is None
    assert Current().times_out_at is None


def test_records_of_the_logger_carry_the_run(caplog: pytest.LogCaptureFixture) -> None:
    run = Current(name="bill", job="billing", id="e1", attempt=2)

    with caplog.at_level(logging.INFO):
        run.logger.info("sent %s", "it", extra={"invoice": 7})

    (record,) = caplog.records
    assert record.getMessage() == "sent it"
    carried = {"schedule": "bill", "job": "billing", "execution": "e1", "attempt": 2, "invoice": 7}
    assert carried.items() <= vars(record).items()


def test_arguments_are_not_shown_with_a_run() -> None:
    assert "hunter2" not in repr(Current(args={"x": "hunter2"}))
