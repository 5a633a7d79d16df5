"""The statement of a month, by time travel: daylight saving, edits, pauses, outages, ends."""

from datetime import datetime, timedelta

import pytest

from sempre import Cron, Every, Retry, Sempre
from sempre.domain.action import Action
from sempre.domain.statement.outcomes import Outcome
from sempre.errors import InstantError
from sempre.grids.grid import Grid
from sempre.grids.instants import read_instant
from sempre.ports.messages import ActionQuery
from tests.unit.statement.lives import account_slots, checked, counts

ROME = "Europe/Rome"


def application() -> Sempre:
    return Sempre("memory://", retention="400d", action_retention="800d")


def at(text: str) -> datetime:
    return read_instant("at", text)


@pytest.mark.parametrize(("month", "slots"), [("2026-03", 743), ("2026-10", 745)])
def test_a_month_with_a_clock_change_has_the_hours_of_its_calendar(month: str, slots: int) -> None:
    app = application()

    @app.cron("0 * * * *", timezone=ROME)
    def hourly() -> None: ...

    with app.testing(f"{month}-01 00:00Z") as travel:
        # The month of Rome begins before that of UTC.
        travel.travel("32d")
        found = checked(app.statement(month=month, zone=ROME), "hourly")

    # The schedule is created one or two hours after the month began, and at a slot.
    first = 2 if month == "2026-03" else 3
    assert counts(found) == {"on time": slots - first}


def test_an_anchor_on_the_31st_demands_one_slot_a_month() -> None:
    app = application()

    @app.every("1 month", anchor="2026-01-31 09:00", timezone=ROME)
    def bill() -> None: ...

    with app.testing("2026-01-01 00:00Z") as travel:
        travel.travel_to("2026-05-15 00:00Z")
        for month, slot in {"2026-02": "2026-02-28 08:00Z", "2026-03": "2026-03-31 07:00Z"}.items():
            statement = app.statement(month=month, zone=ROME)
            assert counts(checked(statement, "bill")) == {"on time": 1}
            [(_, entry)] = statement.slots()
            assert entry.first == at(slot)


def test_an_edit_in_the_middle_of_the_month_changes_what_is_demanded() -> None:
    app = application()

    @app.cron("0 3 * * *")
    def report() -> None: ...

    with app.testing("2026-02-20 00:00Z") as travel:
        travel.travel_to("2026-03-11 12:00Z")
        app.schedule("report").move_to(Cron("0 */12 * * *"), why="twice a day")
        travel.travel_to("2026-04-02 00:00Z")
        found = checked(app.statement(month="2026-03"), "report")

    # 1 to 11 March at 03:00; then from 12 March at 00:00, twice a day.
    assert counts(found) == {"on time": 11 + 40}
    assert found.totals.unexplained == 0
    [change] = found.changes
    assert (change.verb, change.note, change.fields) == ("edit", "twice a day", ("grid",))
    assert found.revisions is not None
    assert found.revisions[0] < found.revisions[1]


def test_a_deploy_in_the_middle_of_the_month_changes_what_is_demanded() -> None:
    def declaring(grid: Grid) -> Sempre:
        app = application()

        @app.job
        def report() -> None: ...

        app.add("report", grid, report)
        return app

    app = declaring(Cron("0 3 * * *"))
    with app.testing("2026-02-20 00:00Z") as travel:
        travel.travel_to("2026-03-11 12:00Z")
        declaring(Cron("0 */12 * * *")).declarations.sync(app.engine)
        travel.travel_to("2026-04-02 00:00Z")
        statement = app.statement(month="2026-03")
        found = checked(statement, "report")
        slots = [entry.first for _, entry in statement.slots()]
        parts: list[tuple[datetime, Grid]] = [
            (at("2026-03-01 00:00Z"), Cron("0 3 * * *")),
            (at("2026-03-11 12:00Z"), Cron("0 */12 * * *")),
        ]
        expected = account_slots(app, "report", parts, at("2026-03-31 23:59Z"))

    assert slots == sorted(expected)
    assert counts(found) == {"on time": 11 + 40}
    assert list(found.notes) == []
    [change] = found.changes
    assert (change.verb, change.actor, change.fields) == ("deploy", "code", ("grid",))


def test_a_schedule_on_a_grid_without_a_name_is_paused_and_stated() -> None:
    class Hours(Grid):
        def after(self, t: datetime) -> datetime | None:
            return Every("1h").after(t)

        def explain(self) -> str:
            return "on the hour"

    app = application()

    @app.job
    def report() -> None: ...

    with app.testing("2026-03-30 00:00Z") as travel:
        app.put_schedule("report", Hours(), report).start()
        travel.travel_to("2026-03-31 00:30Z")
        app.schedule("report").pause()
        travel.travel_to("2026-04-01 12:00Z")
        found = checked(app.statement(month="2026-03"), "report")

    assert counts(found) == {"on time": 24, "skipped": 23}


def test_a_creation_is_a_change_of_the_schedule_and_a_repair_is_not() -> None:
    app = application()

    @app.every("1 day")
    def report() -> None: ...

    with app.testing("2026-03-03 12:00Z") as travel:
        after = {"cause": "ticket lost"}
        repair = Action(id="0", verb="heal", target="schedule:report", after={**after})
        app.engine.store.record([repair])
        travel.travel_to("2026-04-02 00:00Z")
        [logged] = app.engine.store.actions(ActionQuery(verb="heal", limit=10)).value.items
        found = checked(app.statement(month="2026-03"), "report")

    assert logged.target == "schedule:report"
    assert [change.verb for change in found.changes] == ["create"]


def test_a_change_that_is_not_logged_leaves_nothing_unexplained() -> None:
    app = application()

    @app.every("1 day")
    def report() -> None: ...

    with app.testing("2026-02-20 00:00Z") as travel:
        travel.travel_to("2026-03-11 12:00Z")
        app.schedule("report").move_to(Every("6h"))
        app.engine.store.purge_actions(before=travel.now + timedelta(days=1), limit=10)
        travel.travel_to("2026-04-02 00:00Z")
        found = checked(app.statement(month="2026-03"), "report")

    assert counts(found) == {"on time": 11 + 1 + 80}
    [note] = found.notes
    assert "not in the log of actions" in note


def test_pauses_and_disables_are_skipped_slots_with_their_reason() -> None:
    app = application()

    @app.cron("0 3 * * *")
    def report() -> None: ...

    with app.testing("2026-02-27 00:00Z") as travel:
        travel.travel_to("2026-03-05 12:00Z")
        app.schedule("report").pause(note="migration")
        travel.travel_to("2026-03-08 12:00Z")
        app.schedule("report").resume()
        travel.travel_to("2026-03-20 12:00Z")
        app.schedule("report").disable()
        travel.travel_to("2026-03-24 12:00Z")
        app.schedule("report").enable()
        travel.travel_to("2026-03-30 12:00Z")
        app.schedule("report").pause()
        travel.travel_to("2026-04-05 00:00Z")
        found = checked(app.statement(month="2026-03"), "report")

    assert counts(found) == {"on time": 31 - 3 - 4 - 1, "skipped": 3 + 4 + 1}
    reasons = {reason: count for (_, reason), count in found.totals.reasons.items()}
    assert reasons == {"paused": 4, "disabled": 4}
    assert [change.verb for change in found.changes] == [
        "pause",
        "resume",
        "disable",
        "enable",
        "pause",
    ]


def test_an_outage_is_one_missed_range_and_one_late_run() -> None:
    app = application()

    @app.every("1h")
    def sync() -> None: ...

    with app.testing("2026-02-27 00:00Z") as travel:
        travel.travel_to("2026-03-10 00:30Z")
        travel.outage("10h")
        travel.travel_to("2026-04-02 00:00Z")
        found = checked(app.statement(month="2026-03"), "sync")

    assert counts(found) == {"on time": 734 - 0, "late": 1, "missed": 9}
    [late, missed] = found.exceptions
    assert (late.outcome, missed.outcome, missed.count) == (Outcome.LATE, Outcome.MISSED, 9)
    assert late.late_by is not None
    assert late.late_by > timedelta(hours=9)


def test_an_outage_over_the_end_of_a_month_is_cut_there() -> None:
    app = application()

    @app.every("1h")
    def sync() -> None: ...

    with app.testing("2026-03-20 00:00Z") as travel:
        travel.travel_to("2026-03-31 21:30Z")
        travel.outage("5h")
        travel.travel_to("2026-05-02 00:00Z")
        march = checked(app.statement(month="2026-03"), "sync")
        april = checked(app.statement(month="2026-04"), "sync")

    assert counts(march)["missed"] == 1
    assert counts(april)["missed"] == 3
    assert april.totals.demanded == 30 * 24


def test_nothing_is_demanded_after_the_end_of_a_schedule() -> None:
    app = application()

    @app.every("1 day", until="2026-03-10 00:00Z")
    def trial() -> None: ...

    @app.every("1 day", limit=4)
    def few() -> None: ...

    with app.testing("2026-03-01 12:00Z") as travel:
        travel.travel_to("2026-04-01 12:00Z")
        app.schedule("few").edit(limit=6)
        app.schedule("trial").edit(until=None)
        travel.travel_to("2026-04-10 12:00Z")
        statement = app.statement(month="2026-03")
        trial_found, few_found = checked(statement, "trial"), checked(statement, "few")

    assert counts(trial_found) == {"on time": 9}
    assert counts(few_found) == {"on time": 4}


def test_failures_and_retries_are_told_apart() -> None:
    app = application()
    fails: dict[int, int] = {3: 1, 5: 9}

    @app.cron("0 3 * * *", retry=Retry(2, base="10s"))
    def bill() -> None:
        if fails.get(travel.now.day, 0) > 0:
            fails[travel.now.day] -= 1
            raise ValueError("no bank")

    with app.testing("2026-03-01 00:00Z") as travel:
        travel.travel_to("2026-04-01 12:00Z")
        found = checked(app.statement(month="2026-03"), "bill")

    assert counts(found) == {"on time": 29, "retried": 1, "failed": 1}
    assert list(found.totals.reasons) == [
        (Outcome.RETRIED, "after 1 failure"),
        (Outcome.FAILED, "retries exhausted"),
    ]


def test_a_backfill_makes_missed_slots_good_and_is_listed_apart() -> None:
    app = application()

    @app.every("1h")
    def sync() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.travel_to("2026-03-10 00:30Z")
        travel.outage("10h")
        travel.travel("1h")
        app.schedule("sync").backfill(at("2026-03-10 03:00Z"), at("2026-03-10 05:00Z"))
        app.schedule("sync").trigger()
        travel.travel_to("2026-04-02 00:00Z")
        found = checked(app.statement(month="2026-03"), "sync")

    assert counts(found)["missed"] == 9
    assert found.totals.made_good == 3
    others = {f"{kind} {state}": count for (kind, state), count in found.totals.others.items()}
    assert others == {"backfill succeeded": 3, "manual succeeded": 1}
    assert len(found.runs) == 4


def test_the_present_month_ends_now() -> None:
    app = application()

    @app.every("1 day")
    def report() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.travel_to("2026-03-10 12:00Z")
        statement = app.statement(month="2026-03")
        assert counts(checked(statement, "report")) == {"on time": 9}
        assert statement.made_at == travel.now


def test_lateness_is_the_callers_to_define() -> None:
    app = application()

    @app.every("1 day", tolerance="3h")
    def report() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.travel_to("2026-03-09 23:30Z")
        travel.outage("2h")
        travel.travel_to("2026-04-01 12:00Z")
        assert counts(checked(app.statement(month="2026-03"), "report")) == {"on time": 30}
        strict = app.statement(month="2026-03", late="60s")
        assert counts(checked(strict, "report")) == {"on time": 29, "late": 1}


def test_waiting_for_an_earlier_run_is_not_lateness() -> None:
    app = application()

    @app.every("1h", overlap="wait")
    def slow() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.takes("slow", "90m")
        travel.travel_to("2026-03-01 05:30Z")
        travel.takes("slow", "1m")
        travel.travel_to("2026-04-01 12:00Z")
        found = checked(app.statement(month="2026-03"), "slow")

    assert "late" not in counts(found)
    assert found.totals.demanded == 31 * 24 - 1


def test_a_renamed_schedule_keeps_its_definitions() -> None:
    app = application()

    @app.job
    def report() -> None: ...

    with app.testing("2026-02-20 00:00Z") as travel:
        app.put_schedule("one", Every("1 day"), report)
        travel.travel_to("2026-03-05 12:00Z")
        app.schedule("one").move_to(Every("12h"))
        travel.travel_to("2026-03-15 12:00Z")
        app.schedule("one").rename("two")
        travel.travel_to("2026-04-01 12:00Z")
        found = checked(app.statement(month="2026-03"), "two")

    assert counts(found) == {"on time": 5 + 52}
    assert [change.verb for change in found.changes] == ["edit", "rename"]
    assert found.notes == ()


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "March", "2026-3", "0000-01", ""])
def test_a_text_that_is_no_month_is_refused(month: str) -> None:
    app = application()
    with app.testing("2026-03-01 00:00Z"), pytest.raises(InstantError, match="month"):
        app.statement(month=month)


def test_the_recomputation_agrees_on_an_ordinary_life() -> None:
    app = application()

    @app.every("1h")
    def sync() -> None: ...

    with app.testing("2026-03-01 00:30Z") as travel:
        travel.travel_to("2026-03-10 00:30Z")
        travel.outage("10h")
        travel.travel_to("2026-04-02 00:00Z")
        slots = account_slots(
            app, "sync", [(at("2026-03-01 00:30Z"), Every("1h"))], at("2026-03-31 23:59Z")
        )
        found = checked(app.statement(month="2026-03"), "sync")

    assert len(slots) == found.totals.demanded


def test_a_slot_of_an_outage_is_late_though_it_also_waited_for_a_run() -> None:
    app = Sempre("memory://", retention="90d")

    @app.job
    def report() -> None: ...

    with app.testing("2026-03-01 00:10Z") as travel:
        app.put_schedule("report", Every("1h"), report, overlap="wait", catch_up=True)
        travel.takes("report", "20m")
        travel.travel_to("2026-03-01 03:30Z")
        travel.outage("4h")  # the slots of 04:00 to 07:00 run from 07:30 on, one after another
        travel.travel_to("2026-03-01 12:30Z")
        found = checked(app.statement(month="2026-03"), "report")

    # The slot of 08:00 waits for runs alone, without a gap.
    late = [entry.first.hour for entry in found.exceptions]
    assert (late, counts(found)) == ([4, 5, 6, 7], {"on time": 8, "late": 4})
