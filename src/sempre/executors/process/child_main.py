"""The main function of a child process: waits for one call, makes the call, reports, and ends.

A child has the signal handlers of a fresh Python and a process group of its own. SIGTERM therefore
ends a child at once, without `finally`. A job that asks for `current().cancelled` wants to end by
itself: from then on SIGTERM only wakes the job, and SIGKILL comes after the grace. Functions
registered with `atexit` are not called.
"""

import socket
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sempre.clock import Clock
from sempre.domain.arguments import Json
from sempre.domain.states import Kind
from sempre.executors.current import Current
from sempre.executors.effects import Opener
from sempre.executors.job_call import call_job, failed
from sempre.executors.link import Link
from sempre.executors.process.child_link import ChildLink
from sempre.executors.process.frames import encode_frame
from sempre.executors.process.system import lift_memory_limit, limit_memory
from sempre.ports.executor import Ended, Outcome, Run, Task
from sempre.ports.tracing import Tracer

__all__ = ["ChildMain", "encode_call"]

# CPython specialises a function after some eight calls.
REHEARSALS = 12
_REHEARSAL = {
    "name": "rehearsal",
    "job": "rehearsal",
    "slot": "2001-01-01T00:00:00+00:00",
    "due_at": "2001-01-01T00:00:00+00:00",
    "attempt": 1,
    "fence": 1,
    "id": "00000000-0000-7000-8000-000000000000",
    "kind": "scheduled",
    "args": {"value": 1},
    "timeout": 60.0,
    "over_at": 1e12,
    "queue": "default",
    "traceparent": "",
}


def encode_call(run: Run, over_at: float | None = None) -> bytes:
    """Return the message with which a child gets its run; `over_at` is a point of `elapsed`."""
    execution = run.execution
    timeout = None if run.timeout is None else run.timeout.total_seconds()
    call = {
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
        "queue": execution.snapshot.queue,
        "traceparent": "" if run.span is None else run.span.traceparent,
    }
    return encode_frame({"call": call})


class ChildMain:
    """Runs one call in a child process."""

    def __init__(
        self,
        lookup: Callable[[str], Task],
        clock: Clock,
        opener: Opener | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        """Prepare the child before the fork.

        Args:
            lookup: returns a task by its name; KeyError if there is none.
            clock: measures the time that is left for the run.
            opener: begins, in the child, the transaction of its run.
            tracer: makes the span of the run, which its worker has begun, current in the child.
        """
        self._tracer = tracer
        self._lookup = lookup
        self._clock = clock
        self._opener = opener

    def rehearse(self) -> None:
        """Make some calls of an empty job, in the fork server.

        CPython writes to the code of a function during its first calls. In a child each of these
        writes would copy a page of memory: 55 pages for each run.
        """
        tasks = {"rehearsal": Task("rehearsal", _return_value)}
        rehearsal = ChildMain(tasks.__getitem__, self._clock)
        for _ in range(REHEARSALS):
            worker, stream = socket.socketpair()
            with worker:
                worker.sendall(encode_frame({"call": _REHEARSAL}))
                rehearsal.run(stream.detach())

    def run(self, stream: int) -> None:
        """Wait for the call on a stream, make the call and report; return if no call comes.

        Raises:
            BrokenPipeError: the worker does not read the report.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, stream) as connection:
            link = ChildLink(connection, self._clock)
            if (call := link.wait_for_call()) is None:
                return
            current = self._current(call, link)
            try:
                task = self._lookup(current.job)
            except LookupError:
                outcome = Outcome(Ended.FAILED, error=_unknown_job(current.job))
            else:
                current.redact, current.log_rule = task.redact, task.log_rule
                outcome = _call_within_memory(task, current)
                _flush_output()
            link.report_outcome(outcome)
            if current.span is not None and self._tracer is not None:
                # After the report: the end of a run does not wait for a collector of spans.
                self._tracer.flush()

    def _current(self, call: dict[str, Any], link: Link) -> Current:
        timeout, traceparent = call["timeout"], call.pop("traceparent")
        span = self._tracer.join(traceparent) if self._tracer and traceparent else None
        call["slot"] = datetime.fromisoformat(call["slot"])
        call["due_at"] = datetime.fromisoformat(call["due_at"])
        call["kind"] = Kind(call["kind"])
        call["timeout"] = None if timeout is None else timedelta(0, timeout)
        return Current(clock=self._clock, link=link, opener=self._opener, span=span, **call)


def _call_within_memory(task: Task, current: Current) -> Outcome:
    try:
        if task.memory is None:
            return call_job(task, current)
        limit_memory(task.memory)
        outcome = call_job(task, current)
        lift_memory_limit()
    except MemoryError as error:
        # Too little memory was left to make an outcome.
        lift_memory_limit()
        return failed(error, current, task.redact)
    return outcome


def _flush_output() -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        # Closed, full, or absent; the report matters more.
        pass


def _return_value(value: Json) -> Json:
    return value


def _unknown_job(job: str) -> str:
    return (
        f'it could not begin: no job "{job}" was registered when the worker started: process '
        "isolation knows only those; import the module that defines it before the start"
    )
