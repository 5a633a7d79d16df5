"""A worker process for tests: it has one process executor and obeys a socket, line by line.

The tests' own process has threads, from which no fork server may be forked; and it must survive
when a worker is killed.
"""

import ctypes
import json
import logging
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Lock, active_count
from typing import Any

from sempre.executors.log_capture import CAPTURE
from sempre.executors.process import ProcessExecutor, system
from sempre.ports.executor import Outcome, Run
from tests.integration.executors.jobs import TASKS
from tests.unit.executors.runs import run_of

__all__ = ["main"]


class Host:
    """Obeys commands, and sends their results and the outcomes of runs."""

    def __init__(self, channel: socket.socket, options: dict[str, Any]) -> None:
        self._channel = channel
        self._lock = Lock()
        grace = timedelta(seconds=options.get("grace", 60))
        self._private = os.pipe()
        self._broken: list[str] = []
        self._executor = ProcessExecutor(
            TASKS.__getitem__, grace=grace, private=self._private, broken=self._broken.append
        )

    def serve(self, lines: Iterable[str]) -> None:
        CAPTURE.start()
        self._executor.start()
        self.send({"answer": "ready"})
        for line in lines:
            command = json.loads(line)
            self.send({"answer": getattr(self, command.pop("do"))(**command)})

    def submit(self, identity: str, job: str, args: dict[str, Any], timeout: float | None) -> None:
        task = replace(TASKS.get(job) or TASKS["echo"], name=job)
        run = run_of(task.function, args=args, timeout=timeout)
        execution = replace(run.execution, id=identity)
        self._executor.submit(Run(execution, task, run.timeout), self._done)

    def cancel(self, identity: str, reason: str) -> bool:
        return self._executor.cancel(identity, reason=reason)

    def progress(self) -> dict[str, list[object]]:
        found = self._executor.progress()
        return {identity: list(vars(each).values()) for identity, each in found.items()}

    def logs(self) -> list[str]:
        return [*self._executor.logs().values()]

    def stuck(self) -> int:
        return self._executor.stuck

    def broken(self) -> list[str]:
        return self._broken

    def private(self) -> list[int]:
        return [*self._private]

    def fork(self) -> list[str]:
        """Fork as a job in a thread may; return where our descriptors lead in that process."""
        ours, theirs = os.pipe()
        wanted = [*self._private, *self._sockets()]
        if os.fork() == 0:
            os.write(theirs, json.dumps([_target(each) for each in wanted]).encode())
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            found: list[str] = json.load(pipe)
        os.wait3(0)
        return found

    def _sockets(self) -> list[int]:
        others = {self._channel.fileno()}
        every = [int(each.name) for each in Path("/proc/self/fd").iterdir()]
        sockets = [each for each in every if _target(each).startswith(("socket", "anon_inode"))]
        return sorted({*sockets} - others)

    def descriptors(self) -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    def threads(self) -> int:
        return active_count()

    def hold(self) -> None:
        """Hold the interpreter, as a job in C does, until the test releases it; no thread runs."""
        self.send({"answer": "held"})
        ctypes.PyDLL(None).read(int(os.environ["SEMPRE_TEST_RELEASE"]), bytes(1), 1)

    def stop(self) -> None:
        self._executor.stop()

    def start_again(self) -> str:
        try:
            ProcessExecutor(TASKS.__getitem__).start()
        except Exception as error:  # noqa: BLE001 - the test reads it
            return f"{type(error).__name__}: {error}"
        return "started"

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._channel.sendall(json.dumps(message, default=str).encode() + b"\n")

    def _done(self, run: Run, outcome: Outcome) -> None:
        self.send({"outcome": {"id": run.execution.id, **outcome._asdict()}})


def _target(descriptor: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return ""


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    # The test reads stderr at the end only: a pipe has no room for what jobs log.
    logging.root.handlers[0].setLevel(logging.WARNING)
    options = json.loads(sys.argv[2])
    if options.get("no_prctl"):
        # As on a system that has no such thing.
        system._prctl = None  # noqa: SLF001
    channel = socket.socket(fileno=int(sys.argv[1]))
    Host(channel, options).serve(channel.makefile("r"))


if __name__ == "__main__":
    main()
