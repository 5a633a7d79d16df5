"""Applications on a clock that is moved by hand, with a worker whose steps are taken by hand."""

from datetime import UTC, datetime, timedelta

from sempre import Sempre
from sempre.engine.worker_spec import WorkerSpec
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, Hands

__all__ = ["NOON", "Hand", "worker_of"]

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Hand:
    """A clock that is moved by hand."""

    def __init__(self, at: datetime = NOON) -> None:
        self._start = at
        self._seconds = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._seconds)

    def elapsed(self) -> float:
        return self._seconds

    def move(self, **by: float) -> None:
        self._seconds += timedelta(**by).total_seconds()


def worker_of(app: Sempre, *, queues: str = "default") -> DrivenWorker:
    """Return a worker of an application; its jobs succeed without being called."""
    app.sync()
    spec = WorkerSpec(app.declarations.tasks, frozenset(queues.split()))
    return DrivenWorker(app.engine, spec, Hands())
