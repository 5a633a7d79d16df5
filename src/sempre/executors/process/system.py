"""What the operating system offers for processes beyond `os`, and how it tells that one ended."""

import _signal  # type: ignore[import-not-found]
import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

__all__ = [
    "die_with_parent",
    "ending",
    "leash",
    "let_signals_in",
    "lift_memory_limit",
    "limit_memory",
    "name_process",
    "thread_count",
    "watch_process",
]

_SET_PARENT_DEATH_SIGNAL = 1
_SET_NAME = 15
_THREADS = Path("/proc/self/task")


def thread_count() -> int:
    """Return how many threads this process has; where the system does not tell, Python's own."""
    try:
        return sum(1 for _ in _THREADS.iterdir())
    except OSError:
        return threading.active_count()


def leash() -> tuple[int, int] | None:
    """Return a pipe that a parent holds for its children, where the system needs one."""
    return os.pipe() if _prctl is None else None


def die_with_parent(parent: int, held: tuple[int, int] | None) -> None:
    """See to it that this process is killed as soon as its parent is gone.

    Linux does that itself; elsewhere a thread waits until nobody holds the leash any more.
    """
    if held is not None:
        os.close(held[1])
        threading.Thread(target=_end_after, args=(held[0],), daemon=True).start()
    elif _prctl is not None:
        _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def name_process(name: str) -> None:
    """Show this process under a name in lists of processes, where that is possible."""
    if _prctl is not None:
        _prctl(_SET_NAME, name.encode()[:15])


def let_signals_in(handled: signal.Signals) -> None:
    """Block no signal any more, and let one that was handled do what it does by default.

    It goes below the module `signal`, which makes enumerations of what these calls return: for a
    child that has just been forked sixty more pages of memory to copy.
    """
    _signal.signal(handled, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def watch_process(pid: int) -> int | None:
    """Return a descriptor that becomes readable when a process ends; None if there is none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def limit_memory(size: int) -> None:
    """Let this process have at most so many bytes of address space."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = size if most == resource.RLIM_INFINITY else min(size, most)
    # The soft limit only, so that there is room again for the report.
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def lift_memory_limit() -> None:
    """Let this process have as much as its parent again."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def ending(code: int) -> str:
    """Say how a process ended without an answer: by the name of a signal, or by its exit code."""
    if code >= 0:
        return f"its process exited with code {code} before the job was done"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "; perhaps the system ran out of memory" if -code == signal.SIGKILL else ""
    return f"its process was killed by {name}{hint}"


def _end_after(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.killpg(0, signal.SIGKILL)


def _found() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), "prctl", None)
    return found


_prctl = _found()
