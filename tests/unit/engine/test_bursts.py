"""A burst ends only after a scan that found nothing while no claim was in hand."""

from threading import Event
from typing import Any

import pytest

from sempre import Sempre
from sempre.domain.states import State
from sempre.engine.ends import Ends
from sempre.engine.fetcher import Fetcher
from sempre.engine.worker import Worker

PATIENCE = 60.0


@pytest.fixture
def app() -> Sempre:
    """An application whose manual runs wait for each other: they must not overlap."""
    app = Sempre("memory://")

    @app.cron("0 0 29 2 *")
    def leap() -> None: ...

    app.sync()
    return app


def burst(app: Sempre) -> list[State]:
    """Trigger three runs and work them off; return their states."""
    ids = [app.schedule("leap").trigger().id for _ in range(3)]
    with app.running(burst=True, sync=False) as running:
        running.wait_until_exhausted()
    return [app.execution(each).row.state for each in ids]


def test_a_run_that_is_over_and_not_recorded_keeps_the_burst_going(
    app: Sempre, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned, scan, put = Event(), Fetcher.scan, Ends.put

    def scan_and_say(fetcher: Fetcher, **asked: Any) -> int:  # noqa: ANN401 - as they come
        found = scan(fetcher, **asked)
        scanned.set()
        return found

    def put_after_a_scan(ends: Ends, *end: Any) -> None:  # noqa: ANN401 - as they come
        scanned.clear()
        assert scanned.wait(PATIENCE)
        put(ends, *end)

    monkeypatch.setattr(Fetcher, "scan", scan_and_say)
    monkeypatch.setattr(Ends, "put", put_after_a_scan)

    assert burst(app) == [State.SUCCEEDED] * 3


def test_a_run_that_ends_during_a_scan_keeps_the_burst_going(
    app: Sempre, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled, scan, settle = Event(), Fetcher.scan, Worker.settle

    def settle_and_say(worker: Worker, **asked: Any) -> float:  # noqa: ANN401 - as they come
        rest = settle(worker, **asked)
        if worker.capacity.is_idle:
            settled.set()
        return rest

    def scan_until_settled(fetcher: Fetcher, **asked: Any) -> int:  # noqa: ANN401 - as they come
        settled.clear()
        found = scan(fetcher, **asked)
        assert found or settled.wait(PATIENCE)
        return found

    monkeypatch.setattr(Worker, "settle", settle_and_say)
    monkeypatch.setattr(Fetcher, "scan", scan_until_settled)

    assert burst(app) == [State.SUCCEEDED] * 3
