"""The load of a timeline, and the months of a statement."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre.drawing import Ran
from sempre.web.views.statement import month_after
from sempre.web.views.timeline import PLANNED, STEPS, LaneView, Timeline, levels_of

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
HALF = timedelta(hours=12)
STEP = 2 * HALF / STEPS


def timeline(*lanes: LaneView) -> Timeline:
    return Timeline(list(lanes), NOW - HALF, NOW + HALF, NOW)


def lane(*runs: tuple[int, int], planned: int = 0, expected: int = 60) -> LaneView:
    """Return a lane of runs from and to a minute before now, and slots of each coming minute."""
    ran = [
        Ran(NOW - timedelta(minutes=start), NOW - timedelta(minutes=end), "succeeded")
        for start, end in runs
    ]
    slots = [NOW + timedelta(minutes=number + 1) for number in range(planned)]
    return LaneView("bill", ran, slots, timedelta(seconds=expected))


def level_at(found: Timeline, minutes: int) -> float:
    place = int((NOW - timedelta(minutes=minutes) - found.start) / STEP)
    return levels_of(found)[place]


def test_runs_at_the_same_time_add_up() -> None:
    found = timeline(lane((120, 60)), lane((90, 30)), lane((600, 590)))

    assert level_at(found, 75) == 2
    assert level_at(found, 45) == 1
    assert level_at(found, 300) == 0
    assert level_at(found, 595) == 1


def test_a_run_that_follows_another_does_not_overlap_it() -> None:
    assert max(levels_of(timeline(lane((120, 60), (60, 0))))) == 1


def test_a_run_in_flight_lasts_until_now() -> None:
    running = LaneView("bill", [Ran(NOW - timedelta(hours=3), None, "running")], [], None)

    assert level_at(timeline(running), 5) == 1
    assert level_at(timeline(running), -60) == 0


def test_a_run_that_began_before_the_window_counts_from_its_edge() -> None:
    assert levels_of(timeline(lane((24 * 60, 11 * 60))))[0] == 1


def test_planned_slots_last_as_long_as_past_runs() -> None:
    assert max(levels_of(timeline(lane(planned=10, expected=150)))) == 3


def test_a_timeline_without_runs_has_no_load() -> None:
    assert levels_of(timeline(LaneView("bill", [], [], None))) == []


def test_the_load_is_complete_where_no_schedule_is_cut() -> None:
    cut = LaneView("bill", [Ran(NOW - timedelta(hours=1), NOW, "succeeded")], [], None, is_cut=True)
    busy = lane(planned=PLANNED)

    assert timeline(lane((60, 50))).complete == (NOW - HALF, NOW + HALF)
    assert timeline(cut, busy).complete == (
        NOW - timedelta(hours=1),
        NOW + timedelta(minutes=PLANNED),
    )


@pytest.mark.parametrize(
    ("month", "count", "expected"),
    [("2026-12", 1, "2027-01"), ("2026-01", -1, "2025-12"), ("2026-05", 1, "2026-06")],
)
def test_months_follow_each_other(month: str, count: int, expected: str) -> None:
    assert month_after(month, count) == expected
