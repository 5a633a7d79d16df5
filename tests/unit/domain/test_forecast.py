"""Forecasts: peaks, collisions, quiet hours, overruns, limits and suggestions."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre.domain.forecast import Durations, Forecast, Recurrence, Window, durations_of, forecast
from sempre.grids import Cron, Every, Grid

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
WEEK = Window.of(MONDAY, timedelta(days=7))
DAY = Window.of(MONDAY, timedelta(days=1))
TEN = Durations(timedelta(minutes=5), timedelta(minutes=10))


class Tides(Grid):
    """Slots that depend on the slot before."""

    relative = True

    def after(self, t: datetime) -> datetime | None:
        return t + timedelta(hours=7)


class Torn(Grid):
    """A grid with a defect."""

    def after(self, t: datetime) -> datetime | None:
        return t


def nightly(count: int, durations: Durations = TEN) -> list[Recurrence]:
    return [Recurrence(f"night-{n}", Cron("0 2 * * *"), durations) for n in range(count)]


def tried(found: Forecast, known: list[Recurrence]) -> float:
    """Return the peak after the first suggestion, computed from the edited schedules."""
    [first, *_] = found.suggestions
    edited = []
    for each in known:
        changes = dict(vars(each))
        if each.name in first.names:
            option, value = first.options
            if option == "--jitter":
                changes["jitter"] = timedelta(minutes=int(value.removesuffix("m")))
            else:
                assert option == "--cron"
                changes["grid"] = Cron(value)
        edited.append(Recurrence(**changes))
    return forecast(edited, found.window).highest[1]


def test_the_percentiles_of_past_runs_are_real_runs() -> None:
    lengths = [timedelta(seconds=each) for each in range(20, 0, -1)]

    found = durations_of(lengths, "schedule")

    assert found == Durations(timedelta(seconds=10), timedelta(seconds=19), "schedule", 20)
    assert durations_of([], "job") is None


def test_a_peak_names_the_minute_and_how_often_it_comes() -> None:
    found = forecast(nightly(3), WEEK)

    [first, *_] = found.peaks
    assert (first.at, first.times) == (MONDAY + timedelta(hours=2), 7)
    assert (first.starts, first.p50, first.p95) == (3, 3, 3)
    assert found.highest == (3, 3)
    assert sum(found.starts) == 21


def test_p95_keeps_runs_in_flight_for_longer_than_p50() -> None:
    found = forecast(nightly(1), DAY)

    assert sum(map(bool, found.p50)) == 5
    assert sum(map(bool, found.p95)) == 10


def test_a_run_that_began_before_the_window_is_in_flight_in_it() -> None:
    window = Window.of(MONDAY + timedelta(hours=2, minutes=3), timedelta(minutes=30))

    found = forecast(nightly(1), window)

    assert sum(found.starts) == 0
    assert (sum(map(bool, found.p50)), sum(map(bool, found.p95))) == (2, 7)


def test_a_collision_names_its_schedules() -> None:
    busy = Recurrence("busy", Every("10s"))

    found = forecast([*nightly(2), busy], WEEK)

    [collision] = found.collisions
    assert collision.at == MONDAY + timedelta(hours=2)
    assert (collision.times, collision.starts, collision.schedules) == (7, 8, 3)
    assert collision.names == ("busy", "night-0", "night-1")


def test_a_schedule_every_few_seconds_collides_with_none() -> None:
    assert forecast([Recurrence("busy", Every("1s"))], DAY).collisions == ()


def test_quiet_hours_are_those_of_the_zone() -> None:
    hours = ",".join(str(hour) for hour in range(24) if hour not in (3, 4))
    grid = Cron(f"0 {hours} * * *", timezone="Asia/Tokyo")
    window = Window.of(MONDAY, timedelta(days=2), "Asia/Tokyo")

    found = forecast([Recurrence("all-day", grid)], window)

    [quiet] = found.quiet
    assert (quiet.first, quiet.until, quiet.starts, quiet.p95) == (3, 5, 0, 0)


def test_a_load_without_quiet_hours_has_none() -> None:
    assert forecast([Recurrence("busy", Every("1m"))], DAY).quiet == ()


@pytest.mark.parametrize(
    ("overlap", "starts", "highest"), [("skip", 48, 1), ("wait", 48, 1), ("allow", 144, 3)]
)
def test_a_run_longer_than_its_interval_is_reported_and_counted_by_its_policy(
    overlap: str, starts: int, highest: int
) -> None:
    half = timedelta(minutes=30)
    one = Recurrence("slow", Every("10m"), Durations(half, half), overlap=overlap)  # type: ignore[arg-type]

    found = forecast([one], DAY)

    [overrun] = found.overruns
    assert (overrun.name, overrun.interval) == ("slow", timedelta(minutes=10))
    assert sum(found.starts) == pytest.approx(starts, abs=1)
    assert found.highest == (highest, highest)


def test_uneven_slots_that_overlap_are_skipped_or_wait() -> None:
    grid = Cron("0,1,2,30 9 * * *")
    five = Durations(timedelta(minutes=5), timedelta(minutes=5))

    skipped = forecast([Recurrence("a", grid, five)], DAY)
    waited = forecast([Recurrence("a", grid, five, overlap="wait")], DAY)
    replaced = forecast([Recurrence("a", grid, five, overlap="replace")], DAY)

    assert (sum(skipped.starts), sum(map(bool, skipped.p95))) == (2, 10)
    assert (sum(waited.starts), sum(map(bool, waited.p95))) == (4, 20)
    assert (sum(replaced.starts), sum(map(bool, replaced.p95))) == (4, 12)
    assert {each.highest[1] for each in (skipped, waited, replaced)} == {1}


def test_a_limit_ends_the_starts() -> None:
    one = Recurrence("few", Every("1h"), left=5, since=MONDAY)
    later = Recurrence("gone", Every("1h"), left=5, since=MONDAY - timedelta(hours=10))

    assert sum(forecast([one], DAY).starts) == 5
    assert sum(forecast([later], DAY).starts) == 0


def test_bounds_are_inclusive() -> None:
    begin, end = MONDAY + timedelta(hours=3), MONDAY + timedelta(hours=6)
    one = Recurrence("some", Every("1h"), since=begin, until=end)

    assert sum(forecast([one], DAY).starts) == 4


def test_a_relative_grid_steps_from_its_cursor() -> None:
    one = Recurrence("tides", Tides(), cursor=MONDAY - timedelta(hours=1))

    found = forecast([one], DAY)

    places = [place // 60 for place, starts in enumerate(found.starts) if starts]
    assert places == [6, 13, 20]


def test_a_broken_grid_is_left_out_with_its_reason() -> None:
    found = forecast([Recurrence("torn", Torn()), *nightly(1)], DAY)

    [left] = found.left_out
    assert left.name == "torn"
    assert "not a later instant" in left.reason
    assert found.schedules == 1


def test_the_peak_of_a_suggestion_is_computed_not_guessed() -> None:
    known = nightly(40)

    found = forecast(known, WEEK)

    [first, *_] = found.suggestions
    assert len(first.names) == 40
    assert first.command == "sempre edit night-0 --jitter 30m"
    assert first.before == 40
    assert first.after == tried(found, known) < 20


def test_one_long_run_is_moved_by_its_own_command() -> None:
    short = Durations(timedelta(minutes=2), timedelta(minutes=2))
    known = [
        Recurrence("long one", Cron("0 2 * * *"), TEN),
        Recurrence("short", Cron("0 2 * * 1-5"), short, jitter=timedelta(seconds=30)),
    ]

    found = forecast(known, WEEK)

    [first, *_] = found.suggestions
    assert first.command == "sempre edit 'long one' --cron '10 2 * * *'"
    assert (first.before, first.after) == (2, 1)
    assert tried(found, known) == 1


def test_a_flat_load_gets_no_suggestion() -> None:
    assert forecast([Recurrence("busy", Every("1m"))], DAY).suggestions == ()
    assert forecast([], DAY).suggestions == ()


def test_capacity_counts_the_minutes_above_it() -> None:
    found = forecast(nightly(3), DAY, capacity=2)

    assert found.minutes_over_capacity == 10
    assert forecast(nightly(3), DAY).minutes_over_capacity == 0
