"""Machines: programs in processes of their own, started as a person starts them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.architecture.source import ROOT
from tests.integration.cli.programs import clean_environment

__all__ = ["Machine", "machine"]


class Machine:
    """A program in the foreground, and what it has logged so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def lines(self) -> list[str]:
        return self._log.read_text(errors="replace").splitlines()

    @property
    def is_in_the_foreground(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> int:
        """Ask it to end, as a service manager does; return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()


@contextmanager
def machine(log: Path, example: str, *arguments: str) -> Iterator[Machine]:
    """Run an example; whatever it is doing at the end, it ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "examples" / example), *arguments],
            cwd=log.parent,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield Machine(process, log)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
