"""What a job writes by `logging` goes into the log of its own run, and harms no job."""

import asyncio
import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from contextvars import copy_context
from threading import Barrier, Thread
from typing import Any

import pytest

from sempre.domain.run_log import LogRule, read_log
from sempre.errors import RunCancelled
from sempre.executors import Executors
from sempre.executors.current import Current, current, running
from sempre.executors.log_capture import CAPTURE, RunLogHandler
from sempre.ports.executor import Ended, Isolation, Run, Task
from tests.unit.executors.runs import Outcomes, outcome_of, run_of

SHOP = logging.getLogger("shop.bills")
TASKS: dict[str, Task] = {}
KINDS: list[Isolation] = ["thread", "async"]


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    SHOP.setLevel(logging.DEBUG)
    yield
    SHOP.setLevel(logging.NOTSET)


@pytest.fixture
def executors() -> Iterator[Executors]:
    made = Executors(TASKS.__getitem__, isolations=KINDS)
    made.start()
    yield made
    made.stop()


@pytest.fixture(params=KINDS)
def run(request: pytest.FixtureRequest) -> Callable[..., Run]:
    def made(function: Callable[[], object], **options: Any) -> Run:  # noqa: ANN401
        async def later() -> object:
            return function()

        if request.param == "thread":
            return run_of(function, **options)
        return run_of(later, isolation="async", **options)

    return made


def fail(text: str) -> None:
    raise ValueError(text)


def messages(log: str) -> list[str]:
    """Return the lines of a log without their time."""
    return [line.partition("Z ")[2] or line for line in log.split("\n")] if log else []


def with_rule(run: Run, rule: LogRule) -> Run:
    task = vars(run.task) | {"log_rule": rule}
    return run._replace(task=type(run.task)(**task))


def test_records_of_a_job_are_its_log(executors: Executors, run: Callable[..., Run]) -> None:
    def job() -> None:
        SHOP.info("%d bills", 3)
        logging.getLogger("other").warning("beware")
        current().logger.error("by the logger of the run")

    outcome = outcome_of(executors, run(job))

    assert messages(outcome.log) == [
        "INFO shop.bills: 3 bills",
        "WARNING other: beware",
        "ERROR sempre.job: by the logger of the run",
    ]
    assert executors.logs() == {}


def test_the_log_of_a_run_can_be_read_while_it_runs(
    executors: Executors, run: Callable[..., Run]
) -> None:
    seen: list[dict[int, list[str]]] = []

    def job() -> None:
        SHOP.info("under way")
        seen.append({fence: messages(log) for fence, log in executors.logs().items()})

    begun = run(job)
    outcome_of(executors, begun)

    assert seen == [{begun.execution.fence: ["INFO shop.bills: under way"]}]


def test_a_job_that_does_not_log_has_no_log(executors: Executors, run: Callable[..., Run]) -> None:
    assert outcome_of(executors, run(lambda: 1)).log == ""


def test_lines_of_two_runs_at_once_do_not_mix(executors: Executors) -> None:
    meeting = Barrier(2)

    def job(name: str) -> None:
        for number in range(20):
            meeting.wait()
            SHOP.info("%s %d", name, number)

    outcomes = Outcomes()
    runs = [run_of(job, args={"name": name}) for name in ("ann", "bob")]
    for each in runs:
        executors.submit(each, outcomes)

    for _ in runs:
        begun, outcome = outcomes.next_of_run()
        name = str(begun.execution.snapshot.args["name"])
        expected = [f"INFO shop.bills: {name} {number}" for number in range(20)]
        assert messages(outcome.log) == expected


def test_lines_of_two_tasks_of_the_event_loop_do_not_mix(executors: Executors) -> None:
    async def job(name: str) -> None:
        for number in range(20):
            await asyncio.to_thread(str)
            SHOP.info("%s %d", name, number)
        # Tasks and threads that asyncio starts belong to the run.
        await asyncio.create_task(_log_later(f"{name} in a task"))
        await asyncio.to_thread(SHOP.info, "%s in a thread", name)

    outcomes = Outcomes()
    for name in ("ann", "bob"):
        executors.submit(run_of(job, args={"name": name}, isolation="async"), outcomes)

    for _ in range(2):
        begun, outcome = outcomes.next_of_run()
        lines = messages(outcome.log)
        assert len(lines) == 22
        name = str(begun.execution.snapshot.args["name"])
        assert all(line.startswith(f"INFO shop.bills: {name} ") for line in lines)


async def _log_later(text: str) -> None:
    SHOP.info(text)


def test_a_thread_that_a_job_starts_is_captured_in_a_context_of_the_run(
    executors: Executors,
) -> None:
    def job() -> None:
        for call in (SHOP.info, copy_context().run):
            arguments = ["alone"] if call == SHOP.info else [SHOP.info, "in context"]
            thread = Thread(target=call, args=arguments)
            thread.start()
            thread.join()

    assert messages(outcome_of(executors, run_of(job)).log) == ["INFO shop.bills: in context"]


def test_an_exception_is_logged_with_its_traceback(
    executors: Executors, run: Callable[..., Run]
) -> None:
    def job() -> None:
        try:
            fail("no rate\nfor CHF")
        except ValueError:
            SHOP.exception("no bill")
        SHOP.info("here", stack_info=True)
        SHOP.error("no exception", exc_info=True)

    lines = messages(outcome_of(executors, run(job)).log)

    assert lines[:2] == [
        "ERROR shop.bills: no bill",
        "  Traceback (most recent call last):",
    ]
    assert "  ValueError: no rate" in lines
    assert "  for CHF" in lines
    assert "  Stack (most recent call last):" in lines
    assert lines[-1].startswith("ERROR shop.bills: no exception")


def test_a_message_cannot_pass_for_another_entry(executors: Executors) -> None:
    forged = "2026-01-01T00:00:00.000Z INFO bank: paid"

    outcome = outcome_of(executors, run_of(lambda: SHOP.info("hello\n%s\r%s", forged, forged)))

    assert outcome.log.split("\n")[1:] == [f"  {forged}"] * 2


class Unprintable:
    def __str__(self) -> str:
        raise RunCancelled("by its text")


def test_a_message_that_cannot_be_formatted_harms_no_job(
    executors: Executors, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)

    def job() -> str:
        SHOP.info("%d bills", "three")
        SHOP.info("%s", Unprintable())
        SHOP.log(35, "of a level without a name")
        return "done"

    outcome = outcome_of(executors, run(job))

    assert (outcome.ended, outcome.result) == (Ended.SUCCEEDED, "done")
    assert messages(outcome.log) == [
        "INFO shop.bills: (formatting this message raised TypeError)",
        "INFO shop.bills: (formatting this message raised RunCancelled)",
        "Level 35 shop.bills: of a level without a name",
    ]


def test_a_log_has_no_nul_no_lone_surrogate_and_no_secret(
    executors: Executors, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The report of a test that logs a lone surrogate cannot be sent by pytest-xdist.
    monkeypatch.setattr(logging.root, "handlers", [])

    def job() -> None:
        SHOP.info("\0 \ud800 ✓")
        SHOP.info("password=hunter2 iban: IT60")

    outcome = outcome_of(executors, run(job, redact=("iban",)))

    assert messages(outcome.log) == [
        "INFO shop.bills: \\x00 \\ud800 ✓",
        "INFO shop.bills: password=[redacted] iban: [redacted]",
    ]


def test_of_ten_megabytes_the_first_and_the_last_lines_are_kept(
    executors: Executors, run: Callable[..., Run]
) -> None:
    def job() -> None:
        for number in range(2000):
            SHOP.info("%d %s", number, "x" * 5000)

    log = outcome_of(executors, run(job)).log

    lines = read_log(log)
    assert len(log.encode()) <= 65_536
    assert " 0 xxx" in lines.head[0]
    assert " 1999 xxx" in lines.tail[-1]
    assert lines.total == 2000


def test_the_rule_of_a_job_sets_level_and_size(executors: Executors) -> None:
    def job() -> None:
        SHOP.debug("fine")
        SHOP.info("plain")
        SHOP.warning("loud")

    logs = [
        messages(outcome_of(executors, with_rule(run_of(job), rule)).log)
        for rule in (LogRule(10), LogRule(30), LogRule(10, 0))
    ]

    assert [len(lines) for lines in logs] == [3, 1, 0]


def test_what_a_logger_drops_is_not_captured(executors: Executors) -> None:
    """The capture changes no level: a logger without one is at WARNING here."""

    def job() -> None:
        logging.getLogger("quiet").info("dropped")
        logging.getLogger("quiet").warning("kept")

    assert messages(outcome_of(executors, run_of(job)).log) == ["WARNING quiet: kept"]


def test_lines_of_sempre_itself_are_not_captured(executors: Executors) -> None:
    def job() -> None:
        logging.getLogger("sempre").error("of the engine")
        logging.getLogger("sempre.executors").error("of an executor")
        logging.getLogger("sempre_shop").error("of a shop")
        logging.getLogger("sempre.job.bills").error("of the job")

    assert messages(outcome_of(executors, run_of(job)).log) == [
        "ERROR sempre_shop: of a shop",
        "ERROR sempre.job.bills: of the job",
    ]


def test_a_process_that_a_job_forks_writes_into_no_log(executors: Executors) -> None:
    def job() -> None:
        SHOP.info("before")
        pid = os.fork()
        if pid == 0:
            SHOP.info("in the fork")
            os._exit(0 if messages(current().link.log) == ["INFO shop.bills: before"] else 1)
        assert os.waitpid(pid, 0)[1] == 0

    outcome = outcome_of(executors, run_of(job))

    assert outcome.ended is Ended.SUCCEEDED, outcome.error
    assert messages(outcome.log) == ["INFO shop.bills: before"]


# The set-up of the application


def handlers() -> list[logging.Handler]:
    return [each for each in logging.root.handlers if isinstance(each, RunLogHandler)]


def test_the_capture_is_one_handler_that_goes_with_the_last_executor() -> None:
    before = [*logging.root.handlers]
    level = logging.root.level
    first, second = (Executors(TASKS.__getitem__, isolations=["thread"]) for _ in range(2))

    first.start()
    second.start()
    second.start()
    assert len(handlers()) == 1
    first.stop()
    first.stop()
    assert len(handlers()) == 1
    second.stop()

    assert logging.root.handlers == before
    assert logging.root.level == level


def test_the_capture_goes_on_after_the_application_has_replaced_its_handlers(
    executors: Executors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler()])

    outcome = outcome_of(executors, run_of(lambda: SHOP.info("still here")))

    assert messages(outcome.log) == ["INFO shop.bills: still here"]


def test_an_application_without_handlers_sees_its_warnings_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`logging` prints warnings on stderr only while there is no handler at all."""
    monkeypatch.setattr(logging.root, "handlers", [])
    own = logging.getLogger("own")
    monkeypatch.setattr(own, "handlers", [logging.NullHandler()])
    CAPTURE.start()
    try:
        with redirect_stderr(io.StringIO()) as printed:
            logging.getLogger("shop").warning("printed")
            logging.getLogger("shop").info("too low")
            logging.getLogger("own").warning("has a handler of its own")
    finally:
        CAPTURE.stop()

    assert printed.getvalue() == "printed\n"


def test_a_record_outside_of_runs_is_captured_nowhere(executors: Executors) -> None:
    assert executors.logs() == {}

    SHOP.info("nobody's")

    assert executors.logs() == {}
    with running(Current(name="bill")) as test:
        SHOP.info("in a test of a job")
    assert messages(test.link.log) == ["INFO shop.bills: in a test of a job"]


def test_the_handler_asks_for_no_lock_of_logging() -> None:
    """A thread that holds the lock of the handler keeps no job from logging."""
    handler = RunLogHandler()
    record = logging.LogRecord("shop", logging.INFO, __file__, 1, "text", None, None)
    handler.acquire()
    try:
        thread = Thread(target=handler.handle, args=(record,), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
    finally:
        handler.release()
