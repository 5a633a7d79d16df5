"""The child: it waits for one call, does it, reports, and ends.

It has the signal handlers of a fresh Python and a process group of its own. SIGTERM therefore
ends it at once, without `finally`; a job that asks `current().cancelled` at least once wants to
end by itself, so from then on SIGTERM only wakes it, and SIGKILL comes when the grace is over.
Functions registered with `atexit` are not called.
"""

import os
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
from sempre.domain.arguments import Json
from sempre.domain.states import Kind
from sempre.executors.calling import failed, perform
from sempre.executors.current import Current, Link
from sempre.executors.effects import Opener
from sempre.executors.process.frames import Frames, framed, packed
from sempre.executors.process.system import lift_memory_limit, limit_memory
from sempre.ports.executor import Ended, Outcome, Progress, Run, Task

__all__ = ["Births", "call_of"]

TELLS_AFTER = 0.1
REHEARSALS = 12
_SUCCEEDED = f'{{"report":["{Ended.SUCCEEDED.value}",%s,"",""]}}'
# To look one up touches half the memory that the enumeration itself would.
_KINDS = {kind.value: kind for kind in Kind}
_REHEARSAL = {
    "name": "rehearsal",
    "job": "rehearsal",
    "slot": "2001-01-01T00:00:00+00:00",
    "due_at": "2001-01-01T00:00:00+00:00",
    "attempt": 1,
    "fence": 1,
    "id": "00000000-0000-7000-8000-000000000000",
    "kind": "scheduled",
    "args": {"of": 1},
    "timeout": 60.0,
    "over_at": 1e12,
}


def call_of(run: Run, over_at: float | None = None) -> dict[str, Any]:
    """Return what a child is told of its run, whose time is over at a point of `elapsed`."""
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
        "over_at": over_at,
    }


class Births:
    """What every child of a nursery is born with.

    What can be made before the fork is: after it the same steps take many times longer, as a child
    has to copy every page of memory that it touches first.
    """

    def __init__(
        self,
        lookup: Callable[[str], Task],
        after_fork: Sequence[Callable[[], object]],
        clock: Clock,
        opener: Opener | None = None,
    ) -> None:
        """Make it.

        Args:
            lookup: returns a task by its name; KeyError if there is none.
            after_fork: called in each child before its job, to open connections of its own.
            clock: times what is left.
            opener: begins, in the child, the transaction of its run.
        """
        self._lookup = lookup
        self._after_fork = after_fork
        self._clock = clock
        self._opener = opener
        self._link: _ChildLink | None = None

    def prepare(self) -> None:
        """Make, in a nursery, the link that each of its children will have, after some rehearsals.

        What Python has done some times it does more quickly, and with fewer writes to memory. A
        child does everything once, so it is done here some times before the child is born.
        """
        if self._link is None:
            stage = Births(
                {"rehearsal": Task("rehearsal", _performance)}.__getitem__, (), self._clock
            )
            for _ in range(REHEARSALS):
                stage._rehearse()
            self._link = _ChildLink(_closed_stream(), self._clock)

    def _rehearse(self) -> None:
        worker, stream = socket.socketpair()
        with worker, _closed_stream() as place:
            self._link = _ChildLink(place, self._clock)
            worker.sendall(packed({"call": _REHEARSAL}))
            self.live(stream.detach())

    def live(self, stream: int) -> None:
        """Wait, in a child, for its run, do it and report; return at once if none will come.

        Raises:
            BrokenPipeError: nobody reads the report.
        """
        link = self._link
        if link is None or (facts := link.call(stream)) is None:
            return
        current = _current(facts, link, self._clock, self._opener)
        try:
            task = self._lookup(current.job)
        except LookupError:
            link.report(Outcome(Ended.FAILED, error=_unknown(current.job)))
        else:
            current.redact = task.redact
            _Life(task, current, link, self._after_fork).live()


@dataclass(frozen=True)
class _Life:
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

    def _report(self) -> Outcome:
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
        self._has_been_asked = False
        self._over_at: float | None = None
        self._facts: dict[str, Any] | None = None

    def call(self, stream: int) -> dict[str, Any] | None:
        """Wait, on a stream of its own, for what to do; None if nobody is left who could tell."""
        os.dup2(stream, self._stream.fileno(), inheritable=False)
        os.close(stream)
        while self._facts is None and (raw := self._stream.recv(65_536)):
            self._hear(raw)
        if self._facts is not None:
            self._over_at = self._facts.pop("over_at")
        return self._facts

    def report(self, report: Outcome) -> None:
        """Send how the call ended."""
        with self._writing:
            self._stream.sendall(_told(report))

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
            # A handler and no more: an ignored signal would be ignored by subprocesses too.
            signal.signal(signal.SIGTERM, self._note_request)
        with suppress(OSError):
            raw = self._stream.recv(65_536, socket.MSG_DONTWAIT)
            if not raw:
                self._reason = "the worker is gone"
            self._hear(raw)
        if self._reason is None and self._has_been_asked and self._is_over():
            # The worker would have said so, but a job of its own may hold its interpreter.
            self._reason = "its time is over"

    def _note_request(self, *_: object) -> None:
        self._has_been_asked = True

    def _is_over(self) -> bool:
        return self._over_at is not None and self._clock.elapsed() >= self._over_at

    def _hear(self, raw: bytes) -> None:
        for message in self._frames.feed(raw):
            if "call" in message:
                self._facts = message["call"]
            else:
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


def _closed_stream() -> socket.socket:
    """Return a socket whose place another will take."""
    place, other = socket.socketpair()
    other.close()
    return place


def _current(facts: dict[str, Any], link: Link, clock: Clock, opener: Opener | None) -> Current:
    timeout = facts["timeout"]
    facts["slot"] = datetime.fromisoformat(facts["slot"])
    facts["due_at"] = datetime.fromisoformat(facts["due_at"])
    facts["kind"] = _KINDS[facts["kind"]]
    facts["timeout"] = None if timeout is None else timedelta(0, timeout)
    return Current(clock=clock, link=link, opener=opener, **facts)


def _told(report: Outcome) -> bytes:
    result = report.result
    if report.ended is Ended.SUCCEEDED and (result is None or type(result) is int):
        # What most jobs return; the encoder would touch twenty pages of memory more.
        return framed(_SUCCEEDED % ("null" if result is None else result))
    return packed({"report": report[:4]})


def _performance(of: Json) -> Json:
    return of


def _unknown(job: str) -> str:
    return (
        f'it could not begin: no job "{job}" was registered when the worker started: process '
        "isolation knows only those; import the module that defines it before the start"
    )
