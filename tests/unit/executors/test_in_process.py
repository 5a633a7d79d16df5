"""What threads and the event loop promise alike: one outcome for each run, whatever it does."""

import asyncio
import functools
import logging
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from logging.handlers import QueueHandler
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest

from sempre.domain.arguments import Json
from sempre.domain.exception_types import type_names
from sempre.domain.job_ends import GiveUp, RetryLater
from sempre.domain.results import NotJson, TooLarge, read_result
from sempre.errors import Refused
from sempre.executors.current import current
from sempre.executors.event_loop import AsyncExecutor
from sempre.executors.threads import ThreadExecutor
from sempre.ports.executor import Ended, Executor, Progress
from tests.unit.executors.runs import SLOT, Outcomes, outcome_of, run_of

MARK: ContextVar[str] = ContextVar("mark", default="unset")


@pytest.fixture(params=["thread", "async"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    made: Executor = (
        ThreadExecutor() if request.param == "thread" else AsyncExecutor(grace=timedelta(seconds=1))
    )
    made.start()
    yield made
    made.stop()


def returned(value: object) -> Callable[..., Any]:
    def job() -> object:
        return value

    return job


def raised(error: BaseException) -> Callable[..., Any]:
    def job() -> None:
        raise error

    return job


def greet(name: str, *, times: int = 1) -> str:
    return f"ciao {name} " * times


async def greet_later(name: str) -> str:
    await asyncio.to_thread(str)
    return f"ciao {name}, by {current().name}"


def test_a_result_arrives_with_its_run(executor: Executor) -> None:
    run = run_of(greet, args={"name": "東京 è 🚀", "times": 2})

    outcomes = Outcomes()
    executor.submit(run, outcomes)

    ended, outcome = outcomes.next_of_run()
    assert ended is run
    assert outcome.ended is Ended.SUCCEEDED
    assert outcome.result == "ciao 東京 è 🚀 ciao 東京 è 🚀 "
    assert (outcome.error, outcome.traceback) == ("", "")
    assert outcome.seconds >= 0


def test_async_functions_run_to_their_end(executor: Executor) -> None:
    plain = outcome_of(executor, run_of(greet_later, args={"name": "ann"}))
    bound = outcome_of(executor, run_of(functools.partial(greet_later, name="bob")))

    assert plain.result == "ciao ann, by billing"
    assert bound.result == "ciao bob, by billing"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no such region"), "ValueError: no such region"),
        (KeyError("region"), "KeyError: 'region'"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (asyncio.CancelledError(), "asyncio.exceptions.CancelledError"),
        (MemoryError(), "MemoryError"),
        (RuntimeError("two\n  lines"), "RuntimeError: two lines"),
        (OSError("password=hunter2"), "OSError: password=[redacted]"),
    ],
)
def test_whatever_a_job_raises_is_its_failure_and_nothing_else(
    executor: Executor, error: BaseException, line: str
) -> None:
    outcome = outcome_of(executor, run_of(raised(error)))

    assert (outcome.ended, outcome.error) == (Ended.FAILED, line)
    assert "in job" in outcome.traceback
    assert "hunter2" not in outcome.traceback
    # The executor goes on.
    assert outcome_of(executor, run_of(returned(3))).result == 3


def test_the_types_of_what_a_job_raises_come_with_it(executor: Executor) -> None:
    failed = outcome_of(executor, run_of(raised(ConnectionResetError())))
    succeeded = outcome_of(executor, run_of(returned(3)))

    assert failed.types == type_names(ConnectionResetError)
    assert "builtins.OSError" in failed.types
    assert succeeded.types == ()


def test_a_job_can_ask_for_a_later_try(executor: Executor) -> None:
    class Busy(RetryLater):
        """A sort of one's own."""

    at = datetime(2030, 1, 2, tzinfo=UTC)
    waiting = outcome_of(executor, run_of(raised(RetryLater("5m", "token=abc"))))
    until = outcome_of(executor, run_of(raised(Busy(at))))

    assert waiting[:4] == (Ended.RETRY_LATER, None, "token=[redacted]", "")
    assert (waiting.after, waiting.types) == (timedelta(minutes=5), ())
    assert (until.ended, until.error, until.after) == (Ended.RETRY_LATER, "", at)


def test_a_job_can_give_up_and_its_cause_is_kept(executor: Executor) -> None:
    def job() -> None:
        try:
            raise KeyError("region")  # noqa: TRY301 - it is the cause of the next
        except KeyError as error:
            raise GiveUp("no such region") from error

    outcome = outcome_of(executor, run_of(job))

    assert (outcome.ended, outcome.error) == (Ended.GAVE_UP, "no such region")
    assert "KeyError: 'region'" in outcome.traceback


def test_the_end_of_the_time_is_of_the_type_timeout(executor: Executor) -> None:
    going = Event()

    async def job() -> None:
        while not going.is_set():
            await asyncio.to_thread(going.wait, 0.01)

    outcome = outcome_of(executor, run_of(job, timeout=0.05))
    going.set()

    assert (outcome.ended, outcome.types) == (Ended.TIMED_OUT, type_names(TimeoutError))


def test_a_run_that_was_asked_to_end_is_not_tried_later(executor: Executor) -> None:
    asked = Event()

    def wait() -> None:
        asked.wait()
        raise RetryLater("5m")

    async def job() -> None:
        await asyncio.to_thread(wait)

    run, outcomes = run_of(wait if isinstance(executor, ThreadExecutor) else job), Outcomes()
    executor.submit(run, outcomes)
    assert executor.cancel(run.execution.id, reason="requested")
    asked.set()

    assert outcomes.next()[:3] == (Ended.CANCELLED, None, "cancelled: requested")


def test_the_traceback_begins_with_the_job_and_has_its_cause(executor: Executor) -> None:
    def job() -> None:
        try:
            raise KeyError("region")  # noqa: TRY301 - it is the cause of the next
        except KeyError as error:
            raise ValueError("x" * 20_000) from error

    outcome = outcome_of(executor, run_of(job))

    assert outcome.traceback.startswith("Traceback (most recent call last):\n")
    assert "KeyError: 'region'" in outcome.traceback
    assert "calling.py" not in outcome.traceback
    assert len(outcome.traceback.encode()) <= 8192
    assert len(outcome.error.encode()) <= 500


def test_an_error_without_a_text_is_reported_too(executor: Executor) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no text for you")

    outcome = outcome_of(executor, run_of(raised(Mute())))

    assert outcome.ended is Ended.FAILED
    assert "Mute" in outcome.error


def test_endless_recursion_is_a_failure(executor: Executor) -> None:
    def job() -> None:
        job()

    outcome = outcome_of(executor, run_of(job))

    assert outcome.error.startswith("RecursionError")


@pytest.mark.parametrize(
    ("value", "type_name"), [({1, 2}, "set"), (b"raw", "bytes"), (sys, "module")]
)
def test_a_result_that_is_no_json_is_a_success_that_is_marked(
    executor: Executor, value: object, type_name: str
) -> None:
    outcome = outcome_of(executor, run_of(returned(value)))

    assert (outcome.ended, outcome.error) == (Ended.SUCCEEDED, "")
    assert read_result(outcome.result) == NotJson(type_name, repr(value))


def test_a_large_result_is_marked_and_one_to_redact_is_masked(executor: Executor) -> None:
    large = outcome_of(executor, run_of(returned("x" * 100_000)))
    secret: dict[str, Json] = {"token": "a", "iban": "b", "rows": 3}
    masked = outcome_of(executor, run_of(returned(secret), redact=("iban",)))

    assert read_result(large.result) == TooLarge(100_002, 65_536)
    assert masked.result == {"token": "a", "iban": "[redacted]", "rows": 3}


def test_arguments_that_a_job_does_not_take_are_a_failure(executor: Executor) -> None:
    outcome = outcome_of(executor, run_of(greet, args={"nome": "ann"}))

    assert outcome.ended is Ended.FAILED
    assert "unexpected keyword argument 'nome'" in outcome.error


def test_a_job_knows_its_run(executor: Executor) -> None:
    def job() -> Json:
        run = current()
        return [run.name, run.job, run.id, run.attempt, run.slot.isoformat()]

    run = run_of(job)

    assert outcome_of(executor, run).result == [
        "billing", "job", run.execution.id, 2, SLOT.isoformat()
    ]  # fmt: skip


def test_what_a_job_sets_in_its_context_is_gone_with_it(executor: Executor) -> None:
    def job() -> str:
        before = MARK.get()
        MARK.set("left behind")
        return before

    MARK.set("of the submitter")

    assert [outcome_of(executor, run_of(job)).result for _ in range(5)] == ["unset"] * 5


def test_a_callback_that_raises_ends_nothing(
    executor: Executor, request: pytest.FixtureRequest
) -> None:
    logged: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(logged)
    logging.getLogger("sempre.executors").addHandler(handler)
    request.addfinalizer(lambda: logging.getLogger("sempre.executors").removeHandler(handler))

    def deaf(run: object, outcome: object) -> None:
        raise RuntimeError(f"not listening to {outcome} of {run}")

    executor.submit(run_of(returned(1)), deaf)

    assert [outcome_of(executor, run_of(returned(n))).result for n in range(3)] == [0, 1, 2]
    assert "reporting the outcome of" in logged.get(timeout=60).getMessage()


def test_an_unknown_run_cannot_be_cancelled(executor: Executor) -> None:
    run = run_of(returned(1))
    outcome_of(executor, run)

    assert not executor.cancel(run.execution.id, reason="too late")
    assert not executor.cancel("unknown", reason="typo")


def test_progress_is_gone_with_its_run(executor: Executor) -> None:
    seen: list[object] = []

    def job() -> None:
        current().progress(3, 9, "half way")
        seen.append(executor.progress())

    run = run_of(job)
    outcome_of(executor, run)

    assert seen == [{run.execution.id: Progress(3, 9, "half way")}]
    assert executor.progress() == {}


def test_nothing_is_submitted_to_what_was_stopped(executor: Executor) -> None:
    executor.stop()
    executor.stop()

    with pytest.raises(Refused):
        executor.submit(run_of(returned(1)), Outcomes())


def test_every_one_of_a_thousand_runs_is_reported_exactly_once(executor: Executor) -> None:
    outcomes = Outcomes()
    runs = [run_of(returned(number), timeout=0.02) for number in range(1_000)]

    for run in runs:
        executor.submit(run, outcomes)
    ends = [outcomes.next_of_run() for _ in runs]

    assert {run.execution.id for run, _ in ends} == {run.execution.id for run in runs}
    assert {outcome.ended for _, outcome in ends} <= {Ended.SUCCEEDED, Ended.TIMED_OUT}
    assert outcomes.is_silent
    outcome_of(executor, run_of(returned(1)))
