"""`Cron` against every second of the wall clock, walked one by one."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import example, given, reject, settings

from sempre import Cron
from sempre.errors import NeverFires
from tests.property.grids.oracles import (
    Expression,
    changes,
    cron_slots,
    next_date,
    second_of,
    utc,
    zone,
)
from tests.property.grids.questions import MICROSECOND, questions, window, wrong_answers
from tests.property.grids.strategies import CronCase, cron_cases, cron_texts, instants

HOURS = 24

# 01:30 is shown from 05:30Z and from 06:30Z; asked in between, the last showing is still to come.
LAST_SHOWING = CronCase(
    "30 1 * * *",
    "America/New_York",
    datetime(2024, 11, 3, 5, 45, tzinfo=UTC) + timedelta(hours=HOURS),
    "shift",
    "last",
)


def build(case: CronCase) -> Cron:
    try:
        return Cron(case.text, timezone=case.zone, gap=case.gap, fold=case.fold)
    except NeverFires:
        # Whether that is right is the last test's question.
        reject()


def edges(case: CronCase) -> tuple[datetime, datetime]:
    start, end = window(case.at, HOURS)
    return utc(start), utc(end)


def slots_around(case: CronCase) -> list[datetime]:
    """Return the slots of two days by brute force."""
    start, end = window(case.at, HOURS)
    slots = cron_slots(case.text, case.zone, start, end, gap=case.gap, fold=case.fold)
    return [utc(slot) for slot in slots]


@settings(max_examples=300)
@given(cron_cases())
@example(LAST_SHOWING)
def test_every_answer_is_the_next_match_of_the_wall_clock(case: CronCase) -> None:
    grid = build(case)
    slots = slots_around(case)
    start, end = edges(case)

    asked = [case.at, *questions(case.zone, slots, start, end)]
    assert not wrong_answers(grid, slots, asked, end)


@settings(max_examples=100)
@given(cron_cases())
@example(LAST_SHOWING)
def test_lists_and_counts_agree_with_the_wall_clock(case: CronCase) -> None:
    slots = slots_around(case)
    start, end = edges(case)

    grid = build(case)
    passed = grid.passed(start, end)

    assert grid.between(start, end) == slots
    assert grid.times(start, len(slots)) == slots
    assert (passed.count if passed else 0) == len(slots)
    assert not passed or (passed.first, passed.last) == (slots[0], slots[-1])


@settings(max_examples=100)
@given(cron_cases())
@example(LAST_SHOWING)
def test_counts_agree_from_and_to_any_instant(case: CronCase) -> None:
    grid = build(case)
    slots = slots_around(case)
    asked = questions(case.zone, slots, *edges(case))

    for after, until in [*pairwise(asked), *zip(asked, asked[7:], strict=False)]:
        passed = grid.passed(after, until)

        inside = [slot for slot in slots if after < slot <= until]
        assert (passed.count if passed else 0) == len(inside)
        assert not passed or (passed.first, passed.last) == (inside[0], inside[-1])


@settings(max_examples=150)
@given(cron_cases())
def test_a_slot_shows_a_match_or_comes_right_after_a_gap(case: CronCase) -> None:
    expression = Expression(case.text)
    made_up = {
        change.at
        for change in changes(case.zone, *window(case.at, HOURS))
        if change.jump > 0 and case.gap == "shift" and expression.is_fixed
    }

    slots = build(case).between(*edges(case))

    for slot in slots:
        wall = second_of(slot.astimezone(zone(case.zone)).replace(tzinfo=UTC))
        assert [wall] == list(expression.walls(wall, wall + 1)) or second_of(slot) in made_up
    assert slots == sorted(set(slots))


@settings(max_examples=150)
@given(cron_cases())
@example(LAST_SHOWING)
def test_the_answer_does_not_depend_on_the_way_there(case: CronCase) -> None:
    grid = build(case)
    start, _ = edges(case)

    slots = [start, *grid.times(start, 6)]

    for earlier, slot in pairwise(slots):
        apart = slot - earlier
        asked = [earlier, earlier + apart / 7, earlier + apart / 2, slot - MICROSECOND]
        assert {grid.after(t) for t in asked} == {slot}


@settings(max_examples=60)
@given(cron_texts(dense=False), instants(1990, 2050))
def test_a_rare_date_is_the_first_that_matches(text: str, t: datetime) -> None:
    # At midnight in UTC the date alone decides.
    text = " ".join(["0 0", *text.split()[-3:]])
    # The longest wait is 40 years, for 29 February on a given weekday around 2100.
    expected = next_date(text, t.date(), years=41)

    try:
        answer = Cron(text).after(t)
    except NeverFires:
        answer = None

    assert (answer.date() if answer else None) == expected
