"""What may surprise a person about a grid is said, once, and said truly."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.errors import NeverFires
from sempre.grids import Cron, Every, Grid
from sempre.grids.zones import zone_names

ROME = "Europe/Rome"
QUIET = [
    Cron("*/5 * * * *"),
    Cron("0 * * * *", timezone=ROME),
    Cron("0 9 * * 1-5", timezone=ROME),
    Cron("0 3 * * *", timezone=ROME),
    Cron("30 2 * * *"),
    Cron("30 2 * * *", timezone="Asia/Kolkata"),
    Cron("30 2 * * 1", timezone=ROME),
    Cron("30 2 1-7 * *", timezone=ROME),
    Cron("0 0 * * *", timezone="America/Sao_Paulo"),
    Cron("0 0 L * *"),
    Cron("0 0 28-31 * *"),
    Cron("0 0 31 1,3 *"),
    Cron("0 0 1 */3 *"),
    Cron("5/15 */6 * * *"),
    Cron("0 9-23/1 * * *"),
    Every("15m", timezone=ROME),
    Every("1h", timezone=ROME),
    Every("7m", timezone=ROME),
    Every("24h"),
    Every("24h", timezone="America/Sao_Paulo"),
    Every("1 day", timezone=ROME),
    Every("1 week", anchor="2026-01-05 02:30", timezone=ROME),
    Every("1 month", anchor="2026-01-28"),
    Every("6 months", anchor="2026-01-31"),
    Every("1 year", anchor="2026-12-31"),
]


@pytest.mark.parametrize("grid", QUIET, ids=repr)
def test_nothing_is_said_of_what_surprises_nobody(grid: Grid) -> None:
    assert grid.notes() == ()


EITHER = "Day and weekday are both set: a day that matches either of them runs."
BOTH = "begins with *, so a day must match both it and the"
EVERY_DAY = "means every day, since either field suffices; write * in its place to let the"
NO_RUN = "has no run for it; L is the last day of every month."
FIELDS = {
    "0 0 1,15 * 5": EITHER,
    "0 0 L * 5#2": EITHER,
    "0 0 */100,1-7 * 0": f"The day field {BOTH} weekday field.",
    "0 0 13 * *,5#2": "",
    "0 0 13 * */7": (
        f"The weekday field {BOTH} day field. "
        "*/7 in the weekday field matches 0 only: the step leaves the field."
    ),
    "0 0 1-31 * 1": f"1-31 beside a weekday {EVERY_DAY} weekday field decide.",
    "0 0 1 * 0-6": f"0-6 beside a day {EVERY_DAY} day field decide.",
    "0 0 1 * mon-sun": f"mon-sun beside a day {EVERY_DAY} day field decide.",
    "0 0 31 * *": f"A month without day 31 {NO_RUN}",
    "0 0 1,31 * *": f"A month without day 31 {NO_RUN}",
    "0 0 29,30 * *": f"A month without day 29 or 30 {NO_RUN}",
    "0 0 31W * *": f"A month without day 31 {NO_RUN}",
    "0 0 30 2,3 *": f"A month without day 30 {NO_RUN}",
    "0 0 29 2 *": "29 February comes in leap years only.",
}
UNEVEN = {
    "*/7 * * * *": ("*/7", "minute", "every hour: 0 follows 56"),
    "40/15 * * * *": ("40/15", "minute", "every hour: 40 follows 55"),
    "*/25 * * * * *": ("*/25", "second", "every minute: 0 follows 50"),
    "0 */5 * * *": ("*/5", "hour", "every day: 0 follows 20"),
    "0 0 */2 * *": ("*/2", "day", "every month: 1 follows 31"),
    "0 0 1 */5 *": ("*/5", "month", "every year: 1 follows 11"),
}
TOO_WIDE = {
    "0 */27 * * *": "*/27 in the hour field matches 0",
    "45/20 * * * *": "45/20 in the minute field matches 45",
    "0 0 */32 * *": "*/32 in the day field matches 1",
    "0 0 1 */13 *": "*/13 in the month field matches 1",
}


@pytest.mark.parametrize(("text", "notes"), FIELDS.items(), ids=FIELDS)
def test_days_that_surprise_are_told(text: str, notes: str) -> None:
    assert " ".join(Cron(text).notes()) == notes


@pytest.mark.parametrize(("text", "told"), UNEVEN.items(), ids=UNEVEN)
def test_a_step_that_begins_anew_is_told(text: str, told: tuple[str, str, str]) -> None:
    step, field, anew = told
    remedy = f'Every("{step.split("/")[1]} {field}s") keeps its distance'

    assert Cron(text).notes() == (f"{step} in the {field} field begins anew {anew}; {remedy}.",)


def test_weekdays_that_begin_anew_have_no_remedy() -> None:
    note = "7/2 in the weekday field begins anew every Sunday: 0 follows 6."

    assert Cron("0 0 * * 7/2").notes() == (note,)


@pytest.mark.parametrize(("text", "told"), TOO_WIDE.items(), ids=TOO_WIDE)
def test_a_step_wider_than_its_field_is_told(text: str, told: str) -> None:
    assert Cron(text).notes() == (f"{told} only: the step leaves the field.",)


TWICE = "comes twice on the day the clock goes back; it runs"
GONE = "does not exist on the day the clock goes forward; it"
ALL_GONE = "do not exist on the day the clock goes forward;"
ALL_TWICE = "come twice on the day the clock goes back; they run"
CHANGES = [
    (
        Cron("30 2 * * *", timezone=ROME),
        [f"02:30 {GONE} runs at 03:00 then.", f"02:30 {TWICE} the first time only."],
    ),
    (
        Cron("30 2 * * *", timezone=ROME, gap="skip", fold="last"),
        [f"02:30 {GONE} does not run then.", f"02:30 {TWICE} the second time only."],
    ),
    (Cron("30 1 * * *", timezone="America/New_York", fold="both"), [f"01:30 {TWICE} both times."]),
    (Cron("15 2 * * 0", timezone="Australia/Lord_Howe"), [f"02:15 {GONE} runs at 02:30 then."]),
    (
        Cron("30 1 * * *", timezone="Antarctica/Troll", fold="both"),
        [f"01:30 {GONE} runs at 03:00 then.", f"01:30 {TWICE} both times."],
    ),
    (Cron("@daily", timezone="Africa/Cairo"), [f"00:00 {GONE} runs at 01:00 then."]),
    (
        Cron("@daily", timezone="America/Havana"),
        [f"00:00 {GONE} runs at 01:00 then.", f"00:00 {TWICE} the first time only."],
    ),
    (
        Cron("0,30 2 * * *", timezone=ROME),
        [
            f"02:00 and 02:30 {ALL_GONE} one run at 03:00 then stands in for them.",
            f"02:00 and 02:30 {ALL_TWICE} the first time only.",
        ],
    ),
    (
        Cron("0-59 2 * * *", timezone=ROME, gap="skip"),
        [
            f"The times from 02:00 to 02:59 {ALL_GONE} they do not run then.",
            f"The times from 02:00 to 02:59 {ALL_TWICE} the first time only.",
        ],
    ),
    (
        Cron("*/20 2 * * *", timezone=ROME),
        [
            f"02:00, 02:20 and 02:40 {ALL_GONE} they do not run then.",
            f"02:00, 02:20 and 02:40 {ALL_TWICE} both times.",
        ],
    ),
    (
        Every("1 day", anchor="2026-01-01 02:30", timezone=ROME),
        [f"02:30 {GONE} runs at 03:30 then.", f"02:30 {TWICE} the first time only."],
    ),
    (
        Every("1 week", anchor="2026-01-04 02:30", timezone=ROME, gap="skip", fold="both"),
        [f"02:30 {GONE} does not run then.", f"02:30 {TWICE} both times."],
    ),
    (
        Every("1 day", anchor="2026-01-01 02:15", timezone="Australia/Lord_Howe"),
        [f"02:15 {GONE} runs at 02:45 then."],
    ),
    (
        Every("1 month", anchor="2026-03-31 02:30", timezone=ROME, fold="last"),
        [
            "A month without day 31 runs on its last day.",
            f"02:30 {GONE} runs at 03:30 then.",
            f"02:30 {TWICE} the second time only.",
        ],
    ),
    (
        Every("1 year", anchor="2024-03-29 02:30", timezone=ROME),
        [f"02:30 {GONE} runs at 03:30 then."],
    ),
]


@pytest.mark.parametrize(("grid", "notes"), CHANGES, ids=lambda value: repr(value)[:60])
def test_times_that_a_clock_change_skips_or_repeats_are_named(grid: Grid, notes: list[str]) -> None:
    assert list(grid.notes()) == notes


MOVES = "the time on the clock moves when the clock changes"
ANCHORED = [
    (Every("1 month", anchor="2026-01-29"), "A month without day 29 runs on its last day."),
    (Every("2 months", anchor="2026-01-31"), "A month without day 31 runs on its last day."),
    (Every("1y", anchor="2024-02-29"), "In a year without 29 February it runs on 28 February."),
    (Every("24h", timezone=ROME), f'24 hours are not a day: {MOVES}; Every("1 day") keeps it.'),
    (
        Every(timedelta(days=7), timezone=ROME),
        f'168 hours are not 7 days: {MOVES}; Every("7 days") keeps it.',
    ),
    (Every("6h", timezone=ROME), f"6 hours are elapsed time: {MOVES}."),
    (Every("1h", timezone="Australia/Lord_Howe"), f"1 hour is elapsed time: {MOVES}."),
]


@pytest.mark.parametrize(("grid", "note"), ANCHORED, ids=[note for _, note in ANCHORED])
def test_what_surprises_about_an_anchor_grid_is_said(grid: Grid, note: str) -> None:
    assert grid.notes() == (note,)


# Truth: what a note says of the day of a change is what happens on it.

FORWARD, BACK = datetime(2034, 3, 26, tzinfo=UTC), datetime(2034, 10, 29, tzinfo=UTC)


def walls(grid: Grid, day: datetime) -> list[str]:
    """Return the wall times at which a grid fires on a day in Rome."""
    slots = grid.between(day - timedelta(days=1), day + timedelta(days=1))
    shown = (slot.astimezone(ZoneInfo(ROME)) for slot in slots)
    return [f"{wall:%H:%M}" for wall in shown if wall.date() == day.date()]


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize("gap", ["shift", "skip"])
@given(minute=st.integers(0, 59), hour=st.integers(0, 5), anchored=st.booleans())
def test_the_notes_of_a_daily_time_are_true(
    gap: str, fold: str, minute: int, hour: int, *, anchored: bool
) -> None:
    time = f"{hour:02}:{minute:02}"
    anchor = f"2026-01-01 {time}"
    grid: Grid = (
        Every("1 day", anchor=anchor, timezone=ROME, gap=gap, fold=fold)
        if anchored
        else Cron(f"{minute} {hour} * * *", timezone=ROME, gap=gap, fold=fold)
    )
    told = " ".join(grid.notes())

    forward, back = walls(grid, FORWARD), walls(grid, BACK)

    assert (f"{time} {GONE}" in told) == (forward != [time])
    assert all(f"runs at {moved} then" in told for moved in forward if moved != time)
    assert ("does not run then" in told) == (not forward)
    assert ("both times" in told) == (len(back) == 2)
    assert back[0] == time


@given(
    st.sampled_from(["30 2", "0 0-23", "*/7 */5", "* 1", "15,45 23"]),
    st.sampled_from(["*", "31", "*/2", "1-31", "L", "29W"]),
    st.sampled_from(["*", "2", "*/5"]),
    st.sampled_from(["*", "1-5", "*/2", "0-6", "5#5"]),
    st.sampled_from(sorted(zone_names())),
)
def test_notes_are_sentences_each_said_once(
    times: str, day: str, month: str, weekday: str, zone: str
) -> None:
    try:
        notes = Cron(f"{times} {day} {month} {weekday}", timezone=zone).notes()
    except NeverFires:
        return

    assert len(set(notes)) == len(notes)
    assert all(note.endswith(".") and note[0] in "*0123456789ADT" for note in notes)
