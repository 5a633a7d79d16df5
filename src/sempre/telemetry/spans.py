"""Spans of OpenTelemetry, by its conventions for messaging systems.

An enqueue is a producer span in the trace of the caller. A run is a consumer span for each attempt,
linked to the span of the enqueue and to the attempt before. A run that begins within an hour of its
enqueue is a child of it, too: both are in one trace. A later run begins a trace of its own.

No span has arguments or results; texts of errors are those that the store gets, masked.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from importlib.metadata import version
from types import TracebackType

from opentelemetry import context, trace
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sempre.domain.execution import Execution
from sempre.ports.executor import Ended, Outcome, Run
from sempre.telemetry.traces import unharmed

__all__ = ["Spans"]

PARENT_WITHIN = timedelta(hours=1)
MOST_ATTEMPTS = 1024
FLUSH_MILLISECONDS = 5000
SYSTEM = {"messaging.system": "sempre"}
_ERRORS = frozenset(
    {Ended.FAILED, Ended.TIMED_OUT, Ended.GAVE_UP, Ended.CRASHED, Ended.INTERRUPTED}
)
_MILLISECOND = timedelta(milliseconds=1)
_PROPAGATOR = TraceContextTextMapPropagator()

Attributes = dict[str, str | int | float | bool]


class Spans:
    """Makes spans with the provider of this process."""

    def __init__(self) -> None:
        """Take the provider that is configured now."""
        self._tracer = trace.get_tracer("sempre", version("sempre"))
        # The contexts of attempts that another attempt may follow, by execution id. Without a lock,
        # which a fork could inherit: each operation of the dict is atomic.
        self._attempts: OrderedDict[str, SpanContext] = OrderedDict()

    def begin_enqueue(self, jobs: Sequence[str], kind: str) -> "_Enqueue | None":
        """Return the span of a batch of calls; None if a sampler without a context refuses it."""
        attributes: Attributes = {
            **SYSTEM,
            "messaging.operation.name": "enqueue",
            "messaging.operation.type": "send",
            "sempre.kind": kind,
        }
        if len(jobs) > 1:
            attributes["messaging.batch.message_count"] = len(jobs)
        name, is_one_job = "enqueue", len(set(jobs)) == 1
        if is_one_job:
            name, attributes["sempre.job"] = f"enqueue {jobs[0]}", jobs[0]
        span = self._tracer.start_span(name, kind=SpanKind.PRODUCER, attributes=attributes)
        return _Enqueue(span) if span.get_span_context().is_valid else None

    def begin_run(self, run: Run) -> "_Run | None":
        """Return the span of an attempt; None if a sampler without a context refuses it."""
        row = run.execution
        cause = _context_of(row.snapshot.trace)
        links = [] if cause is None else [Link(cause, {"sempre.link": "enqueue"})]
        before = self._attempts.pop(row.id, None)
        if before is not None:
            links.append(Link(before, {"sempre.link": "previous attempt"}))
        parent = context.Context()
        if cause is not None and _is_soon(row):
            parent = trace.set_span_in_context(NonRecordingSpan(cause), parent)
        span = self._tracer.start_span(
            f"run {row.snapshot.job}",
            context=parent,
            kind=SpanKind.CONSUMER,
            attributes=_of_run(row),
            links=links,
        )
        return _Run(span, row.id, self) if span.get_span_context().is_valid else None

    @staticmethod
    def rang(rows: int) -> None:
        """Note on the current span for how many executions workers were woken."""
        trace.get_current_span().add_event("ring", {"sempre.rung": rows})

    def join(self, traceparent: str) -> "_Active":
        """Return a span of another process; code of this process can belong to it."""
        cause = _context_of(traceparent)
        return _Active(trace.INVALID_SPAN if cause is None else NonRecordingSpan(cause))

    def claimed(self, rows: Sequence[Execution], began: int, ended: int) -> None:
        """Record a claim of executions, linked to the enqueues whose traces are sampled."""
        found = ((row, _context_of(row.snapshot.trace)) for row in rows if row.snapshot.trace)
        links = [
            Link(cause, {"messaging.message.id": row.id})
            for row, cause in found
            if cause is not None and cause.trace_flags.sampled
        ]
        if not links:
            return
        attributes: Attributes = {
            **SYSTEM,
            "messaging.operation.name": "claim",
            "messaging.operation.type": "receive",
            "messaging.batch.message_count": len(rows),
            "messaging.client.id": rows[0].session,
        }
        self._tracer.start_span(
            "claim",
            context=context.Context(),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            links=links,
            start_time=began,
        ).end(ended)

    def note_attempt(self, execution_id: str, attempt: SpanContext) -> None:
        """Keep the context of an attempt that has ended, for a next one in this process."""
        self._attempts[execution_id] = attempt
        if len(self._attempts) > MOST_ATTEMPTS:
            self._attempts.popitem(last=False)

    @staticmethod
    def flush() -> None:
        """Export the spans that have ended, if the provider can be asked to."""
        force_flush = getattr(trace.get_tracer_provider(), "force_flush", None)
        if force_flush is not None:
            force_flush(FLUSH_MILLISECONDS)


class _Active:
    """A span that can be made current."""

    def __init__(self, span: Span) -> None:
        self._span = span
        at = span.get_span_context()
        flags = int(at.trace_flags)
        self.traceparent = (
            f"00-{at.trace_id:032x}-{at.span_id:016x}-{flags:02x}" if at.is_valid else ""
        )

    def activate(self) -> AbstractContextManager[object]:
        """Make the span current inside a `with` block, in this thread or task."""
        return _Current(self._span)


class _Run(_Active):
    """The span of one attempt."""

    def __init__(self, span: Span, execution_id: str, spans: Spans) -> None:
        super().__init__(span)
        self._execution_id = execution_id
        self._spans = spans

    def end(self, outcome: Outcome) -> None:
        """End the span with the status of an outcome; any thread may call this."""
        with unharmed:
            self._end(outcome)

    def _end(self, outcome: Outcome) -> None:
        span, error = self._span, outcome.error
        if outcome.ended is not Ended.SUCCEEDED:
            self._spans.note_attempt(self._execution_id, span.get_span_context())
        if span.is_recording():
            span.set_attribute("sempre.outcome", outcome.ended.value)
            if outcome.ended in _ERRORS:
                span.set_attribute("error.type", _error_type(outcome))
                span.set_status(StatusCode.ERROR, error)
            if outcome.traceback:
                span.add_event("exception", _exception(outcome))
        span.end()


class _Enqueue(_Active):
    """The span of one batch of enqueued work."""

    def activate(self) -> AbstractContextManager[object]:
        """Make the span current inside a `with` block, at whose end the span ends."""
        return _Current(self._span, ends=True)

    def wrote(self, ids: Sequence[str], *, queue: str) -> None:
        """Note the executions that were created, and the queue of the first one."""
        span = self._span
        span.set_attribute("messaging.destination.name", queue)
        span.set_attribute("sempre.created", len(ids))
        if len(ids) == 1:
            span.set_attributes({"messaging.message.id": ids[0], "sempre.execution_id": ids[0]})


class _Current(AbstractContextManager[object]):
    """A block in which a span is current."""

    def __init__(self, span: Span, *, ends: bool = False) -> None:
        self._span = span
        self._ends = ends

    def __enter__(self) -> object:
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self._span

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_: TracebackType | None,
    ) -> None:
        context.detach(self._token)
        if self._ends:
            with unharmed:
                self._end(kind)

    def _end(self, kind: type[BaseException] | None) -> None:
        if kind is not None:
            # The type alone: the text of an error may quote an argument.
            name = f"{kind.__module__}.{kind.__qualname__}"
            self._span.set_attribute("error.type", name)
            self._span.set_status(StatusCode.ERROR, name)
        self._span.end()


def _context_of(traceparent: str) -> SpanContext | None:
    """Return the context of a traceparent; None if it has none that can be read."""
    if not traceparent:
        return None
    found = _PROPAGATOR.extract({"traceparent": traceparent}, context.Context())
    cause = trace.get_current_span(found).get_span_context()
    return cause if cause.is_valid else None


def _is_soon(row: Execution) -> bool:
    """Whether an attempt began so soon after its enqueue that one trace can show both."""
    began = row.started_at or row.due_at
    return began - row.created_at <= PARENT_WITHIN


def _of_run(row: Execution) -> Attributes:
    snapshot, began = row.snapshot, row.started_at or row.due_at
    attributes: Attributes = {
        **SYSTEM,
        "messaging.operation.name": "run",
        "messaging.operation.type": "process",
        "messaging.destination.name": snapshot.queue,
        "messaging.message.id": row.id,
        "messaging.client.id": row.session,
        "sempre.job": snapshot.job,
        "sempre.slot": row.run_at.isoformat().replace("+00:00", "Z"),
        "sempre.execution_id": row.id,
        "sempre.attempt": row.attempt,
        "sempre.kind": row.kind.value,
        "sempre.lateness_ms": max(0, (began - row.due_at) // _MILLISECOND),
    }
    return attributes | ({"sempre.schedule": snapshot.name} if row.schedule_id else {})


def _error_type(outcome: Outcome) -> str:
    return outcome.types[0] if outcome.types else outcome.ended.value


def _exception(outcome: Outcome) -> Attributes:
    """Return the attributes of the exception of an outcome, as the store gets them."""
    kind = _error_type(outcome)
    message = outcome.error.partition(": ")[2] if outcome.types else outcome.error
    return {
        "exception.type": kind,
        "exception.message": message,
        "exception.stacktrace": outcome.traceback,
    }
