"""What goes wrong on a journey: workers that are away, brokers that forget, runs that are lost."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre import Every, Sempre
from sempre.domain.states import State
from sempre.testing import TimeTravel
from tests.unit.testing.shop import Shop

START = "2026-05-01 00:00Z"
MIDNIGHT = datetime(2026, 5, 1, tzinfo=UTC)


def hours(t: TimeTravel, name: str) -> list[int]:
    return [(row.run_at - MIDNIGHT) // timedelta(hours=1) for row in t.executions(name)]


@pytest.mark.parametrize(
    ("catch_up", "slots"), [(False, [1, 2, 3, 8, 9, 10]), (True, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])]
)
def test_after_an_outage_slots_are_made_up_for_or_missed(
    catch_up: bool,  # noqa: FBT001 - a parameter of the test
    slots: list[int],
) -> None:
    app = Sempre("memory://")
    app.add("job", Every("1h"), lambda: None, catch_up=catch_up)
    with app.testing(START) as t:
        t.travel("150m")
        t.outage("5h")
        assert t.now == MIDNIGHT + timedelta(minutes=450)
        t.travel("3h")

        assert hours(t, "job") == slots
        late = [row.started_at for row in t.executions("job") if row.started_at != row.due_at]
        assert set(late) == {MIDNIGHT + timedelta(minutes=450)}
        schedule = app.schedule("job").row
        [*passed] = app.engine.store.ranges(schedule.id, limit=10).value

    assert sum(each.count for each in passed) == 10 - len(slots)
    assert {each.reason for each in passed} <= {"missed"}


def test_a_run_that_an_outage_interrupts_is_run_again() -> None:
    app = Sempre("memory://")

    @app.every("1h")
    def job() -> None: ...

    with app.testing(START) as t:
        t.takes(job, "20m")
        t.travel("70m")
        t.outage("2m")
        # A rerun after a crash waits for a second.
        t.travel("20m1s")
        [row] = t.executions(job)

    assert (row.state, row.attempt, row.crashes) == (State.SUCCEEDED, 2, 1)
    assert row.finished_at == MIDNIGHT + timedelta(minutes=92, seconds=1)


def test_a_broker_that_forgets_everything_loses_no_slot(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("12h")
        t.lose_broker()
        t.travel("12h")

        t.assert_ran(shop.refresh, times=96)


def test_what_the_broker_forgot_starts_a_sweep_late_at_most() -> None:
    app = Sempre("memory://")
    app.add("job", Every("1m"), lambda: None)
    with app.testing("2026-05-01 00:00:02Z") as t:
        t.travel("30s")
        t.lose_broker()
        t.travel("1h")
        rows = t.executions("job")

    late = [row.started_at - row.due_at for row in rows if row.started_at is not None]
    assert len(rows) == 60
    assert [each for each in late if each] == [timedelta(seconds=2)]


def test_every_slot_of_a_journey_is_accounted_for(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        for _ in range(3):
            t.travel("7h")
            t.outage("90m")
            t.lose_broker()
            t.takes(shop.refresh, "20m")
        t.travel("1h")
        row = shop.app.schedule("refresh").row
        ranges = shop.app.engine.store.ranges(row.id, limit=1000).value
        ended = [each for state in State for each in t.executions("refresh", state=state)]
        slots = {each.run_at for each in ended if each.occupies_slot and each.run_at <= row.cursor}

    passed = sum(each.count for each in ranges)
    assert len(slots) + passed == (row.cursor - MIDNIGHT) // timedelta(minutes=15)


def test_what_ended_does_not_slow_the_store_down() -> None:
    app = Sempre("memory://", retention="30d")
    app.add("job", Every("1m"), lambda: None)
    with app.testing(START) as t:
        t.travel("1 day")

        waiting = [*t.executions(state="scheduled"), *t.executions(state="pending")]
        assert len(waiting) == 1
        assert len(t.executions("job")) == 1440
        assert len(app.schedule("job").executions(limit=1000)) == 1000


def test_a_schedule_far_beyond_the_horizon_starts_on_time() -> None:
    app = Sempre("memory://")
    app.add("yearly", Every("1y", timezone="Europe/Rome"), lambda: None)
    with app.testing(START) as t:
        t.travel("1100 days")

        assert [row.started_at for row in t.executions()] == [
            datetime(year, 12, 31, 23, tzinfo=UTC) for year in (2026, 2027, 2028)
        ]


def test_a_slot_to_come_that_was_superseded_long_ago_is_told_of_once() -> None:
    app = Sempre("memory://", retention="5d")
    app.add("job", Every("100d"), lambda: None)
    app.add("daily", Every("1d"), lambda: None, keep=0)
    with app.testing(START) as t:
        t.travel("1d")
        app.schedule("job").move_to(Every("1d"))
        t.travel("20d")

        assert len(t.executions("job", state="superseded")) == 1
        assert len(t.executions("daily")) == 21
        assert len(app.schedule("daily").executions()) in (6, 7)


def test_what_a_switch_holds_runs_when_its_time_is_over(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        shop.app.switch("job:refresh").off("incident", mode="hold", until="2h")
        shop.app.switch("job:mail").off("incident", mode="hold", until="3h")
        shop.mail.enqueue("bob")
        t.travel("5h")

        first = t.executions(shop.refresh)[0]
        bob = t.executions(shop.mail)[0]

    sweep = timedelta(seconds=15)
    assert first.first_started_at is not None
    assert bob.first_started_at is not None
    assert timedelta(0) <= first.first_started_at - (MIDNIGHT + timedelta(hours=2)) <= sweep
    assert timedelta(0) <= bob.first_started_at - (MIDNIGHT + timedelta(hours=3)) <= sweep
    assert len(shop.done) > 10


def test_what_a_switch_rejects_is_skipped(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        shop.app.switch("job:refresh").off("incident", mode="reject")
        t.travel("1h")
        shop.app.switch("job:refresh").on()
        t.travel("1h")

        assert len(t.executions(shop.refresh, state="skipped")) == 4
        assert len(t.executions(shop.refresh)) == 4
