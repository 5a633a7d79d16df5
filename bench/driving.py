"""Runs the small scripts of `bench/peers` by the Python of each peer's own environment.

A script answers with one line of JSON. Workers are asked to work until they are ended; what they
did is read from a file of marks, eight bytes for each job that has started.
"""

import array
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import IO, Any

from bench.environments import ROOT, python_of
from bench.measuring import Failed, check_count

__all__ = ["Driver", "Process", "await_marks", "read_marks"]

PATIENCE = 60.0
PAUSE = 0.02
AFTERWARDS = 0.3
MARK = 8


class Process:
    """A script that goes on until it is ended, in a session of its own with all its children."""

    def __init__(self, popen: "subprocess.Popen[str]", log: Path) -> None:
        self._popen = popen
        self._log = log

    @property
    def pid(self) -> int:
        """The id of the process and of its session."""
        return self._popen.pid

    def check(self) -> None:
        """Refuse to wait for one that has ended."""
        if self._popen.poll() is not None:
            raise Failed(f"it ended with {self._popen.returncode}: {last_words(self._log)}")

    def answer(self) -> dict[str, Any]:
        """Wait for the line of JSON that it says when it is ready."""
        for line in self._popen.stdout or ():
            if line.startswith("{"):
                told: dict[str, Any] = json.loads(line)
                return told
        self._popen.wait(PATIENCE)
        raise Failed(f"it said nothing: {last_words(self._log)}")

    def end(self) -> None:
        """Ask it to end, and after a while insist; its children too."""
        for by in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._popen.pid, by)
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(10)
        if self._popen.stdout:
            self._popen.stdout.close()


@dataclass(frozen=True)
class Driver:
    """A script of `bench/peers`, the environment it needs, and what it is told.

    Attributes:
        module: below `bench.peers`, such as "queues.huey".
        settings: told to the script as they are, besides `url` and `folder`.
    """

    environment: str
    module: str
    settings: Mapping[str, object]
    folder: Path

    @property
    def marks(self) -> Path:
        """Where jobs note that they have started."""
        return self.folder / "marks"

    def call(self, *words: str) -> dict[str, Any]:
        """Run the script to its end and return what it says."""
        log = self.folder / "log"
        with self._begun(words, log) as process:
            return process.answer()

    @contextmanager
    def working(self, *words: str, processes: int = 1) -> Iterator[list[Process]]:
        """Run the script, more than once if need be, as long as the block lasts."""
        begun = [self._begin(words, self.folder / f"log-{number}") for number in range(processes)]
        try:
            yield begun
        finally:
            for each in begun:
                each.end()

    @contextmanager
    def _begun(self, words: Sequence[str], log: Path) -> Iterator[Process]:
        process = self._begin(words, log)
        try:
            yield process
        finally:
            process.end()

    def _begin(self, words: Sequence[str], log: Path) -> Process:
        told = {"folder": str(self.folder), "marks": str(self.marks), **self.settings}
        command = [python_of(self.environment), "-m", "bench.peers", self.module, *words]
        with log.open("w") as output:
            return Process(self._popen(command, told, output), log)

    def _popen(
        self, command: Sequence[str], told: Mapping[str, object], output: IO[str]
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"BENCH": json.dumps(told)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            start_new_session=True,
        )


def await_marks(
    path: Path, count: int, processes: Sequence[Process], *, patience: float = PATIENCE
) -> list[float]:
    """Wait until so many jobs have started and no more come; return when each did.

    Raises:
        Failed: a process ended, nothing happened for a while, or more were started than there are.
    """
    seen, since = 0, perf_counter()
    while (now := _count(path)) < count:
        if now > seen:
            seen, since = now, perf_counter()
        for each in processes:
            each.check()
        if perf_counter() - since > patience:
            raise Failed(f"{now:,} of {count:,} jobs, then nothing for {patience:.0f} s")
        Event().wait(PAUSE)
    # A job that is run twice tends to come late.
    Event().wait(AFTERWARDS)
    marks = read_marks(path)
    check_count(len(marks), count)
    return marks


def read_marks(path: Path, *, sort: bool = True) -> list[float]:
    """Return what jobs noted: by default when they started, the first first."""
    found = array.array("d")
    found.frombytes(path.read_bytes())
    return sorted(found) if sort else list(found)


def last_words(log: Path) -> str:
    """Return the end of what a script complained about, on one line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-2:])[-300:] or "no word"


def _count(path: Path) -> int:
    return path.stat().st_size // MARK if path.exists() else 0
