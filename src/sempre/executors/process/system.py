"""System calls for processes that `os` does not offer, and the description of an exit code."""

import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

__all__ = [
    "describe_exit",
    "die_with_parent",
    "lift_memory_limit",
    "limit_memory",
    "name_process",
    "open_parent_pipe",
    "thread_count",
]

_SET_PARENT_DEATH_SIGNAL = 1
_SET_NAME = 15
_THREADS = Path("/proc/self/task")


def thread_count() -> int:
    """Return the number of threads of this process; without /proc, of the threads of Python."""
    try:
        return sum(1 for _ in _THREADS.iterdir())
    except OSError:
        return threading.active_count()


def open_parent_pipe() -> tuple[int, int] | None:
    """Return a pipe that a parent holds open for its children; None where Linux needs none."""
    return os.pipe() if _prctl is None else None


def die_with_parent(parent: int, parent_pipe: tuple[int, int] | None) -> None:
    """Have this process killed as soon as its parent has ended.

    The Linux kernel does that. Elsewhere a thread waits for the end of the parent's pipe.
    """
    if parent_pipe is not None:
        os.close(parent_pipe[1])
        threading.Thread(target=_die_after_end_of, args=(parent_pipe[0],), daemon=True).start()
    elif _prctl is not None:
        _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def name_process(name: str) -> None:
    """Show this process under a name in lists of processes, where that is possible."""
    if _prctl is not None:
        _prctl(_SET_NAME, name.encode()[:15])


def limit_memory(size: int) -> None:
    """Limit the address space of this process, in bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = size if most == resource.RLIM_INFINITY else min(size, most)
    # The soft limit only: it is lifted again for the report.
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def lift_memory_limit() -> None:
    """Let this process have as much address space as its parent again."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def describe_exit(code: int) -> str:
    """Describe how a process ended without a report, by its exit code or negative signal."""
    if code >= 0:
        return f"its process exited with code {code} before the job was done"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "; perhaps the system ran out of memory" if -code == signal.SIGKILL else ""
    return f"its process was killed by {name}{hint}"


def _die_after_end_of(pipe: int) -> None:
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


def _find_prctl() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), "prctl", None)
    return found


_prctl = _find_prctl()
