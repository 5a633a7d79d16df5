"""The statement of a month whose executions are purged: daily totals explain its slots."""

from datetime import datetime, timedelta

from sempre import Sempre
from sempre.domain.states import Kind, State
from sempre.grids.instants import read_instant
from sempre.ports.messages import Rollup
from tests.unit.statement.lives import checked, counts


def at(text: str) -> datetime:
    return read_instant("at", text)


def purged_app() -> Sempre:
    app = Sempre("memory://", retention="5d")

    @app.every("1h", keep=0)
    def sync() -> None: ...

    return app


def test_a_purged_month_in_utc_is_explained_by_daily_totals() -> None:
    app = purged_app()

    with app.testing("2026-02-20 00:30Z") as travel:
        travel.travel_to("2026-03-10 00:30Z")
        travel.outage("10h")
        travel.travel_to("2026-03-12 00:30Z")
        app.schedule("sync").trigger()
        travel.travel_to("2026-04-20 00:00Z")
        found = checked(app.statement(month="2026-03"), "sync")

    assert counts(found) == {"ran": 31 * 24 - 9, "missed": 9}
    assert dict(found.totals.others) == {(Kind.MANUAL, State.SUCCEEDED): 1}
    [note] = found.notes
    assert note.startswith("Of 735 slots the executions are purged")


def test_the_edges_of_a_month_in_another_zone_are_known_as_totals_only() -> None:
    app = purged_app()

    with app.testing("2026-02-20 00:30Z") as travel:
        travel.travel_to("2026-04-20 00:00Z")
        found = checked(app.statement(month="2026-03", zone="Europe/Rome"), "sync")

    # March of Rome: from 28 February 23:00 UTC to 31 March 22:00 UTC.
    assert counts(found) == {"ran": 30 * 24, "purged": 1 + 22}
    assert found.totals.demanded == 31 * 24 - 1
    assert (
        "23 slots are known only as part of the UTC daily totals of 2026-02-28 and 2026-03-31."
        in found.notes
    )


def test_a_month_that_is_partly_purged_is_whole() -> None:
    app = purged_app()

    with app.testing("2026-02-20 00:30Z") as travel:
        travel.travel_to("2026-04-02 12:00Z")
        found = checked(app.statement(month="2026-03"), "sync")

    assert set(counts(found)) == {"on time", "ran"}
    assert found.totals.demanded == 31 * 24


def test_totals_of_an_older_release_leave_the_outcome_open() -> None:
    app = purged_app()

    with app.testing("2026-02-20 00:30Z") as travel:
        travel.travel_to("2026-04-20 00:00Z")
        tables = app.engine.store.tables  # type: ignore[attr-defined]
        own = [each for each in tables.rollups.values() if each.day == "2026-03-15"]
        for each in own:
            del tables.rollups[each.key]
        old = Rollup(own[0].schedule_id, "2026-03-15", State.SUCCEEDED, 30)
        tables.rollups[old.key] = old
        found = checked(app.statement(month="2026-03"), "sync")

    assert counts(found) == {"ran": 30 * 24, "purged": 24}
    assert "24 slots are known only as daily totals of executions of any kind." in found.notes


def test_ranges_are_kept_longer_than_executions() -> None:
    app = Sempre("memory://", retention="5d", action_retention="60d")

    @app.every("1h", keep=0)
    def sync() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.travel_to("2026-03-10 00:30Z")
        travel.outage("10h")
        travel.travel(timedelta(days=50))
        schedule = app.schedule("sync").row
        assert [each.count for each in app.engine.store.ranges(schedule.id, limit=9).value] == [9]
        travel.travel(timedelta(days=15))
        assert app.engine.store.ranges(schedule.id, limit=9).value == []
