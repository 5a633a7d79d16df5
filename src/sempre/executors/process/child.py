"""The child: one call, one report, and the end.

It has the signal handlers of a fresh Python and a process group of its own. SIGTERM therefore
ends it at once, without `finally`; a job that asks `current().cancelled` at least once wants to
end by itself, so from then on SIGTERM only wakes it, and SIGKILL comes when the grace is over.
Functions registered with `atexit` are not called.
"""

import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sempre.clock import Clock
from sempre.domain.states import Kind
from sempre.executors.calling import Report, failed, perform
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.process.frames import Frames, packed
from sempre.executors.process.system import lift_memory_limit, limit_memory
from sempre.ports.executor import Progress, Run, Task

__all__ = ["Births", "Life", "call_of"]

TELLS_AFTER = 0.1


def call_of(run: Run) -> dict[str, Any]:
    """Return what a nursery is told of a run."""
    execution = run.execution
    timeout = None if run.timeout is None else run.timeout.total_seconds()
    return {
        "name": execution.snapshot.name,
        "job": run.task.name,
        "slot": execution.run_at.isoformat(),
        "due_at": execution.due_at.isoformat(),
        "attempt": execution.attempt,
        "fence": execution.fence,
        "id": execution.id,
        "kind": execution.kind,
        "args": dict(execution.snapshot.args),
        "timeout": timeout,
    }


@dataclass(frozen=True)
class Births:
    """What every child of a nursery is born with.

    Attributes:
        lookup: returns a task by its name; KeyError if there is none.
        after_fork: called in each child before its job, to open connections of its own.
        clock: times what is left.
        opener: begins, in the child, the transaction of its run.
    """

    lookup: Callable[[str], Task]
    after_fork: Sequence[Callable[[], object]]
    clock: Clock
    opener: Opener | None = None

    def prepare(self, facts: dict[str, Any], stream: socket.socket) -> "Life":
        """Make everything that a child needs while it is still part of the nursery.

        After the fork the same steps would take many times longer, as a child has to copy every
        page of memory that it touches first.

        Raises:
            LookupError: the nursery knows no such job.
        """
        link = _ChildLink(stream, self.clock)
        current = _current({**facts, "opener": self.opener}, link, self.clock)
        try:
            task = self.lookup(current.job)
        except LookupError:
            raise LookupError(_unknown(current.job)) from None
        return Life(task, current, link, self.after_fork)


@dataclass(frozen=True)
class Life:
    """The life of one child."""

    task: Task
    current: Current
    link: "_ChildLink"
    after_fork: Sequence[Callable[[], object]]

    def live(self) -> None:
        """Call the job and report; BrokenPipeError if nobody reads."""
        try:
            report = self._report()
        except MemoryError as error:
            # There was not even enough for the report.
            lift_memory_limit()
            report = failed(error, self.current, self.task.redact)
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            # Closed, full, or none at all; the answer matters more.
            pass
        self.link.report(report)

    def _report(self) -> Report:
        task = self.task
        try:
            for hook in self.after_fork:
                hook()
        except Exception as error:  # noqa: BLE001 - without its connections the job cannot run
            return failed(error, self.current, task.redact)
        if task.memory is None:
            return perform(task, self.current)
        limit_memory(task.memory)
        report = perform(task, self.current)
        lift_memory_limit()
        return report


class _ChildLink(Link):
    """The link of a run in a child: over a socket, to the worker."""

    def __init__(self, stream: socket.socket, clock: Clock) -> None:
        super().__init__()
        self._stream = stream
        self._clock = clock
        self._frames = Frames()
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._quiet_until = 0.0
        self._timer: threading.Timer | None = None
        self._has_looked = False

    def report(self, report: Report) -> None:
        """Send how the call ended."""
        with self._writing:
            self._stream.sendall(packed({"report": report}))

    def tell(self, progress: Progress) -> None:
        """Send how far the run has come, ten times a second at most, and the last in any case."""
        with self._writing:
            self.told = progress
            left = self._quiet_until - self._clock.elapsed()
            if left <= 0:
                self._send_progress()
            elif self._timer is None:
                self._timer = threading.Timer(left, self._tell_later)
                self._timer.daemon = True
                self._timer.start()

    @property
    def reason(self) -> str | None:
        """Why the run was asked to end; from the first look on, SIGTERM does not end it."""
        with self._reading:
            if self._reason is None:
                self._look()
            return self._reason

    def _look(self) -> None:
        if not self._has_looked and threading.current_thread() is threading.main_thread():
            self._has_looked = True
            # A handler that does nothing: an ignored signal would be ignored by subprocesses too.
            signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            raw = self._stream.recv(65_536, socket.MSG_DONTWAIT)
            if not raw:
                self._reason = "the worker is gone"
        except OSError:
            return
        for message in self._frames.feed(raw):
            self._reason = str(message.get("cancel"))

    def _tell_later(self) -> None:
        with self._writing:
            self._timer = None
            self._send_progress()

    def _send_progress(self) -> None:
        self._quiet_until = self._clock.elapsed() + TELLS_AFTER
        if self.told is not None:
            # The worker may be gone, which is for others to notice.
            with suppress(OSError):
                told = [self.told.done, self.told.total, self.told.note]
                self._stream.sendall(packed({"progress": told}))


def _current(facts: dict[str, Any], link: Link, clock: Clock) -> Current:
    timeout = facts["timeout"]
    instants = {name: datetime.fromisoformat(facts[name]) for name in ("slot", "due_at")}
    return Current(
        **{
            **facts,
            **instants,
            "kind": Kind(facts["kind"]),
            "timeout": None if timeout is None else timedelta(seconds=timeout),
            "clock": clock,
            "link": link,
        }
    )


def _unknown(job: str) -> str:
    return (
        f'no job "{job}" was registered when the worker started: process isolation knows only '
        "those; import the module that defines it before the start"
    )
