"""Descriptors of the worker: lead to /dev/null in a process that runs code of a job.

A job may write to every descriptor that it finds, or keep all of them open in a process of its own.
Descriptors that the user's code opened before the fork stay usable, such as a log file. So the
worker's descriptors are listed one by one, and no other is closed.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from weakref import WeakMethod

__all__ = ["disconnect", "disconnect_after_fork"]

_listed: list[WeakMethod[Callable[[], Iterable[int]]]] = []


def disconnect(descriptors: Iterable[int]) -> None:
    """Let descriptors lead to /dev/null, in this process alone.

    Each number stays taken: an object that still holds it cannot reach a file that is opened later.
    """
    with suppress(OSError):
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in descriptors:
            if descriptor >= 0:
                os.dup2(null, descriptor, inheritable=False)
        os.close(null)


def disconnect_after_fork(descriptors: Callable[[], Iterable[int]]) -> None:
    """Disconnect the descriptors that a method returns in each later fork of this process.

    Jobs in threads may fork. A program that a job starts gets none of the descriptors: `exec`
    closes each of them.
    """
    if not _listed:
        os.register_at_fork(after_in_child=_disconnect_listed)
    _listed.append(WeakMethod(descriptors))


def _disconnect_listed() -> None:
    for method in _listed:
        if (descriptors := method()) is not None:
            with suppress(OSError, ValueError, RuntimeError):
                disconnect(descriptors())
