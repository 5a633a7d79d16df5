"""The load of random schedules equals a count run by run and second by second."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.forecast import Durations, Forecast, Recurrence, Window, forecast
from sempre.grids import Cron, Every, Grid

SECOND = timedelta(seconds=1)
ZONES = ("UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
# Just before clocks change in Rome (forward and back), New York and on Lord Howe Island.
STARTS = (
    datetime(2026, 3, 28, 22, tzinfo=UTC),
    datetime(2026, 10, 24, 21, tzinfo=UTC),
    datetime(2026, 11, 1, 3, tzinfo=UTC),
    datetime(2026, 4, 4, 12, tzinfo=UTC),
)
TEXTS = (
    "30 2 * * *",
    "*/7 * * * *",
    "0,1,30 1-3 * * *",
    "15 */5 * * 0,6",
    "*/20 59 23 * * *",
    "0-9 * * * * *",
)


@st.composite
def grids(draw: st.DrawFn, start: datetime) -> Grid:
    zone = draw(st.sampled_from(ZONES))
    kind = draw(st.sampled_from(("cron", "elapsed", "days")))
    if kind == "cron":
        return Cron(draw(st.sampled_from(TEXTS)), timezone=zone)
    anchor = start + draw(st.integers(-200_000, 20_000)) * SECOND
    if kind == "days":
        return Every(1, "days", anchor=anchor, timezone=zone)
    return Every(draw(st.integers(1, 5_000)), anchor=anchor, timezone=zone)


@st.composite
def recurrences(draw: st.DrawFn, start: datetime) -> Recurrence:
    p50 = draw(st.integers(0, 4_000))
    durations = Durations(p50 * SECOND, (p50 + draw(st.integers(0, 3_000))) * SECOND)
    bounds = st.integers(-5_000, 90_000).map(lambda second: start + second * SECOND)
    seldom = st.one_of(st.none(), st.none(), st.none(), bounds)
    grid, since, until = draw(grids(start)), draw(seldom), draw(seldom)
    return Recurrence("one", grid, durations, overlap="allow", since=since, until=until)


def by_enumeration(one: Recurrence, window: Window, seconds: int) -> list[int]:
    """Return the runs in flight at each second of a window."""
    running = [0] * window.seconds
    for slot in slots(one, window.start - timedelta(days=1), window.end):
        first = window.place(slot)
        for second in range(max(0, first), min(window.seconds, first + seconds)):
            running[second] += 1
    return running


def slots(one: Recurrence, begin: datetime, end: datetime) -> list[datetime]:
    found = one.grid.between(begin - SECOND, end - timedelta(microseconds=1))
    since, until = one.since or begin, one.until or end
    return [slot for slot in found if max(begin, since) <= slot <= until]


def per_minute(values: Sequence[int]) -> tuple[float, ...]:
    return tuple(float(max(values[place : place + 60])) for place in range(0, len(values), 60))


@given(data=st.data(), start=st.sampled_from(STARTS), hours=st.integers(1, 12))
def test_starts_and_runs_in_flight_are_those_of_every_single_slot(
    data: st.DataObject, start: datetime, hours: int
) -> None:
    one = data.draw(recurrences(start))
    window = Window.of(start, timedelta(hours=hours))

    found = forecast([one], window)

    expected = [0.0] * window.minutes
    for slot in slots(one, window.start, window.end):
        expected[window.place(slot) // 60] += 1
    assert list(found.starts) == expected
    for levels, seconds in zip((found.p50, found.p95), one.seconds, strict=True):
        assert levels == per_minute(by_enumeration(one, window, seconds))


@given(data=st.data(), start=st.sampled_from(STARTS))
def test_the_load_of_many_is_the_sum_of_each(data: st.DataObject, start: datetime) -> None:
    some = data.draw(st.lists(recurrences(start), min_size=2, max_size=5))
    window = Window.of(start, timedelta(hours=6))

    together = forecast(some, window)
    alone = [forecast([each], window) for each in some]

    assert list(together.starts) == [sum(all_of) for all_of in zip(*_starts(alone), strict=True)]


def _starts(found: Sequence[Forecast]) -> list[tuple[float, ...]]:
    return [each.starts for each in found]


@given(
    start=st.sampled_from(STARTS),
    interval=st.integers(1, 600),
    seconds=st.integers(1, 2_000),
    overlap=st.sampled_from(("skip", "wait", "replace")),
)
def test_a_schedule_that_may_not_overlap_never_has_two_runs_in_flight(
    start: datetime, interval: int, seconds: int, overlap: str
) -> None:
    length = seconds * SECOND
    one = Recurrence("one", Every(interval), Durations(length, length), overlap=overlap)  # type: ignore[arg-type]

    found = forecast([one], Window.of(start, timedelta(hours=3)))

    assert max(found.p95) <= 1


@given(data=st.data(), start=st.sampled_from(STARTS), jitter=st.integers(2, 3_600))
def test_jitter_moves_starts_and_loses_none(
    data: st.DataObject, start: datetime, jitter: int
) -> None:
    at = data.draw(st.integers(0, 3_600))
    anchor = start + at * SECOND
    durations = Durations(60 * SECOND, 60 * SECOND)
    one = Recurrence(
        "one", Every("1 day", anchor=anchor), durations, jitter=jitter * SECOND, since=anchor
    )

    found = forecast([one], Window.of(start, timedelta(hours=3)))

    assert abs(sum(found.starts) - 1) < 0.02
    assert found.starts[at // 60] > 0
    assert max(found.p95) <= 1
