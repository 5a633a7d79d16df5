"""A job whose process is killed has its effect exactly once, wherever in its run that happens."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.ports.executor import Isolation
from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tests.integration.transactions.places import Place
from tests.integration.transactions.program import application

PROGRAM = "tests.integration.transactions.program"


@contextmanager
def worker(*words: str, output: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with output.open("ab") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", PROGRAM, *words],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("isolation", "moment"),
    [
        ("thread", "write"),
        ("process", "write"),
        ("process", "commit"),
        pytest.param("thread", "commit", marks=pytest.mark.long),
    ],
)
def test_the_effect_is_there_exactly_once(
    place: Place, isolation: Isolation, moment: str, tmp_path: Path
) -> None:
    place.run("CREATE TABLE orders (number INTEGER)")
    gate, output = tmp_path / "gate", tmp_path / "output"
    words = place.store, isolation, moment, str(gate)
    app, pay = application(place.store, isolation, "never", gate)
    receipt = pay.enqueue(1)
    store = app.engine.store

    def ended() -> Execution | None:
        [found] = store.candidates([receipt.id]).value
        return found.execution if found.execution.state is State.SUCCEEDED else None

    with worker(*words, output=output) as first:
        if isolation == "process":
            run = eventually(ended, otherwise=output.read_text)
        else:
            # The job kills the process that it runs in, which is the worker itself.
            assert first.wait() == -signal.SIGKILL
            with worker(*words, output=output):
                run = eventually(ended, otherwise=output.read_text)

    assert gate.exists()
    assert place.orders == [1]
    assert (run.attempt > 1) is (moment == "write")
    settled = [each for each in store.attempts(run.id).value if each.state is State.SUCCEEDED]
    assert [each.result for each in settled] == [1]
    app.close()
