"""Restarts of `sempre dev` when the code changes.

The files are polled: their times of change are compared once a second. Polling needs no dependency,
and sees changes that a kernel does not report: on NFS, and in a container whose folder belongs to
its host.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from types import FrameType

from sempre.cli.output import inform

__all__ = ["changed_files", "file_times", "run_reloading"]

REST = 1.0
"""Seconds between two looks at the files."""
PATIENCE = 5.0
"""Seconds that running jobs have to finish before a restart cuts them off."""
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
Times = dict[str, int]


def run_reloading(arguments: Sequence[str], folders: Sequence[Path]) -> int:
    """Run `sempre` with these arguments, and again after each change; return its exit code."""
    stop = Event()

    def request_stop(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    # A terminal sends Ctrl-C to the child too.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, request_stop)
    times = file_times(folders)
    while True:
        child = subprocess.Popen([sys.executable, "-m", "sempre", *arguments])  # noqa: S603 - our own
        times, changed = _wait_for_change(child, folders, times, stop)
        code = _end(child)
        if not changed:
            return code
        inform(f"reload: {_described(changed)} changed")


def _wait_for_change(
    child: "subprocess.Popen[bytes]", folders: Sequence[Path], times: Times, stop: Event
) -> tuple[Times, list[str]]:
    """Wait until a file changes or a stop is requested; return the times and the changed files."""
    has_ended = False
    while not stop.wait(REST):
        if not has_ended and child.poll() is not None:
            has_ended = True
            inform("reload: waiting for a change, then this command starts again")
        now = file_times(folders)
        if changed := changed_files(times, now):
            return now, changed
    return times, []


def _end(child: "subprocess.Popen[bytes]") -> int:
    """Stop the child: running jobs finish, or are cut off by a second signal."""
    child.terminate()
    try:
        return child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.terminate()
        return child.wait()


def file_times(folders: Sequence[Path]) -> Times:
    """Return when each Python file below these folders was last changed."""
    return {path: time for folder in folders for path, time in _walk(os.fspath(folder))}


def changed_files(before: Times, now: Times) -> list[str]:
    """Return the files that are new, gone or changed."""
    return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def _walk(folder: str) -> Iterator[tuple[str, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    # An environment holds installed packages, not the code of the application.
    if any(each.name == "pyvenv.cfg" for each in entries):
        return
    for each in entries:
        if each.name.startswith(".") or each.name in SKIPPED:
            continue
        try:
            if each.is_dir(follow_symlinks=False):
                yield from _walk(each.path)
            elif each.name.endswith(".py"):
                yield each.path, each.stat().st_mtime_ns
        except FileNotFoundError:
            continue


def _described(changed: Sequence[str]) -> str:
    first = os.path.relpath(changed[0])
    return first if len(changed) == 1 else f"{first} and {len(changed) - 1} more"
