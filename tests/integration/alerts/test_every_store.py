"""Alerts on every store: one message for an incident, one for its end, whatever keeps the rows."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.app.alerts.names import delivery_job, heartbeat_job
from tests.integration.cli.test_every_store import mariadb, postgresql, redis
from tests.unit.app.recording import Recording


def sqlite() -> Iterator[str]:
    yield ""


STORES = [sqlite, postgresql, mariadb, redis]


@pytest.fixture(scope="module", params=STORES, ids=lambda each: each.__name__)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from request.param()


def burst(app: Sempre, *names: str) -> None:
    for name in names:
        app.schedule(name).trigger()
        with app.running(burst=True, sync=False) as running:
            running.wait_until_exhausted()


def test_an_incident_and_its_end_are_told_once(url: str, tmp_path: Path) -> None:
    app = Sempre(url or f"sqlite:///{tmp_path / 'jobs.db'}")
    channel, runs, beats = Recording(), Recording("runs", hears_runs=True), Recording("beats")
    runs.hears_incidents = False
    beats.every = timedelta(days=10_000)
    broken = [True]
    app.alert(channel)
    app.alert(runs, schedules=["bill"])
    app.alert(beats)

    @app.cron("0 3 29 2 *", tags=["money"])
    def bill() -> None:
        if broken:
            raise ValueError("the bank is closed")

    @app.job
    def mail() -> None:
        if broken:
            raise ValueError("no route")

    app.sync()
    mail.enqueue()
    burst(app, "bill", "sempre.alerts", "bill", "sempre.alerts", heartbeat_job("beats"))
    bad = sorted(channel.told)
    broken.clear()
    mail.enqueue()
    burst(app, "bill", "sempre.alerts", "sempre.alerts", heartbeat_job("beats"))
    rows = list(app.executions(job=delivery_job("recording")))
    app.close()

    assert bad == ["opened failure bill", "opened failure mail"]
    assert sorted(channel.told) == [*bad, "recovered failure bill", "recovered failure mail"]
    assert len(rows) == 4
    assert sorted(runs.told) == ["fail bill"] * 2 + ["start bill"] * 3 + ["success bill"]
    assert [str(each.phase) for each in beats.messages] == ["fail", "success"]
    assert "job:mail" in beats.messages[0].error
