"""What the processes of a contestant use: memory and CPU of a whole session, read from /proc."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["cpu_seconds", "members", "memory_of"]

KILOBYTE = 1024


def members(sessions: Iterable[int]) -> list[int]:
    """Return the processes of some sessions."""
    wanted = set(sessions)
    return [int(path.name) for path in _listed() if _session(path) in wanted]


def memory_of(sessions: Iterable[int]) -> float:
    """Return megabytes; what processes share counts once."""
    return sum(_memory(pid) for pid in members(sessions)) / KILOBYTE


def cpu_seconds(sessions: Iterable[int]) -> float:
    """Return how long they have kept a processor busy so far."""
    return sum(_ticks(pid) for pid in members(sessions)) / os.sysconf("SC_CLK_TCK")


def _listed() -> Iterable[Path]:
    return (path for path in Path("/proc").iterdir() if path.name.isdigit())


def _fields(path: Path) -> list[str]:
    """Return the fields of a process after its name, which may hold anything."""
    with suppress(OSError):
        return (path / "stat").read_text().rpartition(")")[2].split()
    return []


def _session(path: Path) -> int | None:
    fields = _fields(path)
    return int(fields[3]) if fields else None


def _ticks(pid: int) -> int:
    fields = _fields(Path(f"/proc/{pid}"))
    return int(fields[11]) + int(fields[12]) if fields else 0


def _memory(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
