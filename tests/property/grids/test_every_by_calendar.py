"""`Every` against dateutil's calendar, placed in time by whenever."""

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sempre import Every
from tests.property.grids.oracles import AnchorGrid
from tests.property.grids.questions import MICROSECOND, questions, wrong_answers
from tests.property.grids.strategies import UNITS, anchor_grids, instants

# How far to look to each side: a handful of slots, and some days around a clock change.
REACH = dict(
    zip(UNITS, map(timedelta, (0, 0, 2, 20, 100, 700, 2000)), strict=True),
    seconds=timedelta(minutes=2),
    minutes=timedelta(hours=2),
)


def build(grid: AnchorGrid) -> Every:
    return Every(
        grid.count,
        grid.unit,
        anchor=grid.anchor,
        timezone=grid.name,
        gap=grid.gap,
        fold=grid.fold,
    )


def edges(grid: AnchorGrid, t: datetime) -> tuple[datetime, datetime]:
    return t - REACH[grid.unit], t + REACH[grid.unit]


@settings(max_examples=300)
@given(anchor_grids())
def test_every_answer_is_the_next_point_from_the_anchor(case: tuple[AnchorGrid, datetime]) -> None:
    grid, t = case
    start, end = edges(grid, t)
    slots = grid.slots(start, end)

    every = build(grid)

    # Near the instant, where the clock changes; a zone of many changes would take long otherwise.
    near = max(start, t - timedelta(days=2)), min(end, t + timedelta(days=2))
    asked = [start, t, end, *questions(grid.name, slots, *near)]
    assert not wrong_answers(every, slots, asked, end)


@settings(max_examples=200)
@given(anchor_grids(), st.data())
def test_lists_and_counts_agree_with_the_calendar(
    case: tuple[AnchorGrid, datetime], data: st.DataObject
) -> None:
    grid, t = case
    start, end = edges(grid, t)
    instant = st.integers(0, (end - start) // MICROSECOND).map(lambda n: start + n * MICROSECOND)
    after, until = sorted((data.draw(instant), data.draw(instant)))
    slots = grid.slots(after, until)

    every = build(grid)
    passed = every.passed(after, until)

    assert every.between(after, until) == slots
    assert (passed.count if passed else 0) == len(slots)
    assert not passed or (passed.first, passed.last) == (slots[0], slots[-1])


@settings(max_examples=200)
@given(anchor_grids())
def test_slots_ascend_and_none_comes_before_the_anchor(case: tuple[AnchorGrid, datetime]) -> None:
    grid, t = case
    first = min(grid.place(0) or grid.place(1))

    every = build(grid)
    slots = every.times(min(first, t) - timedelta(days=400), 3)

    assert slots[0] == first
    assert all(earlier < later for earlier, later in pairwise(slots))
    assert all(every.after(slot - MICROSECOND) == slot for slot in slots)


@settings(max_examples=100)
@given(anchor_grids(), instants())
def test_any_instant_of_two_centuries_has_its_next_point(
    case: tuple[AnchorGrid, datetime], t: datetime
) -> None:
    grid, _ = case

    answer = build(grid).after(t)

    assert answer is not None
    assert grid.slots(t, answer) == [answer]
