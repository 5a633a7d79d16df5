"""Reports of worker processes: what one runs, and whether its store and broker answer it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sempre.telemetry.metric_catalog import Sample
from sempre.telemetry.tally import Tally

if TYPE_CHECKING:
    from sempre.app.process.worker_threads import Running
    from sempre.clock import Clock

__all__ = ["ProcessReport", "WorkerProbe", "samples_of"]


@dataclass(frozen=True)
class ProcessReport:
    """The state of one worker process.

    Attributes:
        in_flight: the number of runs in flight.
        capacity: the most runs at once.
        has_session: whether the worker is registered in the store.
        heartbeat_age: seconds since the last heartbeat that the store answered; None without any.
        store_up: whether the store answers the worker.
        broker_up: whether the broker answers the worker.
        is_last: whether the process ends.
    """

    pid: int
    in_flight: int = 0
    capacity: int = 0
    has_session: bool = False
    heartbeat_age: float | None = None
    store_up: bool = False
    broker_up: bool = False
    is_last: bool = False


class WorkerProbe:
    """Reads the state of the worker of this process, and counts the failures of its store."""

    def __init__(self, running: "Running", tally: Tally, *, clock: "Clock", pid: int) -> None:
        """Probe a worker, which need not have begun."""
        self._running = running
        self._tally = tally
        self._clock = clock
        self._pid = pid
        self._counted: Counter[str] = Counter()

    def report(self) -> ProcessReport:
        """Return the state of the worker; without a session before it begins and after it ended."""
        worker, capacity = self._running.worker, self._running.spec.hands
        if worker is None:
            return ProcessReport(self._pid, capacity=capacity)
        outage, heartbeat = worker.engine.outage, worker.heartbeat
        self._count(Counter(outage.failures))
        asked_at = heartbeat.asked_at
        return ProcessReport(
            self._pid,
            in_flight=len(worker.capacity.running()),
            capacity=capacity,
            has_session=bool(heartbeat.session),
            heartbeat_age=max(0.0, self._clock.elapsed() - asked_at) if asked_at else None,
            store_up=not outage.is_under_way,
            broker_up=not worker.engine.bell.breaker.is_open,
        )

    def _count(self, failures: Counter[str]) -> None:
        for kind, count in failures.items():
            # A worker that begins anew on another engine counts from zero.
            if (new := count - self._counted[kind]) > 0:
                self._tally.count("sempre_store_errors_total", kind, by=new)
        self._counted = failures


def samples_of(reports: dict[int, ProcessReport]) -> Iterator[Sample]:
    """Yield the gauges of worker processes, by the number of each process."""
    yield Sample("sempre_worker_processes", len(reports))
    for number, each in reports.items():
        label = (str(number),)
        yield Sample("sempre_worker_in_flight_runs", each.in_flight, label)
        yield Sample("sempre_worker_capacity_runs", each.capacity, label)
        if each.heartbeat_age is not None:
            yield Sample("sempre_worker_heartbeat_age_seconds", each.heartbeat_age, label)
        yield Sample("sempre_worker_store_up", each.store_up, label)
        yield Sample("sempre_worker_broker_up", each.broker_up, label)
