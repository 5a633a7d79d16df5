"""Kills the worker processes that a drill may kill.

A drill kills only processes of this host and user that are `sempre worker` under a supervisor,
which starts a replacement. Any other holder of a session, such as a web server with an embedded
worker, is left alone. A pid may belong to another process by now: the check is repeated through a
pidfd, which pins the process.
"""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

__all__ = ["kill", "why_spared"]

PROCESSES = Path("/proc")


def why_spared(pid: int) -> str:
    """Return why a process must not be killed; empty if the drill may kill it."""
    if not PROCESSES.joinpath("self").exists() or not hasattr(os, "pidfd_open"):
        return "this system has no /proc or no pidfd"
    try:
        owner, words, parent = _read(pid)
        parents_words = _words(parent)
    except (OSError, ValueError):
        return "no such process on this host"
    if owner != os.getuid():
        return "the process belongs to another user"
    if not _is_worker(words):
        return "the process is not `sempre worker`"
    if parents_words != words:
        return "no supervisor would restart the process"
    return ""


def kill(pid: int) -> str:
    """Kill a process if the drill may; return why it was spared, or an empty text."""
    try:
        held = os.pidfd_open(pid)
    except OSError:
        return "no such process on this host"
    try:
        spared = why_spared(pid)
        if not spared:
            # A process that has just ended counts as killed.
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(held, signal.SIGKILL)
    finally:
        os.close(held)
    return spared


def _read(pid: int) -> tuple[int, list[str], int]:
    """Return the owner, the command line and the parent of a process."""
    folder = PROCESSES / str(pid)
    parent = folder.joinpath("stat").read_text().rpartition(")")[2].split()[1]
    return folder.stat().st_uid, _words(pid), int(parent)


def _words(pid: int | str) -> list[str]:
    return PROCESSES.joinpath(str(pid), "cmdline").read_bytes().decode(errors="replace").split("\0")


def _is_worker(words: Sequence[str]) -> bool:
    """Return whether a command line is `sempre worker` or `python -m sempre worker`."""
    return any(Path(one).name == "sempre" and two == "worker" for one, two in pairwise(words))
