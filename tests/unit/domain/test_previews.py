"""Previews: slots that appear and vanish, clock changes, peaks; counted without listing all."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    PlanningTime,
    plan_delete,
    plan_edit,
    plan_pause,
    plan_skip,
    plan_start,
)
from sempre.domain.preview import Preview, Window, peak_of, preview_of
from sempre.domain.preview.futures import MOST, Stretch
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.grids import Cron, Every, Grid

NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
MOMENT = PlanningTime(NOW)


def started(grid: Grid, **policies: object) -> tuple[Schedule, list[Execution]]:
    """Return a schedule and its waiting execution."""
    definition = define(job="bill", grid=grid, **policies)
    new = Schedule(id="s1", name="bill", definition=definition, created_at=NOW, cursor=NOW)
    plan = plan_start(new, (), MOMENT)
    rows = [draft.born(f"e{number}", NOW) for number, draft in enumerate(plan.creates)]
    return plan.schedule or new, rows


def edited(before: Grid, after: Grid, *, days: int = 90, listed: int = 3, **to: Any) -> Preview:  # noqa: ANN401
    schedule, rows = started(before)
    plan = plan_edit(schedule, rows, MOMENT, to=schedule.definition.edited(grid=after, **to))
    return preview_of(plan, rows, Window(NOW, timedelta(days=days), listed))


def test_an_edit_names_the_execution_that_is_superseded_and_the_one_that_comes() -> None:
    preview = edited(Cron("0 2 * * *"), Cron("0 4 * * *"))

    [ended] = preview.ended
    assert (ended.after.id, ended.after.state) == ("e0", State.SUPERSEDED)
    [created] = preview.created
    assert created.run_at == datetime(2026, 3, 21, 4, 0, tzinfo=UTC)
    assert [each.name for each in preview.fields] == ["grid"]
    assert preview.holds_until == datetime(2026, 3, 21, 2, 0, tzinfo=UTC)


def test_an_execution_at_the_same_slot_is_replaced_and_no_slot_changes() -> None:
    schedule, rows = started(Cron("0 2 * * *"))
    plan = plan_edit(schedule, rows, MOMENT, to=schedule.definition.edited(queue="slow"))

    preview = preview_of(plan, rows, Window(NOW))

    assert (len(preview.replaced), len(preview.ended)) == (1, 0)
    found = preview.difference
    assert (found.appearing.count, found.vanishing.count, preview.holds_until) == (0, 0, None)


def test_lists_are_bounded_and_counts_are_not() -> None:
    preview = edited(Cron("0 2 * * *"), Cron("0 4 * * *"), listed=3)

    vanishing = preview.difference.vanishing
    assert (vanishing.count, len(vanishing.first), vanishing.left_off) == (90, 3, 87)


def test_a_second_rule_is_compared_with_an_hourly_one_exactly() -> None:
    preview = edited(Every("1s"), Every("1h"))

    found = preview.difference
    assert (preview.before.count, preview.after.count) == (7_776_000, 2160)
    assert (found.vanishing.count, found.appearing.count) == (7_776_000 - 2160, 0)
    assert found.compared_until is None


def test_a_pause_of_a_second_rule_is_counted_by_arithmetic() -> None:
    schedule, rows = started(Every("1s"))
    plan = plan_pause(schedule, rows, MOMENT, until=NOW + timedelta(hours=2))

    preview = preview_of(plan, rows, Window(NOW, listed=2))

    # The end of the pause is a slot, which runs.
    assert preview.difference.vanishing.count == preview.paused.count == 7199
    assert len(preview.paused.first) == 2


def test_two_long_rules_are_compared_as_far_as_the_answer_says() -> None:
    preview = edited(Every("1s"), Cron("*/2 * * * * *"))

    found = preview.difference
    assert found.compared_until == NOW + timedelta(seconds=MOST)
    assert found.vanishing.count == MOST // 2


def test_no_more_slots_are_visited_than_the_bound_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[datetime] = []
    after = Every.after

    def counting(grid: Every, t: datetime) -> datetime | None:
        asked.append(t)
        return after(grid, t)

    monkeypatch.setattr(Every, "after", counting)

    preview = edited(Every("1s"), Every("2s"))

    assert preview.after.count == 3_888_000
    assert len(asked) <= 2 * MOST + 100


def test_a_skip_takes_away_one_slot() -> None:
    schedule, rows = started(Cron("0 2 * * *"))
    slot = datetime(2026, 3, 25, 2, 0, tzinfo=UTC)

    preview = preview_of(plan_skip(schedule, rows, MOMENT, run_at=slot), rows, Window(NOW))

    assert preview.difference.vanishing.first == (slot,)
    assert (preview.difference.appearing.count, preview.after.count) == (0, 89)


def test_a_limit_ends_the_slots() -> None:
    preview = edited(Cron("0 2 * * *"), Cron("0 2 * * *"), limit=5)

    assert (preview.before.count, preview.after.count) == (90, 5)
    assert preview.difference.vanishing.count == 85


def test_a_deleted_schedule_has_no_slots() -> None:
    schedule, rows = started(Cron("0 2 * * *"))

    preview = preview_of(plan_delete(schedule, rows, MOMENT), rows, Window(NOW))

    assert (preview.after.count, preview.difference.vanishing.count) == (0, 90)
    assert preview.schedule.deleted


def test_slots_that_passed_without_an_execution_are_counted() -> None:
    schedule, rows = started(Every("1h"))
    late = PlanningTime(NOW + timedelta(hours=5, minutes=30))
    to = schedule.definition.edited(grid=Every("2h"))
    plan = plan_edit(schedule, rows, late, to=to)

    preview = preview_of(plan, rows, Window(late.now))

    assert [(each.count, each.reason) for each in preview.passed] == [(4, "edited")]
    assert preview.before.waiting == preview.after.waiting == (NOW + timedelta(hours=1),)


ROME = "Europe/Rome"
FORWARD, BACK = datetime(2026, 3, 29, 1, 0, tzinfo=UTC), datetime(2026, 10, 25, 1, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("grid", "at", "effect"),
    [
        (Cron("30 2 * * *", timezone=ROME), FORWARD, "shifted"),
        (Cron("30 2 * * *", timezone=ROME, gap="skip"), FORWARD, "skipped"),
        (Cron("30 2 * * *", timezone=ROME), BACK, "once"),
        (Cron("30 2 * * *", timezone=ROME, fold="both"), BACK, "doubled"),
        (Cron("0,30 2 * * *", timezone=ROME), FORWARD, "shifted"),
        (Cron("* 2 * * *", timezone=ROME), FORWARD, "skipped"),
        (Cron("* 2 * * *", timezone=ROME), BACK, "doubled"),
        (Every("1 day", anchor="2026-01-01 02:30", timezone=ROME), FORWARD, "shifted"),
        (Every("1 day", anchor="2026-01-01 02:30", timezone=ROME, fold="both"), BACK, "doubled"),
        (Every("5h", timezone=ROME), FORWARD, "moved"),
    ],
)
def test_a_day_on_which_the_clock_changes_is_named(grid: Grid, at: datetime, effect: str) -> None:
    preview = edited(Cron("0 12 * * *", timezone=ROME), grid, days=250)

    [day] = [each for each in preview.clock_days if each.at == at]
    assert day.before is None
    assert day.after is not None
    assert (day.after.effect, day.zone) == (effect, ROME)


@pytest.mark.parametrize("text", ["30 3 * * *", "30 2 * * 5", "* * * * *", "30 2 28 3 *"])
def test_a_rule_that_the_clock_change_does_not_touch_has_no_such_day(text: str) -> None:
    preview = edited(Cron("0 12 * * *", timezone=ROME), Cron(text, timezone=ROME), days=60)

    assert not preview.clock_days


def test_a_pause_over_the_clock_change_takes_it_away() -> None:
    schedule, rows = started(Cron("30 2 * * *", timezone=ROME))
    plan = plan_pause(schedule, rows, MOMENT, until=datetime(2026, 4, 2, tzinfo=UTC))

    [day] = preview_of(plan, rows, Window(NOW)).clock_days

    assert day.before is not None
    assert day.after is None


def test_the_busiest_minute_of_two_schedules_is_where_both_run() -> None:
    first = edited(Cron("0 3 * * *"), Cron("0 2 * * *")).after
    second = edited(Cron("0 3 * * *"), Cron("0 2,8 * * *")).after

    peak = peak_of([first, second])

    assert peak is not None
    assert (peak.at, peak.count) == (datetime(2026, 3, 21, 2, 0, tzinfo=UTC), 2)
    assert peak.until is None


def test_the_peak_of_a_long_future_says_how_far_it_was_counted() -> None:
    peak = peak_of([edited(Cron("0 3 * * *"), Every("1s")).after])

    assert peak is not None
    assert peak.count == 60
    assert peak.until == NOW + timedelta(seconds=MOST)


def test_no_slot_has_no_peak() -> None:
    assert peak_of([]) is None


def test_a_stretch_without_an_empty_one_is_itself() -> None:
    day = Stretch(NOW, NOW + timedelta(days=1))

    assert day.without(Stretch(NOW, NOW)) == [day]
    inner = Stretch(NOW + timedelta(hours=1), NOW + timedelta(hours=2))
    assert day.without(inner) == [Stretch(NOW, inner.after), Stretch(inner.until, day.until)]


class Steps(Grid, name="steps-of-previews"):
    """Seven hours after the last slot."""

    relative = True

    def after(self, t: datetime) -> datetime | None:
        return t + timedelta(hours=7)

    def parameters(self) -> dict[str, object]:
        return {}


def test_the_slots_of_a_relative_grid_are_counted_from_the_cursor() -> None:
    schedule, rows = started(Steps())
    plan = plan_edit(schedule, rows, MOMENT, to=schedule.definition.edited(grid=Every("7h")))

    preview = preview_of(plan, rows, Window(NOW, timedelta(days=7), 100))

    assert next(iter(preview.before)) == NOW + timedelta(hours=7)
    assert preview.before.count == 24
    appearing = set(preview.after) - set(preview.before)
    assert preview.difference.appearing.count == len(appearing)
