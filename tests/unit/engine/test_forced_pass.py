"""A pass that somebody forces heals everything, whether one is due or not."""

from datetime import UTC, datetime

import pytest

from sempre import Cron, Sempre
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Birth
from sempre.stores.memory import MemoryStore

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def app() -> Sempre:
    return Sempre(MemoryStore())


def lose_next_row(app: Sempre, name: str) -> None:
    """Write a schedule that has started and lost its next row, as no verb could leave it."""
    definition = define(job="report", grid=Cron("@daily"))
    lost = Schedule(
        id=name,
        name=name,
        definition=definition,
        created_at=LONG_AGO,
        cursor=app.clock.now(),
        started=True,
    )
    app.engine.store.create([Birth(lost)])


def test_a_forced_pass_heals_though_none_is_due(app: Sempre) -> None:
    app.watchdog.perform()
    lose_next_row(app, "nightly")
    assert app.watchdog.perform().executions_created == 0

    report = app.watchdog.force()

    assert not report.lock_acquired
    assert report.executions_created == 1
    assert app.schedule("nightly").row.next_run_at is not None


def test_a_forced_pass_is_the_due_one_if_one_is(app: Sempre) -> None:
    lose_next_row(app, "nightly")

    report = app.watchdog.force()

    assert report.lock_acquired
    assert report.executions_created == 1
    assert app.engine.store.last_pass().value.finished_at is not None


def test_a_forced_pass_takes_nobodys_turn(app: Sempre) -> None:
    app.watchdog.perform()
    before = app.engine.store.last_pass().value

    app.watchdog.force()

    assert app.engine.store.last_pass().value == before


def test_a_forced_pass_looks_at_every_schedule_once(app: Sempre) -> None:
    for name in ("a", "b", "c"):
        lose_next_row(app, name)

    assert app.watchdog.force().schedules_processed == 3
    assert app.watchdog.force().executions_created == 0
