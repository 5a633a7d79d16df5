"""`Sempre(timezone=...)`: one zone for whatever states none of its own."""

from datetime import UTC, datetime

import pytest

from sempre import Cron, Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.errors import InstantError, ZoneError
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand

ROME = "Europe/Rome"
NINE = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
"""09:00 in Rome."""


@pytest.fixture
def app(clock: Hand) -> Sempre:
    return Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock, timezone=ROME)


def zone_of(app: Sempre, name: str) -> str:
    return str(getattr(app.declarations.schedules[name].definition.grid, "timezone", ""))


def test_schedules_without_a_zone_are_in_that_of_the_application(app: Sempre) -> None:
    @app.cron("0 9 * * *")
    def cron() -> None: ...

    @app.every("1 day", anchor="2026-11-01 09:00")
    def every() -> None: ...

    @cron.pair(cron="*/5 9-17 * * *")
    def due() -> list[object]:
        return []

    app.add("added", Cron("0 9 * * *"), cron)
    app.sync()
    app.create_schedules([("made", Every("1 day", anchor="2026-11-01 09:00"), cron)])

    names = ("cron", "every", "added", "pair:cron")
    assert {zone_of(app, name) for name in names} == {ROME}
    for name in ("cron", "every", "added", "made"):
        assert app.schedule(name).zone == ROME
        assert app.schedule(name).next_run_at(after="2026-12-01 08:59") == NINE


def test_a_zone_of_its_own_wins(app: Sempre) -> None:
    @app.cron("0 9 * * *", timezone="UTC")
    def stated() -> None: ...

    app.add("text", Cron("0 9 * * * Asia/Tokyo"), stated)
    app.add("value", Every("1d", timezone="UTC"), stated)

    assert [zone_of(app, name) for name in ("stated", "text", "value")] == [
        "UTC",
        "Asia/Tokyo",
        "UTC",
    ]


def test_a_schedule_that_moves_to_another_grid_stays_in_the_zone(app: Sempre) -> None:
    @app.every("1h")
    def bill() -> None: ...

    app.sync()

    app.schedule("bill").move_to(Cron("0 9 * * *"))

    assert app.schedule("bill").zone == ROME


@pytest.mark.parametrize("text", ["2026-12-01 09:00", "2026-12-01T09:00", "2026-12-01 08:00Z"])
def test_instants_without_a_zone_are_told_by_the_clocks_of_the_application(
    app: Sempre, text: str
) -> None:
    @app.cron("0 9 * * *", until=text)
    def bill() -> None: ...

    app.sync()
    schedule = app.schedule("bill")
    receipt = bill.options(at=text).enqueue()

    assert receipt.execution is not None
    assert receipt.execution.due_at == NINE
    assert schedule.definition.until == NINE
    schedule.edit(until=text)
    assert schedule.definition.until == NINE
    assert schedule.skip(text) == NINE
    assert schedule.unskip(text)
    schedule.pause(until=text)
    assert schedule.row.pause is not None
    assert schedule.row.pause.until == NINE
    app.switch("all").off("incident", until=datetime.fromisoformat(text))
    state = app.switch("all").state
    assert state is not None
    assert state.until == NINE


def test_a_naive_datetime_is_wall_time_of_the_zone(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    wall = NINE.replace(hour=9, tzinfo=None)

    receipt = bill.options(at=wall).enqueue()

    assert receipt.execution is not None
    assert receipt.execution.due_at == NINE


def test_without_a_zone_of_the_application_it_is_utc(clock: Hand) -> None:
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)

    @app.job
    def bill() -> None: ...

    receipt = bill.options(at="2026-12-01 08:00").enqueue()

    assert receipt.execution is not None
    assert receipt.execution.due_at == NINE


def test_a_naive_datetime_is_refused_where_no_zone_is_stated(clock: Hand) -> None:
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)

    @app.job
    def bill() -> None: ...

    with pytest.raises(InstantError) as refused:
        bill.options(at=NINE.replace(tzinfo=None)).enqueue()

    assert "at: 2026-12-01 08:00 is not accepted" in str(refused.value)
    assert 'Sempre(timezone="Europe/Rome")' in str(refused.value)


def test_the_zone_comes_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMPRE_TIMEZONE", ROME)

    assert Sempre("memory://").settings.timezone == ROME


def test_an_unknown_zone_is_refused_with_the_nearest() -> None:
    with pytest.raises(ZoneError, match="Did you mean Europe/Rome"):
        Sempre("memory://", timezone="Europe/Roma")


def test_a_journey_through_time_begins_by_the_clocks_of_the_zone() -> None:
    app = Sempre("memory://", timezone=ROME)

    @app.cron("0 9 * * *")
    def bill() -> None: ...

    with app.testing("2026-12-01 08:30") as t:
        t.travel_to("2026-12-01 09:30")
        [row] = t.executions()

    assert row.run_at == NINE
