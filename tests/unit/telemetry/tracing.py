"""A provider whose spans a test can read."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased, Sampler

from sempre import Sempre

__all__ = ["Recorded", "recording", "work_off"]


class Recorded:
    """The spans that have ended."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """Every span, in the order of their ends."""
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of a name."""
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        """Return the only span of a name."""
        [span] = self.named(name)
        return span


@contextmanager
def recording(sampler: Sampler | None = None) -> Iterator[Recorded]:
    """Configure a provider for a test, and none after it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=sampler or ParentBased(ALWAYS_ON), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch:
        # The API lets a process set a provider once; tests need one each.
        patch.setattr(trace, "_TRACER_PROVIDER", provider)
        yield Recorded(exporter)
    provider.shutdown()


def work_off(app: Sempre) -> None:
    """Run everything that is due."""
    with app.running(burst=True) as running:
        running.wait_until_exhausted()
