"""The link between a run and its executor: progress and log one way, a request to end the other."""

import os
from threading import RLock

from sempre.domain.run_log import LogText
from sempre.ports.executor import Progress

__all__ = ["Link"]


class _Process:
    """What this process has for the logs of its runs; a fork begins anew.

    Attributes:
        lock: guards the logs of all runs; a signal handler may log while its own thread holds it.
        forks: how many forks lie between this process and the first one.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.forks = 0

    def begin_anew(self) -> None:
        """Leave a lock behind that another thread of the parent may have held."""
        self.lock = RLock()
        self.forks += 1


_PROCESS = _Process()
os.register_at_fork(after_in_child=_PROCESS.begin_anew)


class Link:
    """Carries progress and log of a run to its executor, and a request to end the other way.

    Attributes:
        progress: the progress that the run has reported last.
    """

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self._reason: str | None = None
        self._log: LogText | None = None
        self._forks = _PROCESS.forks

    def report_progress(self, progress: Progress) -> None:
        """Keep the progress of the run for the executor."""
        self.progress = progress

    @property
    def is_inherited(self) -> bool:
        """Whether this process is a fork of the process of the run."""
        return self._forks != _PROCESS.forks

    def write_log(self, entry: str, size: int) -> None:
        """Add an entry to the log of the run; processes that the job forks add none."""
        if self.is_inherited:
            return
        with _PROCESS.lock:
            if self._log is None:
                self._log = LogText(size)
            self._log.add(entry)

    @property
    def log(self) -> str:
        """The log of the run; empty if the run has logged nothing."""
        if self._log is None:
            return ""
        with _PROCESS.lock:
            return self._log.text

    def cancel(self, reason: str) -> None:
        """Ask the run to end; the first reason is kept."""
        if self._reason is None:
            self._reason = reason

    @property
    def reason(self) -> str | None:
        """Why the run was asked to end; None without a request."""
        return self._reason
