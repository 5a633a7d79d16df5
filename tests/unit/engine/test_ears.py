"""Several workers in one process: each hears what is rung, and none ends the hearing of others."""

from datetime import datetime, timedelta

import pytest

from sempre import Sempre
from sempre.brokers.store import StoreBroker
from sempre.brokers.watch import ThisProcess
from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.engine.fetcher import Fetcher
from sempre.engine.worker_spec import WorkerSpec
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, Hands

HOUR = timedelta(hours=1)


class CountingWatch(ThisProcess):
    """A watch that counts how often it was told to hear other processes no longer."""

    def __init__(self) -> None:
        super().__init__()
        self.rests = 0

    def rest(self) -> None:
        self.rests += 1


def worker_of(app: Sempre) -> DrivenWorker:
    return DrivenWorker(app.engine, WorkerSpec({}, frozenset({"default"}), 1), Hands())


def row_due_at(app: Sempre, due_at: datetime) -> Execution:
    return Execution(
        id="01",
        kind=Kind.ENQUEUED,
        run_at=due_at,
        due_at=due_at,
        snapshot=Snapshot(name="tick", job="tick"),
        created_at=app.engine.present(),
    )


def test_every_worker_of_an_application_hears_what_is_rung_until_it_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[tuple[Fetcher, datetime]] = []
    monkeypatch.setattr(Fetcher, "expect", lambda self, due_at: heard.append((self, due_at)))
    app = Sempre(MemoryStore(), broker=StoreBroker())
    first, second = worker_of(app), worker_of(app)
    now = app.engine.present()

    app.engine.bell.ring([row_due_at(app, now + HOUR)], now)
    first.stop(drain=0)
    app.engine.bell.ring([row_due_at(app, now + 2 * HOUR)], now)
    second.stop(drain=0)
    app.engine.bell.ring([row_due_at(app, now + 3 * HOUR)], now)

    assert [at for who, at in heard if who is first.fetcher] == [now + HOUR]
    assert [at for who, at in heard if who is second.fetcher] == [now + HOUR, now + 2 * HOUR]


def test_the_last_worker_that_stops_ends_the_hearing_of_other_processes() -> None:
    watch = CountingWatch()
    app = Sempre(MemoryStore(), broker=StoreBroker(watch))
    first, second = worker_of(app), worker_of(app)

    first.stop(drain=0)
    assert watch.rests == 0
    second.stop(drain=0)
    assert watch.rests == 1
