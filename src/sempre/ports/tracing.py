"""The port of traces: spans around enqueues, claims and runs, and the context that joins them.

The context of the span that enqueued an execution is stored with the execution, as a W3C
`traceparent`. A worker begins the span of each attempt from it. Nothing is decided by traces: a
tracer never raises, and work goes on without spans.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sempre.domain.execution import Execution
    from sempre.ports.executor import Outcome, Run

__all__ = ["EnqueueSpan", "RunSpan", "SpanInProcess", "Tracer"]


class SpanInProcess(Protocol):
    """A span that code of this process can belong to.

    Attributes:
        traceparent: the context of the span, as the W3C header of that name.
    """

    traceparent: str

    def activate(self) -> AbstractContextManager[object]:
        """Make the span current inside a `with` block, in this thread or task."""
        ...


class RunSpan(SpanInProcess, Protocol):
    """The span of one attempt."""

    def end(self, outcome: "Outcome") -> None:
        """End the span with the status of an outcome; any thread may call this."""
        ...


class EnqueueSpan(SpanInProcess, Protocol):
    """The span of one batch of enqueued work; `activate` ends it too."""

    def wrote(self, ids: Sequence[str], *, queue: str) -> None:
        """Note the executions that were created, and the queue of the first one."""
        ...


class Tracer(Protocol):
    """Begins spans. Every method costs next to nothing while no spans are recorded."""

    def begin_enqueue(self, jobs: Iterable[str], *, kind: str) -> EnqueueSpan | None:
        """Return the span of a batch of calls of these jobs; None if no spans are recorded."""
        ...

    def rang(self, rows: int) -> None:
        """Note on the current span for how many executions workers were woken."""
        ...

    def begin_run(self, run: "Run") -> RunSpan | None:
        """Return the span of an attempt; None if no spans are recorded."""
        ...

    def join(self, traceparent: str) -> SpanInProcess | None:
        """Return a span of another process, for code of this one; None without traces."""
        ...

    def begin_claim(self) -> int | None:
        """Return the present in nanoseconds, for `claimed`; None if no spans are recorded."""
        ...

    def claimed(self, began: int, rows: "Sequence[Execution]") -> None:
        """Record the span of a claim that began at an instant and started executions."""
        ...

    def flush(self) -> None:
        """Export the spans that have ended; called before a process ends."""
        ...
