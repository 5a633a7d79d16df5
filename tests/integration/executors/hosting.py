"""The tests' side of a worker process: commands to it, outcomes from it, and its descendants."""

import json
import os
import socket
import subprocess
import sys
from collections import deque
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any, Self

from sempre.domain.arguments import Json
from sempre.testing.polling import eventually
from tests.architecture.source import ROOT

__all__ = ["Worker", "descendants", "fork_server", "wait_for_exit"]

# A test that hangs is ended, so that the others run; nothing is asserted by it.
HANGS_AFTER = 120


class Worker:
    """A worker process of its own."""

    def __init__(self, **options: Json) -> None:
        ours, theirs = socket.socketpair()
        reader, writer = os.pipe()
        waits, self._release = os.pipe()
        self._channel = ours
        self._channel.settimeout(HANGS_AFTER)
        self._lines = ours.makefile("r")
        self._pipe = os.fdopen(reader, "r")
        self._outcomes: deque[dict[str, Any]] = deque()
        self._answers: deque[Any] = deque()
        self._numbers = count(1)
        variables = {
            "SEMPRE_TEST_PIPE": str(writer),
            "SEMPRE_TEST_CHANNEL": str(theirs.fileno()),
            "SEMPRE_TEST_RELEASE": str(waits),
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        }
        command = [sys.executable, "-m", "tests.integration.executors.host"]
        self.process = subprocess.Popen(
            [*command, str(theirs.fileno()), json.dumps(options)],
            pass_fds=[theirs.fileno(), writer, waits],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        self._guard = Timer(HANGS_AFTER, self.process.kill)
        self._guard.start()
        theirs.close()
        os.close(writer)
        os.close(waits)
        assert self._answer() == "ready"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.cancel()
        self.process.kill()
        self.process.communicate()
        self._lines.close()
        self._channel.close()
        self._pipe.close()
        os.close(self._release)

    def submit(self, job: str, *, timeout: float | None = None, **args: Json) -> str:
        identity = f"run {next(self._numbers)}"
        self.ask("submit", identity=identity, job=job, args=args, timeout=timeout)
        return identity

    def run(self, job: str, *, timeout: float | None = None, **args: Json) -> dict[str, Any]:
        identity = self.submit(job, timeout=timeout, **args)
        outcome = self.outcome()
        assert outcome["id"] == identity
        return outcome

    def outcome(self) -> dict[str, Any]:
        while not self._outcomes:
            self._receive()
        return self._outcomes.popleft()

    @property
    def is_silent(self) -> bool:
        return not self._outcomes

    def ask(self, what: str, **details: Json) -> Any:  # noqa: ANN401 - JSON
        order = json.dumps({"do": what, **details})
        self._channel.sendall(order.encode() + b"\n")
        return self._answer()

    def hold(self) -> None:
        """Keep every thread of the worker from running until `release`."""
        assert self.ask("hold") == "held"

    def release(self) -> None:
        """Let the threads of the worker run again."""
        os.write(self._release, b"!")
        assert self._answer() is None

    def read_line(self) -> str:
        """Wait for the next line of a job; empty when no process is left that could write one."""
        return self._pipe.readline().strip()

    def written(self) -> tuple[str, str]:
        """End the worker in an orderly way, and return its standard output and error."""
        self._channel.shutdown(socket.SHUT_WR)
        return self.process.communicate()

    def _answer(self) -> Any:  # noqa: ANN401 - JSON
        while not self._answers:
            self._receive()
        return self._answers.popleft()

    def _receive(self) -> None:
        line = self._lines.readline()
        assert line, self.process.communicate()[1]
        for kind, value in json.loads(line).items():
            (self._outcomes if kind == "outcome" else self._answers).append(value)


def descendants(pid: int) -> dict[int, str]:
    """Return all descendants of a process, zombies included, each with its kind and state."""
    parents, states = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, group, *_ = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        each = int(path.parent.name)
        states[each] = f"{'child' if int(group) == each else 'fork server'} {state}"
        parents[each] = int(parent)
    found = {pid}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return {each: states[each] for each in found - {pid}}


def fork_server(worker: Worker) -> int:
    """Return the fork server of a worker; a child sleeps only in a process group of its own."""

    def found() -> list[int]:
        processes = descendants(worker.process.pid).items()
        return [pid for pid, state in processes if state == "fork server S"]

    [pid] = eventually(found)
    return pid


def wait_for_exit(pid: int) -> None:
    """Return when a process has exited; whether its new parent has reaped it does not matter."""
    eventually(lambda: state_of(pid) in ("", "Z"))


def state_of(pid: int) -> str:
    """Return the letter that /proc shows for a process; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
