"""A burst ends only after a scan that found nothing while nothing ran."""

from threading import Event
from types import SimpleNamespace
from typing import Any

from sempre.engine.worker import Worker


class Scene:
    """The parts of a worker that a burst asks, with one run that ends during a scan."""

    def __init__(self) -> None:
        self.is_idle = False
        self.scans = 0

    def scan(self, **_: object) -> bool:
        """Find nothing at first: the waiting execution is blocked by the run, which ends now."""
        self.scans += 1
        self.is_idle = True
        return self.scans == 2

    def wait_for_hand(self, _patience: float) -> int:
        return 1


def bursting(scene: Scene) -> Worker:
    worker: Any = Worker.__new__(Worker)
    worker.capacity = worker.fetcher = scene
    worker._ends = SimpleNamespace(is_empty=True)  # noqa: SLF001 - what a burst asks
    worker.heartbeat = SimpleNamespace(session="s")
    worker.exhausted = Event()
    return worker  # type: ignore[no-any-return]


def test_work_that_a_run_blocked_until_it_ended_during_the_scan_is_not_left_behind() -> None:
    scene = Scene()
    worker = bursting(scene)

    worker.fetch_due()
    assert not worker.exhausted.is_set()
    worker.fetch_due()
    assert not worker.exhausted.is_set()
    worker.fetch_due()

    assert worker.exhausted.is_set()
    assert scene.scans == 3
