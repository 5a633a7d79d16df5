"""The processes of a worker, as the kernel shows them."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Process", "children", "cpu_seconds", "in_session", "peak_mebibytes", "send"]


@dataclass(frozen=True)
class Process:
    """One line of /proc; a zombie is none. It is the same one, whatever it does at the moment."""

    pid: int
    name: str = field(compare=False)
    state: str = field(compare=False)
    parent: int = field(compare=False)
    session: int


def in_session(session: int) -> list[Process]:
    """Return every process of a session that has not ended, whoever is its parent by now."""
    return [each for each in _all() if each.session == session]


def children(pid: int) -> list[Process]:
    """Return the children of a process, the oldest first."""
    return sorted((each for each in _all() if each.parent == pid), key=lambda each: each.pid)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to one process, which may just have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _all() -> list[Process]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                found.append(_read((folder / "stat").read_text()))
    return [each for each in found if each.state not in "ZX"]


def _read(line: str) -> Process:
    pid, _, rest = line.partition(" (")
    name, _, fields = rest.rpartition(") ")
    state, parent, _, session, *_ = fields.split()
    return Process(int(pid), name, state, int(parent), int(session))


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return how much time of a core processes have used that have not ended."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_mebibytes(pid: int) -> float:
    """Return how much memory a process has had at most; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0
