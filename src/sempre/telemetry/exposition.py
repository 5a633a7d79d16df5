"""Metrics as text in the exposition format of Prometheus, written by `prometheus_client`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sempre.errors import MissingExtra
from sempre.telemetry.metric_catalog import Metric, Sample
from sempre.telemetry.tally import Series

if TYPE_CHECKING:
    from prometheus_client import Metric as Family

__all__ = ["CONTENT_TYPE", "check_installed", "written"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
INFINITY = "+Inf"
Labelled = tuple[tuple[str, ...], Sequence[float]]


def check_installed() -> None:
    """Raise MissingExtra if the package that writes metrics is not installed."""
    _client()


def written(
    metrics: Iterable[Metric], numbers: Mapping[Series, Sequence[float]], samples: Iterable[Sample]
) -> str:
    """Return metrics as text: counters and histograms from a tally, gauges from samples.

    Raises:
        MissingExtra: `prometheus_client` is not installed.
    """
    client = _client()
    found: dict[str, list[Labelled]] = {}
    for (name, labels), each in numbers.items():
        found.setdefault(name, []).append((labels, each))
    for name, value, labels in samples:
        found.setdefault(name, []).append((labels, (value,)))
    core = import_module("prometheus_client.core")
    families = [_family(core, metric, sorted(found.get(metric.name, ()))) for metric in metrics]
    text: bytes = client.generate_latest(_Collected(families))
    return text.decode()


class _Collected:
    """Metric families in the form in which `generate_latest` asks for them."""

    def __init__(self, families: Sequence["Family"]) -> None:
        self._families = families

    def collect(self) -> Iterator["Family"]:
        """Yield the families."""
        return iter(self._families)


def _family(core: Any, metric: Metric, found: Sequence[Labelled]) -> "Family":  # noqa: ANN401 - a module
    if metric.kind == "histogram":
        histogram = core.HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        bounds = [*map(str, metric.buckets), INFINITY]
        for labels, numbers in found:
            buckets = _cumulated(bounds, numbers)
            histogram.add_metric(labels, buckets, sum_value=numbers[-1])
        return histogram  # type: ignore[no-any-return]  # imported by name
    kind = core.CounterMetricFamily if metric.kind == "counter" else core.GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=metric.labels)
    for labels, numbers in (_zeros(metric) | dict(found)).items():
        family.add_metric(labels, numbers[0])
    return family  # type: ignore[no-any-return]  # as above


def _zeros(metric: Metric) -> dict[tuple[str, ...], Sequence[float]]:
    """Return zero for every series of a counter that is known before its first increase."""
    if metric.kind != "counter" or (metric.labels and not metric.values):
        return {}
    return {(value,): (0.0,) for value in metric.values} or {(): (0.0,)}


def _cumulated(bounds: Sequence[str], numbers: Sequence[float]) -> list[tuple[str, float]]:
    """Return for each bound how many observations are at or below it."""
    total, buckets = 0.0, []
    for bound, number in zip(bounds, numbers, strict=False):
        total += number
        buckets.append((bound, total))
    return buckets


def _client() -> Any:  # noqa: ANN401 - a module
    try:
        return import_module("prometheus_client")
    except ImportError:
        raise MissingExtra("prometheus-client", extra="metrics") from None
