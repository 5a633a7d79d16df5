"""Descriptors that are ours: they lead nowhere in a process that runs code of a job.

A job may write to every descriptor that it finds, or keep all of them open in a process of its own.
What the user's code had opened before the fork stays: a log file is as good there as here. So ours
are known one by one, and nothing else is closed.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from weakref import WeakMethod

__all__ = ["cut", "cut_after_fork"]

_listed: list[WeakMethod[Callable[[], Iterable[int]]]] = []


def cut(descriptors: Iterable[int]) -> None:
    """Let descriptors lead nowhere, in this process alone.

    Each keeps its number: an object that still has it cannot reach what would be opened next.
    """
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in descriptors:
            if descriptor >= 0:
                os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)


def cut_after_fork(descriptors: Callable[[], Iterable[int]]) -> None:
    """Cut what a method returns in each process that is forked from this one, from now on.

    For processes that jobs in threads fork; a program that they start gets none, as all of ours
    are closed by `exec`.
    """
    if not _listed:
        os.register_at_fork(after_in_child=_cut_listed)
    _listed.append(WeakMethod(descriptors))


def _cut_listed() -> None:
    for method in _listed:
        if (descriptors := method()) is not None:
            with suppress(OSError, ValueError, RuntimeError):
                cut(descriptors())
