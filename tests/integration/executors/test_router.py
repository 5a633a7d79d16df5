"""All executors behind one port: each run goes where its task asks to run."""

import subprocess
import sys
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from sempre.executors import Executors
from sempre.executors.current import current
from sempre.ports.executor import Ended, Progress, Task
from tests.architecture.source import ROOT
from tests.unit.executors.runs import Outcomes, outcome_of, run_of

TASKS: dict[str, Task] = {}
PROGRAM = """
import os, threading
from sempre.executors import Executors
from sempre.executors.current import current
from sempre.ports.executor import Task
from tests.unit.executors.runs import Outcomes, run_of

def where():
    return [os.getpid() == MAIN, threading.current_thread().name, current().name]

async def where_async():
    return where()

MAIN = os.getpid()
TASKS = {"where": Task("where", where)}
executors = Executors(TASKS.__getitem__)
executors.start()
executors.start()
assert executors.unavailable == {}
for isolation, function in [("thread", where), ("async", where_async), ("process", where)]:
    outcomes = Outcomes()
    executors.submit(run_of(function, isolation=isolation), outcomes)
    print(isolation, *outcomes.next().result)
executors.stop()
"""


def test_each_run_goes_where_its_task_wants_to_be() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip

    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "thread True sempre-run billing",
        "async True sempre-loop billing",
        "process False MainThread billing",
    ]


ALONE = """
import os
from sempre.executors import Executors
from sempre.ports.executor import Task
from tests.unit.executors.runs import outcome_of, run_of

def where():
    return os.getpid() == MAIN

async def where_async():
    return where()

def fatal():
    os._exit(3)

async def fatal_async():
    fatal()

MAIN = os.getpid()
FUNCTIONS = {f.__name__: f for f in (where, where_async, fatal, fatal_async)}
TASKS = {name: Task(name, function) for name, function in FUNCTIONS.items()}
executors = Executors(TASKS.__getitem__, isolations=("thread", "async"), forks=True)
executors.start()

def show(name, isolation, alone):
    run = run_of(FUNCTIONS[name], isolation=isolation, crashes=int(alone))
    outcome = outcome_of(executors, run)
    print(name, outcome.ended.value, outcome.result)

for name, isolation in (("where", "thread"), ("where_async", "async")):
    show(name, isolation, False)
    show(name, isolation, True)
    show(name, isolation, False)
for name, isolation in (("fatal", "thread"), ("fatal_async", "async")):
    show(name, isolation, True)
    show(name, isolation, False)
    show(name, isolation, False)
executors.stop()
"""


def test_what_is_to_run_alone_has_a_process_of_its_own_whatever_its_isolation() -> None:
    """And so has every run of its job, from a crash until one has ended."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip

    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "where succeeded True",
        "where succeeded False",
        "where succeeded True",
        "where_async succeeded True",
        "where_async succeeded False",
        "where_async succeeded True",
        *["fatal crashed None"] * 3,
        *["fatal_async crashed None"] * 3,
    ]


def test_what_is_to_run_alone_runs_as_usual_where_nothing_can_be_forked(
    threaded: Executors, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        outcome = outcome_of(threaded, run_of(lambda: 1, crashes=1))
        assert outcome.result == 1

    [line] = [each.message for each in caplog.records if "beside other runs" in each.message]
    assert "cannot fork" in line


@pytest.fixture
def threaded() -> Iterator[Executors]:
    """Executors in a process that has threads already."""
    leave = Event()
    thread = Thread(target=leave.wait)
    thread.start()
    made = Executors(TASKS.__getitem__)
    made.start()
    yield made
    made.stop()
    leave.set()
    thread.join()


def test_where_nothing_can_be_forked_the_others_work_and_the_reason_is_reported(
    threaded: Executors,
) -> None:
    assert "threads" in threaded.unavailable["process"]

    refused = outcome_of(threaded, run_of(lambda: 1, isolation="process"))
    assert refused.ended is Ended.FAILED
    assert "isolation='process' is not available: this process has" in refused.error

    assert outcome_of(threaded, run_of(lambda: 1, isolation="thread")).result == 1
    assert outcome_of(threaded, run_of(lambda: 2, isolation="async")).result == 2


def test_what_was_not_wanted_is_not_made() -> None:
    executors = Executors(TASKS.__getitem__, isolations=["thread"])
    executors.start()

    outcome = outcome_of(executors, run_of(lambda: 1, isolation="process"))

    assert "made without it" in outcome.error
    assert executors.unavailable == {}
    executors.stop()


def test_cancelling_progress_and_stuck_are_those_of_all(threaded: Executors) -> None:
    outcomes, release, began = Outcomes(), Event(), [Event(), Event()]

    def by_thread() -> None:
        current().progress(1)
        began[0].set()
        release.wait()

    def by_loop() -> bool:
        current().progress(2)
        began[1].set()
        release.wait()
        return current().cancelled

    runs = [run_of(by_thread, timeout=1), run_of(by_loop, isolation="async")]
    for run, event in zip(runs, began, strict=True):
        threaded.submit(run, outcomes)
        event.wait()

    first, second = (run.execution.id for run in runs)
    assert threaded.progress() == {first: Progress(1), second: Progress(2)}
    assert outcomes.next().ended is Ended.TIMED_OUT
    assert threaded.stuck == 1
    assert threaded.cancel(second, reason="by ann")
    assert not threaded.cancel("unknown", reason="by ann")
    release.set()
    assert outcomes.next().result is True
