"""Traces: when spans are recorded, and by which process.

Sempre needs only the API of OpenTelemetry, and imports it only if spans are recorded: if the
application has configured a tracer provider, or asks for traces. Without that, each enqueue and
each run costs one look into `sys.modules`. `sempre.telemetry.spans` makes the spans.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING

from sempre.clock import Clock
from sempre.domain.execution import Execution
from sempre.errors import Refused
from sempre.grids.instants import microseconds_of
from sempre.ports.executor import Run
from sempre.ports.tracing import EnqueueSpan, RunSpan, SpanInProcess

if TYPE_CHECKING:
    from sempre.telemetry.spans import Spans

__all__ = ["Traces", "current_span_ids", "span_ids", "unharmed"]

API = "opentelemetry.trace"
PARTS = 4
MISSING = "traces need OpenTelemetry, which is not installed: pip install 'sempre[otel]'"
_LOG = logging.getLogger("sempre")


class Traces:
    """Begins spans if this process records any.

    Args:
        wanted: True for traces, False for none; None for traces if a provider is configured.
        clock: times claims.
        set_up: configures a provider; called once in each process that enqueues or runs jobs,
            unless a provider is configured there already.

    Raises:
        Refused: traces are wanted, and OpenTelemetry is not installed.
    """

    def __init__(
        self, *, wanted: bool | None, clock: Clock, set_up: Callable[[], object] | None = None
    ) -> None:
        """Check that the API is installed, and import nothing yet."""
        if wanted and find_spec(API.partition(".")[0]) is None:
            raise Refused(MISSING)
        self._is_off = wanted is False
        self._clock = clock
        self._set_up = set_up
        self._set_up_in = 0
        self._made: Spans | None = None

    def begin_enqueue(self, jobs: Iterable[str], *, kind: str) -> EnqueueSpan | None:
        """Return the span of a batch of calls of these jobs; None if no spans are recorded."""
        if (spans := self._made or self._spans()) is not None:
            with unharmed:
                return spans.begin_enqueue(list(jobs), kind)
        return None

    def rang(self, rows: int) -> None:
        """Note on the current span for how many executions workers were woken."""
        if self._made is not None:
            with unharmed:
                self._made.rang(rows)

    def begin_run(self, run: Run) -> RunSpan | None:
        """Return the span of an attempt; None if no spans are recorded."""
        if (spans := self._made or self._spans()) is not None:
            with unharmed:
                return spans.begin_run(run)
        return None

    def join(self, traceparent: str) -> SpanInProcess | None:
        """Return a span of another process, for code of this one; None without traces."""
        if self._is_off:
            return None
        spans = self._made or self._spans()
        return _Known(traceparent) if spans is None else spans.join(traceparent)

    def begin_claim(self) -> int | None:
        """Return the present in nanoseconds, for `claimed`; None if no spans are recorded."""
        spans = self._made or self._spans()
        return None if spans is None else self._now()

    def claimed(self, began: int, rows: Sequence[Execution]) -> None:
        """Record the span of a claim that began at an instant and started executions."""
        if self._made is not None and any(row.snapshot.trace for row in rows):
            with unharmed:
                self._made.claimed(rows, began, self._now())

    def flush(self) -> None:
        """Export the spans that have ended; called before a process ends."""
        if self._made is not None:
            with unharmed:
                self._made.flush()

    def _now(self) -> int:
        return microseconds_of(self._clock.now()) * 1000

    def _spans(self) -> "Spans | None":
        """Return the maker of spans, if a provider is configured by now."""
        if self._is_off:
            return None
        if self._set_up is not None and self._set_up_in != os.getpid():
            self._configure(self._set_up)
        if not _has_provider():
            return None
        from sempre.telemetry.spans import Spans  # noqa: PLC0415 - imports OpenTelemetry

        self._made = Spans()
        return self._made

    def _configure(self, set_up: Callable[[], object]) -> None:
        # First, and without a lock that a fork could inherit: other threads go on without spans.
        self._set_up_in = os.getpid()
        with unharmed:
            if not _has_provider():
                set_up()


class _Unharmed:
    """A block in which the code of traces may raise: the error is logged, and the work goes on.

    Samplers, processors and exporters are code of the application. An error that repeats is logged
    once for each type and process.
    """

    def __init__(self) -> None:
        self._logged: set[type[BaseException]] = set()

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if kind is None or not issubclass(kind, Exception):
            return False
        if kind not in self._logged:
            self._logged.add(kind)
            text = "traces raised, and the work goes on without some spans"
            _LOG.error(text, exc_info=(kind, error, trace))  # type: ignore[arg-type]
        return True


unharmed = _Unharmed()


class _Known:
    """A span of another process, where this process has no traces."""

    def __init__(self, traceparent: str) -> None:
        self.traceparent = traceparent

    def activate(self) -> AbstractContextManager[object]:
        """Return a block without effect."""
        return nullcontext()


def current_span_ids() -> dict[str, str]:
    """Return `trace_id` and `span_id` of the current span; empty without one."""
    api = sys.modules.get(API)
    if api is None or not hasattr(api, "get_current_span"):
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def span_ids(traceparent: str) -> dict[str, str]:
    """Return `trace_id` and `span_id` of a traceparent; empty if it has none."""
    parts = traceparent.split("-")
    return {"trace_id": parts[1], "span_id": parts[2]} if len(parts) == PARTS else {}


def _has_provider() -> bool:
    """Whether the application has configured a tracer provider in this process."""
    api = sys.modules.get(API)
    # Another thread may be in the middle of the import.
    if api is None or not hasattr(api, "get_tracer_provider"):
        return False
    return not isinstance(
        api.get_tracer_provider(), api.ProxyTracerProvider | api.NoOpTracerProvider
    )
