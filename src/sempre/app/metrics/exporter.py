"""The exporter: writes the metrics of worker processes and their store; decides readiness."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from sempre.app.metrics.cached_reading import CachedReading, Latest
from sempre.app.metrics.process_reports import ProcessReport, samples_of
from sempre.app.metrics.readiness import unready_reason
from sempre.app.metrics.schedule_samples import read_schedules
from sempre.app.metrics.work_samples import read_work
from sempre.engine.core import Engine
from sempre.errors import StoreGone
from sempre.grids.zones import tzdata_version
from sempre.telemetry.exposition import written
from sempre.telemetry.metric_catalog import METRICS, OF_STORE, Sample
from sempre.telemetry.tally import Tally

if TYPE_CHECKING:
    from sempre.app.application import Sempre

__all__ = ["Exporter", "Reports", "store_metrics"]

WORK_EVERY = 5.0
SCHEDULES_EVERY = 60.0
# In seconds, for both readings together well below the ten of a scrape.
PATIENCE = 2.0

Reports = Callable[[], Iterable[tuple[int, ProcessReport, float]]]
"""Returns number, last report and its age in seconds of each worker process."""


class Exporter:
    """Writes the pages of one command or process.

    Args:
        app: whose store is read; an engine of its own process.
        tally: what the worker processes have counted.
        reports: the state of the worker processes.
        owns_engine: whether nothing else in this process uses the engine, so that it is composed
            anew once the store is gone.
    """

    def __init__(
        self, app: "Sempre", tally: Tally, reports: Reports, *, owns_engine: bool = False
    ) -> None:
        """Read nothing before the first scrape."""
        self._app = app
        self._owns_engine = owns_engine
        self._tally = tally
        self._reports = reports
        clock = app.clock
        self._work = CachedReading(
            lambda: self._reading(read_work), every=WORK_EVERY, patience=PATIENCE, clock=clock
        )
        self._schedules = CachedReading(
            lambda: self._reading(read_schedules),
            every=SCHEDULES_EVERY,
            patience=PATIENCE,
            clock=clock,
        )

    def text(self) -> str:
        """Return all metrics as text; a store that fails leaves its gauges out."""
        work = self._work.latest()
        schedules = self._schedules.latest() if work.is_up else Latest()
        reports = {number: report for number, report, _ in self._reports()}
        samples = [
            _build_info(),
            *samples_of(reports),
            Sample("sempre_store_up", work.is_up),
            *_of_reading("work", work),
            *_of_reading("schedules", schedules),
        ]
        return written(METRICS.values(), self._tally.read(), samples)

    def unready_reason(self) -> str:
        """Return in one line why the workers are not ready; empty if they are."""
        reports = [(report, age) for _, report, age in self._reports()]
        lease = self._app.settings.lease.total_seconds()
        return unready_reason(reports, lease=lease, store_up=self._work.latest().is_up)

    def _reading(self, read: Callable[[Engine], Sequence[Sample]]) -> Sequence[Sample]:
        try:
            return read(self._app.engine)
        except StoreGone:
            if self._owns_engine:
                self._app.close()
            raise


def store_metrics(engine: Engine) -> tuple[str, list[Sample]]:
    """Read the store now; return its metrics as text, and as samples."""
    samples = [_build_info(), Sample("sempre_store_up", 1), *read_work(engine)]
    samples += read_schedules(engine)
    exported = [METRICS["sempre_build_info"], *OF_STORE]
    return written(exported, {}, samples), samples


def _build_info() -> Sample:
    return Sample("sempre_build_info", 1, (version("sempre"), tzdata_version()))


def _of_reading(name: str, latest: Latest) -> Iterator[Sample]:
    yield from latest.samples if latest.is_up or name != "work" else ()
    if latest.age is not None:
        yield Sample("sempre_store_reading_age_seconds", latest.age, (name,))
        yield Sample("sempre_store_reading_duration_seconds", latest.seconds, (name,))
