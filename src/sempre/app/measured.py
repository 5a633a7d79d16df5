"""The part of an application that returns its metrics."""

from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.app.metrics.process_metrics import ProcessMetrics

__all__ = ["Measured"]


class Measured:
    """An application with metrics; a base of `Sempre`, which alone is made."""

    @cached_property
    def process_metrics(self) -> "ProcessMetrics":
        """What the workers of this process count; nothing before the first request for metrics."""
        from sempre.app.metrics.process_metrics import ProcessMetrics  # noqa: PLC0415 - seldom used

        return ProcessMetrics(cast("Sempre", self))

    def metrics(self) -> str:
        """Return the metrics of this process and of the store, in the text format of Prometheus.

        Events are counted from the first call on. The store is read at most once in five seconds.

        Raises:
            MissingExtra: the extra `metrics` is not installed.
        """
        return self.process_metrics.text()
