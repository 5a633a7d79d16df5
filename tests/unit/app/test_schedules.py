from datetime import UTC, datetime, timedelta

import pytest

from sempre import Cron, Every, Sempre
from sempre.app import Job
from sempre.brokers.store import StoreBroker
from sempre.domain.states import Kind, State
from sempre.errors import NamingError, NotFound, Refused
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import NOON, Hand


@pytest.fixture
def bill(app: Sempre) -> Job[[], None]:
    @app.every("1h", tags=["money"])
    def bill() -> None: ...

    app.sync()
    return bill


def hour(number: int) -> datetime:
    return NOON + timedelta(hours=number)


def test_a_declared_schedule_has_its_next_execution_after_the_first_sync(
    app: Sempre, bill: Job[[], None]
) -> None:
    [row] = app.schedule(bill.name).executions()
    assert (row.run_at, row.state, row.kind) == (hour(1), State.SCHEDULED, Kind.SCHEDULED)


def test_a_schedule_made_of_a_plain_function_runs_it_under_its_own_name(app: Sempre) -> None:
    app.add("splash", Every("12h"), lambda: None)
    app.sync()
    assert app.schedule("splash").definition.job == "splash"


def test_two_schedules_under_one_name_are_refused(app: Sempre) -> None:
    app.add("splash", Every("12h"), lambda: None)
    with pytest.raises(NamingError, match="splash"):
        app.add("splash", Every("1h"), lambda: None)


def test_one_job_can_have_several_schedules_each_with_its_arguments(app: Sempre) -> None:
    @app.job
    def stats(region: str) -> None: ...

    app.add("stats-eu", Cron("30 2 * * *"), stats.bind("eu"))
    app.add("stats-us", Cron("30 3 * * *"), stats.bind(region="us"))
    app.sync()
    found = {each.name: each.definition.args for each in app.schedules}
    assert found == {"stats-eu": {"region": "eu"}, "stats-us": {"region": "us"}}


def test_an_unknown_schedule_is_not_found_and_the_nearest_is_named(
    app: Sempre, bill: Job[[], None]
) -> None:
    with pytest.raises(NotFound, match=f'no schedule "bil".*{bill.name}'):
        app.schedule("bil").pause()


def test_what_a_schedule_is_can_be_asked(app: Sempre, bill: Job[[], None]) -> None:
    app.add("nightly", Cron("0 2 * * *", timezone="Europe/Rome"), bill)
    app.sync()
    anchored, nightly = app.schedule(bill.name), app.schedule("nightly")
    assert (anchored.is_anchor, anchored.is_cron, anchored.zone) == (True, False, "UTC")
    assert (nightly.is_anchor, nightly.is_cron, nightly.zone) == (False, True, "Europe/Rome")
    assert anchored.started


def test_the_next_times_are_those_of_the_grid(app: Sempre, bill: Job[[], None]) -> None:
    schedule = app.schedule(bill.name)
    assert schedule.next_run_at() == hour(1)
    assert schedule.next_run_at(after=hour(5)) == hour(6)
    assert schedule.next_run_at_times(count=3) == [hour(1), hour(2), hour(3)]


def test_start_is_idempotent_and_gives_nothing_on_a_disabled_schedule(
    app: Sempre, bill: Job[[], None]
) -> None:
    assert app.schedule(bill.name).start() is None
    app.add("off", Every("1h"), bill, enabled=False)
    app.sync()
    assert app.schedule("off").start() is None
    assert not app.schedule("off").started


def test_create_next_execution_gives_none_while_one_is_live(
    app: Sempre, bill: Job[[], None]
) -> None:
    assert app.schedule(bill.name).create_next_execution() is None


def test_disable_takes_the_next_execution_away_and_enable_gives_another(
    app: Sempre, bill: Job[[], None]
) -> None:
    schedule = app.schedule(bill.name)
    schedule.disable()
    assert [row.state for row in schedule.executions()] == [State.SUPERSEDED]
    schedule.enable()
    assert sorted(row.state for row in schedule.executions()) == [
        State.SCHEDULED,
        State.SUPERSEDED,
    ]


def test_a_pause_for_a_length_of_time_ends_by_itself(
    app: Sempre, bill: Job[[], None], clock: Hand
) -> None:
    schedule = app.schedule(bill.name)
    schedule.pause(until="3h", note="migration")
    assert schedule.row.next_run_at == hour(3)
    clock.move(hours=3)
    assert schedule.row.next_run_at == hour(3)


def test_a_pause_until_an_instant_is_read_from_a_text(app: Sempre, bill: Job[[], None]) -> None:
    schedule = app.schedule(bill.name)
    schedule.pause(until="2026-11-15T18:30:00Z")
    assert schedule.row.next_run_at == hour(7)


def test_resume_goes_on_with_the_next_slot(app: Sempre, bill: Job[[], None], clock: Hand) -> None:
    schedule = app.schedule(bill.name)
    schedule.pause()
    assert schedule.row.next_run_at is None
    clock.move(hours=2, minutes=30)
    schedule.resume()
    assert schedule.row.next_run_at == hour(3)


def test_a_verb_says_whether_it_changed_anything_whatever_starts_meanwhile(
    app: Sempre, bill: Job[[], None]
) -> None:
    app.sync()
    handle = app.schedules[bill.name]

    assert [handle.pause(note="x"), handle.pause(note="x")] == [True, False]
    assert [handle.resume(), handle.resume()] == [True, False]
    assert [handle.disable(), handle.disable()] == [True, False]
    assert [handle.enable(), handle.enable()] == [True, False]
    slot = handle.skip()
    assert [handle.unskip(slot), handle.unskip(slot)] == [True, False]


def test_a_deploy_never_ends_a_pause(app: Sempre, bill: Job[[], None]) -> None:
    app.schedule(bill.name).pause()
    app.sync()
    assert app.schedule(bill.name).row.pause is not None


def test_skip_takes_the_next_slot_out_and_unskip_puts_it_back(
    app: Sempre, bill: Job[[], None]
) -> None:
    schedule = app.schedule(bill.name)
    assert schedule.skip() == hour(1)
    assert schedule.row.next_run_at == hour(2)
    schedule.unskip(hour(1))
    assert schedule.row.next_run_at == hour(1)


def test_a_slot_that_is_none_is_refused_with_the_next_one(app: Sempre, bill: Job[[], None]) -> None:
    with pytest.raises(Refused, match="14:00"):
        app.schedule(bill.name).skip(hour(1) + timedelta(minutes=1))


def test_trigger_works_on_a_disabled_schedule(app: Sempre, bill: Job[[], None]) -> None:
    schedule = app.schedule(bill.name)
    schedule.disable()
    assert schedule.trigger().kind is Kind.MANUAL


def test_backfill_makes_up_for_slots_that_were_missed(
    app: Sempre, bill: Job[[], None], clock: Hand
) -> None:
    schedule = app.schedule(bill.name)
    schedule.disable()
    clock.move(hours=5)
    schedule.enable()
    made = schedule.backfill(hour(1), hour(3))
    assert [row.run_at for row in made] == [hour(1), hour(2), hour(3)]
    assert schedule.backfill(hour(1), hour(3)) == []


def test_an_edit_moves_the_next_execution(app: Sempre, bill: Job[[], None]) -> None:
    schedule = app.schedule(bill.name)
    schedule.edit(queue="critical")
    [row] = [row for row in schedule.executions() if row.is_live]
    assert row.snapshot.queue == "critical"
    schedule.move_to(Every("30m"))
    assert schedule.row.next_run_at == NOON + timedelta(minutes=30)


def test_a_deleted_schedule_is_gone_and_its_name_is_free(app: Sempre, bill: Job[[], None]) -> None:
    app.schedule(bill.name).delete()
    with pytest.raises(NotFound):
        app.schedule(bill.name).trigger()
    app.sync()
    assert app.schedule(bill.name).row.next_run_at == hour(1)


def test_schedules_of_tenants_are_made_in_bulk_at_run_time(app: Sempre) -> None:
    @app.job
    def report(tenant: int) -> None: ...

    wanted = [(f"tenant-{number}", Every("1d"), report.bind(number)) for number in range(2500)]
    assert all(app.create_schedules(wanted, tags=["tenant"]))
    assert not any(app.create_schedules(wanted[:3]))
    assert sum(1 for _ in app.schedules.find(tag="tenant")) == 2500
    assert app.schedule("tenant-7").row.next_run_at == datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize("name", ["", " tenant", "ten\0ant", 300 * "x"])
def test_a_schedule_made_at_run_time_has_a_name_that_can_be_shown(app: Sempre, name: str) -> None:
    @app.job
    def report() -> None: ...

    with pytest.raises(NamingError, match="schedule"):
        app.create_schedules([(name, Every("1d"), report)])
    assert not list(app.schedules.find())


def test_a_schedule_made_at_run_time_is_left_alone_by_a_deploy(app: Sempre) -> None:
    @app.job
    def report() -> None: ...

    app.create_schedules([("tenant-1", Every("1d"), report)])
    app.sync()
    assert app.schedule("tenant-1").definition.enabled


def test_what_an_owner_no_longer_declares_is_disabled_and_said(clock: Hand) -> None:
    store = MemoryStore(clock)
    old = Sempre(store, broker=StoreBroker(), clock=clock, owner="billing")
    old.add("kept", Every("1h"), lambda: None)
    old.add("gone", Every("1h"), lambda: None)
    old.sync()
    new = Sempre(store, broker=StoreBroker(), clock=clock, owner="billing")
    new.add("kept", Every("1h"), lambda: None)
    assert new.sync().disabled == ("gone",)
    assert not new.schedule("gone").definition.enabled
    assert new.schedule("kept").definition.enabled
