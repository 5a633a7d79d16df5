"""A SQLite store with a few schedules, and commands that work on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Cron, Sempre
from tests.integration.cli.shop import Shop


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Three schedules that never run by themselves while a test lasts."""
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    app = Sempre(url)

    @app.cron("0 3 29 2 *", name="leap", timezone="Europe/Rome", tags=["yearly"])
    def leap(region: str = "all") -> str:
        return f"leapt in {region}"

    @app.job
    def fail() -> None:
        raise ValueError("no such region")

    app.add("doomed", Cron("0 4 29 2 *"), fail, retry=0)
    app.add("hourly", Cron("59 59 * * * *", timezone="Asia/Tokyo"), leap)
    app.sync()
    yield Shop(app, url)
    app.close()
