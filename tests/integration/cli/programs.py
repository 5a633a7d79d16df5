"""`sempre` as a real process, whose lines a test waits for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

LONGEST = 60.0
"""A process that hangs is killed after so long, and its test fails for want of lines."""


class Program:
    """A running command; its stderr is read line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []

    def wait_for(self, text: str, *, times: int = 1) -> str:
        """Read until a line has the text, so many times; return the last one."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            times -= text in line
            if times == 0:
                return self.lines[-1]
        raise AssertionError(f"no line has {text!r}:\n" + "\n".join(self.lines))

    def end(self, number: int) -> int:
        """Send a signal, read what is left, and return the exit code."""
        self.process.send_signal(number)
        rest = self.process.communicate()[1]
        self.lines += rest.splitlines()
        return self.process.returncode


@contextmanager
def program(folder: Path, *arguments: str, **environment: str) -> Iterator[Program]:
    """Start `sempre` in a folder; end it, if it has not, when the test is over."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sempre", *arguments],
        cwd=folder,
        env={**clean_environment(), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = Timer(LONGEST, process.kill)
    guard.start()
    try:
        yield Program(process)
    finally:
        guard.cancel()
        process.terminate()
        process.communicate()


def finished(
    folder: Path, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run `sempre` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "sempre", *arguments],
        cwd=folder,
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


def clean_environment() -> dict[str, str]:
    """Return the environment without what would change how commands behave."""
    ours = ("SEMPRE_", "NO_COLOR", "FORCE_COLOR")
    return {key: value for key, value in os.environ.items() if not key.startswith(ours)}
