"""What the jobs of a fleet leave on disk: a log of effects, and a resource that checks fences.

Each record is one write to a file opened with O_APPEND, so records of many processes never mix.
A write that crosses a page is torn if its process is killed, or a reader comes, just then. So each
record begins and ends with a line break; a torn record is not JSON, and is not counted.
The servers are on this host, so that its clock is also the store's.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sempre import current
from sempre.clock import SystemClock

__all__ = ["Effects", "read_log", "read_resources"]

LOG = "effects.log"
CLOCK = SystemClock()


class Effects:
    """The folder of one fleet, as its jobs see it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def started(self) -> None:
        """Note that this run has begun."""
        self._note("start")

    def ended(self, *, guarded_by: str) -> None:
        """Do the one thing that must happen once, then note that this run has ended."""
        self._note("end", fenced=self._apply(guarded_by))

    def failed(self) -> None:
        """Note that this run ends without success, as it should."""
        self._note("fail")

    @property
    def gate(self) -> Path:
        """The file that lets waiting runs end."""
        return self._folder / "gate"

    def _note(self, what: str, **more: str) -> None:
        run = current()
        line = {
            "what": what,
            "schedule": run.name,
            "slot": run.slot.timestamp(),
            "due": run.due_at.timestamp(),
            "attempt": run.attempt,
            "fence": run.fence,
            "id": run.id,
            "pid": os.getpid(),
            "at": CLOCK.now().timestamp(),
            **more,
        }
        _append(self._folder / LOG, line)

    def _apply(self, resource: str) -> str:
        """Apply the effect unless the resource knows better; say what it answered."""
        run = current()
        with _locked(self._folder / f"{resource}.resource") as (path, known):
            if known and run.fence < max(fence for fence, _ in known):
                return "refused"
            if run.slot.timestamp() in {slot for _, slot in known}:
                return "repeated"
            _append(path, [run.fence, run.slot.timestamp()])
            return "applied"


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Return the records of the log, in the order of their writing."""
    path = folder / LOG
    return list(_records(path)) if path.exists() else []


def read_resources(folder: Path) -> dict[str, list[float]]:
    """Return the slots whose effect was applied, by resource."""
    found = sorted(folder.glob("*.resource"))
    return {path.stem: [slot for _, slot in _entries(path)] for path in found}


def _append(path: Path, record: object) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"\n{json.dumps(record)}\n".encode())
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[tuple[Path, list[tuple[int, float]]]]:
    with path.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield path, _entries(path)


def _entries(path: Path) -> list[tuple[int, float]]:
    return [(fence, slot) for fence, slot in _records(path)]


def _records(path: Path) -> Iterator[Any]:
    for line in path.read_text().splitlines():
        with suppress(json.JSONDecodeError):  # empty, or torn
            yield json.loads(line)
