"""What tells monitoring whether the watchdog looks at every schedule."""

from datetime import timedelta

import pytest

from sempre import Every, Sempre
from sempre.engine import watchdog
from sempre.errors import InvalidInput
from tests.unit.app.conftest import NOON, Hand


@pytest.fixture
def bills(app: Sempre) -> list[str]:
    @app.job
    def bill() -> None: ...

    names = ["a", "b", "c"]
    for name in names:
        app.add(name, Every("1h"), bill)
    app.sync()
    return names


def stale(app: Sempre, older_than: str) -> list[str]:
    return [each.name for each in app.schedules.stale(older_than=older_than)]


def test_a_schedule_that_no_pass_has_looked_at_has_no_audit(app: Sempre, bills: list[str]) -> None:
    assert app.schedule(bills[0]).last_audit_at is None


def test_the_last_audit_is_when_the_last_finished_pass_looked(
    app: Sempre, bills: list[str], clock: Hand
) -> None:
    clock.move(minutes=5)
    app.watchdog.perform()
    clock.move(minutes=1)

    assert app.schedule(bills[0]).last_audit_at == NOON + timedelta(minutes=5)


def test_a_forced_pass_is_nobodys_audit(app: Sempre, bills: list[str], clock: Hand) -> None:
    app.watchdog.perform()
    clock.move(minutes=1)
    app.watchdog.force()

    assert app.schedule(bills[0]).last_audit_at == NOON


def test_a_pass_is_the_audit_of_those_that_it_looked_at(
    app: Sempre, bills: list[str], clock: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "BATCH", 2)
    app.watchdog.perform()
    clock.move(minutes=5)
    app.watchdog.perform()

    by_id = sorted((app.schedule(name).row.id, name) for name in bills)
    audits = [app.schedule(name).last_audit_at for _, name in by_id]

    assert audits == [NOON, NOON, NOON + timedelta(minutes=5)]


def test_nothing_is_stale_while_passes_run(app: Sempre, bills: list[str], clock: Hand) -> None:
    for _ in range(4):
        clock.move(minutes=5)
        app.watchdog.perform()

    assert stale(app, "15m") == []
    assert app.schedule(bills[0]).last_audit_at == clock.now()


def test_everything_enabled_is_stale_when_passes_have_ceased(
    app: Sempre, bills: list[str], clock: Hand
) -> None:
    app.watchdog.perform()
    app.schedule(bills[1]).disable()
    clock.move(minutes=15)
    assert stale(app, "15m") == []

    clock.move(seconds=1)

    assert stale(app, "15m") == ["a", "c"]


def test_a_new_schedule_is_stale_only_if_nobody_looks_at_it_for_so_long(
    app: Sempre, bills: list[str], clock: Hand
) -> None:
    assert stale(app, "15m") == []

    clock.move(minutes=16)

    assert stale(app, "15m") == bills


def test_a_length_of_time_that_is_none_is_refused(app: Sempre) -> None:
    with pytest.raises(InvalidInput, match="older_than"):
        list(app.schedules.stale(older_than="soon"))
