"""Progressions have the slots that `between` lists, also where the clocks change."""

from datetime import datetime, timedelta

from hypothesis import given, reject
from hypothesis import strategies as st

from sempre.errors import NeverFires
from sempre.grids import Cron, Every, Grid
from sempre.grids.grid import Progression
from tests.property.grids.strategies import FOLDS, GAPS, cron_texts, moments

LENGTHS = st.integers(min_value=0, max_value=9 * 86_400).map(lambda each: timedelta(seconds=each))
POLICIES = {"gap": st.sampled_from(GAPS), "fold": st.sampled_from(FOLDS)}
PARTS = ("*", "*/7", "*/15", "5", "0,20,40", "1,2,50", "9-17", "3")
CLOCKS = st.tuples(
    st.sampled_from(("0", "30", "*/20", "0,1,5")),
    st.sampled_from(PARTS),
    st.sampled_from(("*", "*/2", "2", "1,2,3", "0,5,23")),
    st.sampled_from(("*", "13", "28-31")),
    st.just("*"),
    st.sampled_from(("*", "1-5", "0", "2,4")),
).map(" ".join)
WHOLE = st.integers(min_value=1, max_value=400_000)


def listed(found: Progression) -> list[datetime]:
    return [found.first + number * found.step for number in range(found.count)]


def check(grid: Grid, after: datetime, length: timedelta) -> int:
    """Compare progressions with `between`; return the number of progressions."""
    found = list(grid.progressions(after, after + length))

    assert sorted(slot for each in found for slot in listed(each)) == grid.between(
        after, after + length
    )
    return len(found)


@given(moment=moments(), text=CLOCKS, before=LENGTHS, length=LENGTHS, **POLICIES)
def test_progressions_of_a_cron_rule_with_seconds(
    moment: tuple[str, datetime], text: str, before: timedelta, length: timedelta, **policies: str
) -> None:
    zone, at = moment
    grid = Cron(text, timezone=zone, **policies)
    length = min(length, timedelta(days=3))

    check(grid, at - min(before, length), length)


@given(moment=moments(), text=cron_texts(dense=False), length=LENGTHS, **POLICIES)
def test_progressions_of_any_cron_rule(
    moment: tuple[str, datetime], text: str, length: timedelta, **policies: str
) -> None:
    zone, at = moment
    try:
        grid = Cron(text, timezone=zone, **policies)
    except NeverFires:
        reject()

    check(grid, at - length / 2, length)


@given(moment=moments(), interval=WHOLE, length=LENGTHS)
def test_progressions_of_an_interval(
    moment: tuple[str, datetime], interval: int, length: timedelta
) -> None:
    zone, at = moment
    grid = Every(interval, anchor=at, timezone=zone)
    length = min(length, interval * timedelta(seconds=2_000))

    assert check(grid, at - length / 3, length) <= 1


@given(moment=moments(), days=st.integers(1, 3), length=LENGTHS, **POLICIES)
def test_progressions_of_days_on_the_wall_clock(
    moment: tuple[str, datetime], days: int, length: timedelta, **policies: str
) -> None:
    zone, at = moment
    grid = Every(days, "days", anchor=at - timedelta(days=5), timezone=zone, **policies)

    check(grid, at - length / 2, length)
