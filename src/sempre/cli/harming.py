"""Which worker processes a drill may kill, and how it does.

Only processes of this host and user that are `sempre worker` under a supervisor, which starts
another one. Whatever else holds a session, be it a web server that works on the side, is left
alone. A pid may be another process by now, so it is asked again with the process held fast.
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
    """Return why a process must not be killed; an empty text if it may."""
    if not PROCESSES.joinpath("self").exists() or not hasattr(os, "pidfd_open"):
        return "this system does not tell what a process is"
    try:
        owner, words, parent = _read(pid)
        parents_words = _words(parent)
    except (OSError, ValueError):
        return "there is no such process here"
    if owner != os.getuid():
        return "it belongs to another user"
    if not _is_worker(words):
        return "it is not `sempre worker`"
    if parents_words != words:
        return "it has no supervisor that would start another one"
    return ""


def kill(pid: int) -> str:
    """Kill a process if that is allowed; return why it was spared, or an empty text."""
    try:
        held = os.pidfd_open(pid)
    except OSError:
        return "there is no such process here"
    try:
        spared = why_spared(pid)
        if not spared:
            # One that has just ended by itself is as good as killed.
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(held, signal.SIGKILL)
    finally:
        os.close(held)
    return spared


def _read(pid: int) -> tuple[int, list[str], int]:
    """Return the owner of a process, the words of its command line, and its parent."""
    folder = PROCESSES / str(pid)
    parent = folder.joinpath("stat").read_text().rpartition(")")[2].split()[1]
    return folder.stat().st_uid, _words(pid), int(parent)


def _words(pid: int | str) -> list[str]:
    return PROCESSES.joinpath(str(pid), "cmdline").read_bytes().decode(errors="replace").split("\0")


def _is_worker(words: Sequence[str]) -> bool:
    """Tell whether a command line is `sempre worker`, by its name or by `python -m sempre`."""
    return any(Path(one).name == "sempre" and two == "worker" for one, two in pairwise(words))
