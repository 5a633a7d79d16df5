"""The statement of one month is equal on every store, before and after a purge."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sempre import Sempre
from sempre.domain.statement.account import ScheduleStatement
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.ports.load import Record
from sempre.ports.retention import Purge
from tests.integration.cli.march import lived
from tests.integration.cli.test_every_store import mariadb, postgresql, redis

Stated = tuple[list[ScheduleStatement], list[tuple[str, SlotEntry]], Any]


def sqlite() -> Iterator[str]:
    yield "sqlite:///jobs.db"


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return lived()


@pytest.fixture(params=[sqlite, postgresql, mariadb, redis], ids=lambda each: each.__name__)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    assert tmp_path.exists()
    yield from request.param()


def loaded(url: str, records: list[Record]) -> Sempre:
    app = Sempre(url, retention="4000d")
    for start in range(0, len(records), 500):
        app.engine.store.load(records[start : start + 500])
    return app


def stated(app: Sempre) -> Stated:
    statement = app.statement(month="2026-03", zone="Europe/Rome")
    return list(statement), list(statement.slots()), statement.totals


def test_a_statement_is_equal_on_every_store(url: str, records: list[Record]) -> None:
    app, model = loaded(url, records), loaded("memory://", records)
    try:
        whole = stated(app)
        assert whole == stated(model)
        assert whole[2].unexplained == 0
        assert whole[2].demanded == 819

        for each in (app, model):
            purge = Purge(before=each.engine.present() - timedelta(days=1), limit=1000, keep=10)
            while (done := each.engine.store.purge(purge)).more:
                purge = Purge(before=purge.before, limit=1000, keep=10, after=done.after)
        purged = stated(app)
        assert purged == stated(model)
        assert purged[2].unexplained == 0
        assert purged[2].demanded == 805
        assert purged[2].count(Outcome.RAN) > 600
        assert purged[2].count(Outcome.MISSED) == whole[2].count(Outcome.MISSED) == 9
    finally:
        app.close()
        model.close()
