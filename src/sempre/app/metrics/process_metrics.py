"""Metrics of this process: what its workers count, as text or on an address."""

import os
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sempre.app.metrics.exporter import Exporter
from sempre.app.metrics.process_reports import ProcessReport, WorkerProbe
from sempre.engine.events import Happened
from sempre.telemetry.exposition import check_installed
from sempre.telemetry.metrics import COUNTED, Recorder
from sempre.telemetry.tally import Tally

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.app.metrics.publication import ServedHere
    from sempre.app.process.worker_threads import Running

__all__ = ["ProcessMetrics"]


class ProcessMetrics:
    """Counts the events of an application in this process, from the first request for metrics on.

    Attributes:
        tally: what was counted.
        exporter: writes the metrics of this process and of the store.
    """

    def __init__(self, app: "Sempre") -> None:
        """Count nothing yet: events that no listener wants are not made."""
        self._app = app
        self._lock = Lock()
        self._counts = False
        self._probes: WeakKeyDictionary[Running, WorkerProbe] = WeakKeyDictionary()
        self.tally = Tally()
        self.exporter = Exporter(app, self.tally, self.reports)

    def count(self) -> None:
        """Begin to count events; a second call does nothing."""
        with self._lock:
            if not self._counts:
                self._counts = True
                self._app.events.listen(Recorder(self.tally), *map(Happened, COUNTED))

    def watch(self, running: "Running") -> WorkerProbe:
        """Report the state of a worker of this process, as long as the worker exists."""
        probe = WorkerProbe(running, self.tally, clock=self._app.clock, pid=os.getpid())
        with self._lock:
            self._probes[running] = probe
        return probe

    def reports(self) -> Iterator[tuple[int, ProcessReport, float]]:
        """Yield number, report and its age of each worker of this process."""
        with self._lock:
            probes = list(self._probes.values())
        yield from ((number, probe.report(), 0.0) for number, probe in enumerate(probes))

    def text(self) -> str:
        """Return the metrics of this process and of the store.

        Raises:
            MissingExtra: `prometheus_client` is not installed.
        """
        check_installed()
        self.count()
        return self.exporter.text()

    def served_on(self, address: str) -> "ServedHere":
        """Listen on an address, and count.

        Raises:
            InvalidInput: the address cannot be used.
            MissingExtra: `prometheus_client` is not installed.
        """
        from sempre.app.metrics.publication import ServedHere  # noqa: PLC0415 - brings an HTTP server

        check_installed()
        self.count()
        return ServedHere(self, address)
