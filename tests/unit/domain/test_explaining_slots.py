"""Explanations of slots: the grid, the clocks, ranges, and instants that never were slots."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sempre.domain.explanation import Code, Verdict, explain_slot
from sempre.domain.explanation.operators import action_of_commit
from sempre.domain.schedule import Pause
from sempre.domain.states import Kind
from sempre.grids import Cron, Every, Grid
from tests.unit.domain.builders import at
from tests.unit.domain.explaining import act, records, row, said, schedule, span

ROME = "Europe/Rome"
NIGHTLY = Cron("30 2 * * *", timezone=ROME)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def placed(grid: Grid, slot: str) -> list[Code]:
    """Return why a slot of a grid is where it is."""
    run_at = utc(slot)
    own = schedule(grid, created_at=utc("2020-01-01T00:00"), cursor=run_at)
    decided = row(run_at, grid=grid)
    found = explain_slot(records(run_at, schedule=own, rows=[decided], now=run_at))
    return [code for code in found.codes() if code is not Code.CREATED]


def test_a_cron_time_in_a_gap_is_shifted_to_the_end_of_the_gap() -> None:
    assert placed(NIGHTLY, "2026-03-29T01:00") == [Code.ON_GRID, Code.GAP_SHIFTED]
    assert placed(NIGHTLY, "2026-03-28T01:30") == [Code.ON_GRID]


def test_a_cron_time_that_the_clock_shows_anyway_is_not_shifted() -> None:
    both = Cron("30,0 2,3 * * *", timezone=ROME)

    assert placed(both, "2026-03-29T01:00") == [Code.ON_GRID]


def test_a_point_of_every_in_a_gap_moves_by_the_length_of_the_gap() -> None:
    daily = Every("1 day", anchor="2026-01-01 02:30", timezone=ROME)

    found = placed(daily, "2026-03-29T01:30")

    assert found == [Code.ON_GRID, Code.ANCHORED, Code.GAP_SHIFTED]


@pytest.mark.parametrize(
    ("fold", "slot", "code"),
    [
        ("first", "2026-10-25T00:30", Code.FOLD_FIRST),
        ("last", "2026-10-25T01:30", Code.FOLD_SECOND),
        ("both", "2026-10-25T00:30", Code.FOLD_FIRST),
        ("both", "2026-10-25T01:30", Code.FOLD_SECOND),
    ],
)
def test_a_time_that_the_clock_shows_twice_says_which_showing_it_is(
    fold: str, slot: str, code: Code
) -> None:
    assert placed(Cron("30 2 * * *", timezone=ROME, fold=fold), slot) == [Code.ON_GRID, code]
    daily = Every("1 day", anchor="2026-01-01 02:30", timezone=ROME, fold=fold)
    assert placed(daily, slot) == [Code.ON_GRID, Code.ANCHORED, code]


def test_elapsed_time_knows_no_gap_and_no_fold() -> None:
    hourly = Every("1h", anchor="2026-01-01 00:30", timezone=ROME)

    for slot in ("2026-03-29T01:30", "2026-10-25T00:30", "2026-10-25T01:30"):
        assert placed(hourly, slot) == [Code.ON_GRID, Code.ANCHORED]


@pytest.mark.parametrize(
    ("grid", "slot", "number"),
    [
        (Every("1h", anchor="2026-05-04 00:30Z"), "2026-05-04T03:30", 3),
        (Every("2 days", anchor="2026-05-04 09:00", timezone=ROME), "2026-05-10T07:00", 3),
        (Every("1 month", anchor="2026-01-31 09:00", timezone=ROME), "2026-03-31T07:00", 2),
        (Every("1 year", anchor="2024-02-29 09:00Z"), "2026-02-28T09:00", 2),
    ],
)
def test_a_slot_is_its_anchor_and_a_whole_number_of_intervals(
    grid: Grid, slot: str, number: int
) -> None:
    run_at = utc(slot)
    own = schedule(grid, created_at=utc("2020-01-01T00:00"), cursor=run_at)
    found = explain_slot(records(run_at, schedule=own, rows=[row(run_at, grid=grid)]))

    [anchored] = [each for each in found.causes if each.code is Code.ANCHORED]
    assert anchored.facts["number"] == number


def test_a_wall_time_in_a_gap_is_understood_as_the_shifted_slot() -> None:
    moved, jump = utc("2026-03-29T01:30"), utc("2026-03-29T01:00")
    own = schedule(NIGHTLY, created_at=utc("2026-01-01T00:00"), cursor=moved)
    found = explain_slot(
        records((moved, jump), schedule=own, rows=[row(jump, grid=NIGHTLY)], now=moved)
    )

    assert found.slot == jump
    assert "the clocks of Europe/Rome skip 02:30" in said(found)


def test_a_slot_that_the_gap_policy_leaves_out_never_existed() -> None:
    grid = Cron("30 2 * * *", timezone=ROME, gap="skip")
    moved, jump = utc("2026-03-29T01:30"), utc("2026-03-29T01:00")
    own = schedule(grid, created_at=utc("2026-01-01T00:00"), cursor=moved)
    wall = datetime(2026, 3, 29, 2, 30)  # noqa: DTZ001 - wall time

    found = explain_slot(records((moved, jump), asked_wall=wall, schedule=own, now=moved))

    assert (found.verdict, found.codes()) == (Verdict.NEVER_EXISTED, [Code.GAP_SKIPPED])
    assert 'gap="skip"' in said(found, now=moved)


def test_a_wall_time_in_a_gap_that_is_no_slot_names_the_jump() -> None:
    grid = Cron("0 9 * * *", timezone=ROME)
    moved, jump = utc("2026-03-29T01:30"), utc("2026-03-29T01:00")
    own = schedule(grid, created_at=utc("2026-01-01T00:00"), cursor=moved)
    wall = datetime(2026, 3, 29, 2, 30)  # noqa: DTZ001 - wall time

    found = explain_slot(records((moved, jump), asked_wall=wall, schedule=own, now=moved))

    assert found.codes() == [Code.ASKED_IN_GAP, Code.NOT_ON_GRID]


def test_an_instant_off_the_grid_names_the_slots_before_and_after() -> None:
    found = explain_slot(records("11:03"))

    assert (found.verdict, found.codes()) == (Verdict.NEVER_EXISTED, [Code.NOT_ON_GRID])
    nearest = "before is Mon 4 May 11:00 UTC and after is Mon 4 May 11:10 UTC"
    assert nearest in said(found)


def test_nothing_fires_before_the_anchor() -> None:
    own = schedule(Every("10m", anchor=at("10:00")))

    found = explain_slot(records("09:50", schedule=own))

    assert found.codes() == [Code.BEFORE_ANCHOR]


def test_a_slot_before_the_creation_of_the_schedule_never_existed() -> None:
    found = explain_slot(records("05:50"))

    assert (found.verdict, found.codes()[-1]) == (Verdict.NEVER_EXISTED, Code.BEFORE_CREATION)


def test_a_slot_after_until_never_existed() -> None:
    own = schedule(until=at("11:00"))

    assert explain_slot(records("11:10", schedule=own)).codes()[-1] is Code.AFTER_UNTIL
    ahead = explain_slot(records("12:10", schedule=own))
    assert (ahead.verdict, ahead.codes()[-1]) == (Verdict.WILL_NOT_RUN, Code.AFTER_UNTIL)


def test_a_slot_beyond_the_limit_of_starts_will_not_run() -> None:
    found = explain_slot(records("12:10", schedule=schedule(limit=5, starts=5)))

    assert found.codes()[-1] is Code.LIMIT_REACHED
    assert "its limit of 5 starts" in said(found)


def test_a_slot_whose_rows_may_be_purged_says_so() -> None:
    found = explain_slot(records("08:00", kept_since=at("10:00"), purged_days=frozenset({"x"})))

    assert (found.verdict, found.codes()[-1]) == (Verdict.PURGED, Code.PURGED)
    assert "daily totals remain" in said(found)


def test_a_day_of_which_only_totals_are_left_is_purged() -> None:
    found = explain_slot(records("08:00", purged_days=frozenset({"2026-05-04"})))

    assert found.verdict is Verdict.PURGED


def test_a_slot_without_any_record_admits_that_the_records_do_not_tell() -> None:
    found = explain_slot(records("11:00"))

    assert (found.verdict, found.codes()[-1]) == (Verdict.NOT_TOLD, Code.NOT_TOLD)


def test_a_range_that_was_missed_names_the_late_start_before_it() -> None:
    late = row("08:00", first_started_at="11:00", started_at="11:00", attempt=1)
    found = explain_slot(
        records("09:00", ranges=[span("08:10", "10:50", 17, "missed")], nearby=[late])
    )

    assert (found.verdict, found.codes()[1:]) == (
        Verdict.MISSED,
        [Code.MISSED_IN_RANGE, Code.DOWNTIME],
    )
    assert "one of 17 slots" in said(found)
    assert "started only at Mon 4 May 11:00 UTC, 3 h late" in said(found)


def test_a_range_that_a_switch_held_names_the_operator() -> None:
    off = act("08:00", "switch off", "switch:all", note="incident", after={"mode": "hold"})
    found = explain_slot(
        records("09:00", ranges=[span("08:10", "10:50", 17, "missed: held by all")], actions=[off])
    )

    assert found.codes()[-1] is Code.HELD_IN_RANGE
    assert 'by ann: "incident"' in said(found)


@pytest.mark.parametrize(
    ("reason", "field", "value", "code"),
    [
        ("paused", "paused", True, Code.PAUSED),
        ("disabled", "enabled", False, Code.DISABLED),
    ],
)
def test_a_range_of_a_stopped_schedule_names_who_stopped_it(
    reason: str,
    field: str,
    *,
    value: bool,
    code: Code,
) -> None:
    entry = act("08:00", reason, note="why", before={field: not value}, after={field: value})
    later = act("11:00", "undo", before={field: value}, after={field: not value})
    found = explain_slot(
        records("09:00", ranges=[span("08:10", "10:50", 17, reason)], actions=[later, entry])
    )

    assert found.codes()[1:] == [code, Code.PASSED_IN_RANGE]
    assert f'was {reason} by ann: "why"' in said(found)


def test_a_deploy_that_disabled_a_schedule_is_named() -> None:
    note = "release 7 of owner billing declares it no more"
    entry = act(
        "08:00",
        "deploy",
        actor="code",
        note=note,
        before={"enabled": True},
        after={"enabled": False},
    )
    found = explain_slot(
        records("09:00", ranges=[span("08:10", "10:50", 17, "disabled")], actions=[entry])
    )

    assert Code.DISABLED_BY_DEPLOY in found.codes()
    assert note in said(found)


def test_a_pause_without_an_entry_is_told_from_the_schedule() -> None:
    own = schedule(pause=Pause(note="unknown outcome", actor="sempre"))

    found = explain_slot(records("12:10", schedule=own))

    assert 'paused by sempre: "unknown outcome"' in said(found)


def test_a_range_that_was_edited_away_names_the_fields() -> None:
    was, now = Every("20m").to_json(), Every("10m").to_json()
    entry = act("11:00", "edit", note="faster", before={"grid": was}, after={"grid": now})
    found = explain_slot(
        records("09:00", ranges=[span("08:10", "10:50", 8, "edited")], actions=[entry])
    )

    assert Code.EDITED in found.codes()
    assert 'edited (grid) by ann: "faster"' in said(found)


def test_a_range_after_the_end_of_the_schedule_says_that_it_had_ended() -> None:
    found = explain_slot(records("09:00", ranges=[span("08:10", "10:50", 17, "ended")]))

    assert found.codes()[1:] == [Code.ENDED, Code.PASSED_IN_RANGE]


def test_a_slot_of_the_present_grid_was_none_under_the_grid_before() -> None:
    was, now = Every("1h").to_json(), Every("10m").to_json()
    entry = act("11:00", "edit", note="faster", before={"grid": was}, after={"grid": now})

    found = explain_slot(records("09:10", actions=[entry]))

    assert found.codes() == [Code.NOT_ON_GRID, Code.REGRIDDED]


def test_a_slot_that_an_edit_took_away_before_it_came_names_the_edit() -> None:
    was, now = Every("7m").to_json(), Every("10m").to_json()
    entry = act("08:00", "edit", note="slower", before={"grid": was}, after={"grid": now})
    slot = Every("7m").after(at("09:00"))
    assert slot is not None

    found = explain_slot(records(slot, actions=[entry]))

    assert found.codes() == [Code.NOT_ON_GRID, Code.EDITED]


def test_a_slot_to_come_is_expected_and_a_passed_one_waits_for_the_slot_before() -> None:
    next_row = row("11:50", "scheduled")
    own = schedule(cursor=at("11:40"), next_run_at=at("11:50"))

    ahead = explain_slot(records("13:00", schedule=own, nearby=[next_row]))
    behind = explain_slot(records("12:00", schedule=own, nearby=[next_row]))

    assert (ahead.verdict, ahead.codes()[-1]) == (Verdict.WILL_RUN, Code.EXPECTED)
    assert (behind.verdict, behind.codes()[-1]) == (Verdict.UNDECIDED, Code.BEHIND)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"enabled": False}, Code.DISABLED),
        ({"deleted": True}, Code.DELETED),
        ({"broken": "ValueError"}, Code.BROKEN),
        ({"pause": Pause(until=at("13:00"))}, Code.PAUSED),
    ],
)
def test_a_slot_of_the_future_that_will_not_run_names_the_stop(
    fields: dict[str, Any], code: Code
) -> None:
    found = explain_slot(records("12:10", schedule=schedule(**fields)))

    assert (found.verdict, found.codes()[-1]) == (Verdict.WILL_NOT_RUN, code)


def test_a_pause_that_ends_before_the_slot_lets_the_slot_run() -> None:
    own = schedule(pause=Pause(until=at("13:00")))

    assert explain_slot(records("13:00", schedule=own)).verdict is Verdict.WILL_RUN


def test_a_relative_grid_is_known_by_its_rows_only() -> None:
    class Steps(Grid):
        relative = True

        def after(self, t: datetime) -> datetime | None:
            return t + timedelta(minutes=10)

        def to_json(self) -> dict[str, object]:
            return {"grid": "steps"}

    found = explain_slot(records("12:10", schedule=schedule(Steps())))

    assert found.codes()[0] is Code.UNKNOWN_GRID


def test_a_deleted_or_renamed_schedule_is_told_by_the_log() -> None:
    gone = act(
        "10:00", "delete", note="obsolete", before={"deleted": False}, after={"deleted": True}
    )
    renamed = act("10:00", "rename", before={"name": "bill"}, after={"name": "invoice"})

    deleted = explain_slot(records("11:00", schedule=None, actions=[gone]))
    moved = explain_slot(records("11:00", schedule=None, actions=[renamed]))

    assert deleted.codes() == [Code.DELETED]
    assert moved.codes() == [Code.RENAMED]
    assert "renamed to invoice by ann" in said(moved)


def test_a_backfill_of_a_missed_slot_is_mentioned() -> None:
    again = row("09:00", kind=Kind.BACKFILL, actor="ann", created_at="11:30")
    found = explain_slot(
        records("09:00", rows=[again], ranges=[span("08:10", "10:50", 17, "missed")])
    )

    assert (found.verdict, found.codes()[-1]) == (Verdict.MISSED, Code.OTHER_RUN)
    assert "the backfill" in said(found)


def test_of_two_actions_within_a_moment_the_nearest_is_of_the_commit() -> None:
    second = timedelta(seconds=1)
    early = act("10:00", "skip")
    late = act("10:00", "skip", at=at("10:00") + second)

    assert action_of_commit([early, late], at("10:00") + 0.9 * second) == late
    assert action_of_commit([late, early], at("10:00") + 0.1 * second) == early
    assert action_of_commit([early], at("11:00")) is None
    assert action_of_commit([early], None) is None
