"""Cron texts, intervals, anchors and instants, most of them where the clocks change."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from dateutil.relativedelta import relativedelta
from hypothesis import strategies as st

from tests.property.grids.oracles import (
    DAY,
    HOUR,
    MONTHS,
    WEEKDAYS,
    AnchorGrid,
    Change,
    changes,
    second_of,
    utc,
    zone,
    zone_names,
)

GAPS = ("shift", "skip")
FOLDS = ("first", "last", "both")
UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
MICROSECOND = timedelta(microseconds=1)

# Half hours, lost and repeated days, two hours, negative and double summer time, midnight changes,
# changes on a Friday, during Ramadan, by seconds; and some where nothing ever happens.
ODD_ZONES = (
    "UTC",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "America/Havana",
    "America/Nuuk",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Europe/Lisbon",
    "Europe/Rome",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
)


@cache
def known_changes(name: str, first: int = 1960, last: int = 2040) -> tuple[Change, ...]:
    """Return the clock changes of a zone between two years."""
    start, end = (second_of(datetime(year, 1, 1, tzinfo=UTC)) for year in (first, last))
    return changes(name, start, end, 2 * DAY)


class Moment(NamedTuple):
    """An instant, in a zone."""

    zone: str
    at: datetime


@st.composite
def moments(draw: st.DrawFn, zones: tuple[str, ...] = ODD_ZONES) -> Moment:
    """Instants within some hours of a clock change, or anywhere in a zone without one."""
    name = draw(st.sampled_from(zones))
    found = known_changes(name)
    if not found:
        return Moment(name, draw(instants()))
    change = draw(st.sampled_from(found))
    near = st.one_of(
        st.integers(-3 * HOUR, 3 * HOUR).map(lambda n: timedelta(seconds=n)),
        st.integers(-2 * DAY, 2 * DAY).map(lambda n: timedelta(seconds=n)),
        st.integers(-60, 60).map(lambda n: timedelta(minutes=n)),
        st.sampled_from([MICROSECOND, -MICROSECOND, timedelta(0)]),
        st.sampled_from([timedelta(seconds=change.jump), timedelta(seconds=-change.jump)]),
    )
    return Moment(name, utc(change.at) + draw(near))


def instants(first: int = 1900, last: int = 2100) -> st.SearchStrategy[datetime]:
    """Any instant of some years, to the microsecond."""
    low, high = datetime(first, 1, 1, tzinfo=UTC), datetime(last, 1, 1, tzinfo=UTC)
    span = (high - low) // MICROSECOND
    return st.integers(0, span).map(lambda micros: low + micros * MICROSECOND)


def any_zone() -> st.SearchStrategy[str]:
    """Any zone of the tzdata package."""
    return st.sampled_from(zone_names())


# Cron texts


@st.composite
def fields(draw: st.DrawFn, low: int, high: int, *, names: tuple[str, ...] = ()) -> str:
    """One field of plain items: *, numbers, names, ranges, wrap-around, steps, lists."""
    shape = draw(st.sampled_from("*********nnnnnnnnllss"))
    if shape == "*":
        return "*"
    if shape == "s":
        return f"*/{draw(st.integers(1, high - low))}"
    count = 1 if shape == "n" else draw(st.integers(2, 4))
    return ",".join(draw(_items(low, high, names)) for _ in range(count))


@st.composite
def _items(draw: st.DrawFn, low: int, high: int, names: tuple[str, ...]) -> str:
    first, last = draw(st.integers(low, high)), draw(st.integers(low, high))
    shown = [str(first), str(last)]
    by_name = draw(st.booleans())
    if names and by_name:
        shown = [names[number - low].lower() for number in (first, last)]
    shape = draw(st.sampled_from(["one", "one", "range", "stepped range", "start"]))
    if shape == "one":
        return shown[0]
    if shape == "range":
        return "-".join(shown)
    step = draw(st.integers(1, 12))
    if shape == "start":
        return f"{shown[0]}/{step}"
    return f"{min(first, last)}-{max(first, last)}/{step}"


@st.composite
def day_fields(draw: st.DrawFn) -> str:
    """The day field, L, L-3, -2, 15W and LW included."""
    day = draw(st.integers(1, 28))
    special = ["L", "LW", f"L-{day}", f"-{day}", f"{day}W", f"L,{day}", f"{day}-{day + 3},L"]
    return draw(st.one_of(fields(1, 31), fields(1, 31), st.sampled_from(special)))


@st.composite
def weekday_fields(draw: st.DrawFn) -> str:
    """The weekday field, 5L, MON#2, MON#-1, MON#L and 7 included."""
    name, number = draw(st.sampled_from(WEEKDAYS)), draw(st.integers(0, 7))
    which = draw(st.integers(1, 4))
    special = [f"{number}L", f"{name}#{which}", f"{number}#-{which}", f"{name}#L", "7", "?"]
    special += ["fri-sun", "7-mon", f"sun,{number}", f"{name},{number}L", "sat-7", "0-7"]
    plain = fields(0, 6, names=tuple(WEEKDAYS))
    return draw(st.one_of(plain, plain, st.sampled_from(special)))


@st.composite
def cron_texts(draw: st.DrawFn, *, clock: str | None = None, dense: bool = True) -> str:
    """Cron texts of five or six fields; dense ones fire on most days."""
    seconds = draw(st.sampled_from([""] * 6 + ["0 ", "30 ", "*/20 ", "15,45 ", "59 ", "5-7 "]))
    clock = clock or f"{draw(fields(0, 59))} {draw(fields(0, 23))}"
    day, month, weekday = "*", "*", "*"
    if not dense or draw(st.integers(0, 3)) == 0:
        day = draw(day_fields())
        weekday = draw(weekday_fields())
        month = draw(fields(1, 12, names=tuple(MONTHS)))
    return f"{seconds}{clock} {day} {month} {weekday}"


@st.composite
def clocks_near(draw: st.DrawFn, moment: Moment) -> str:
    """Minute and hour fields that match within an hour or two of what the clock shows."""
    move = timedelta(minutes=draw(st.integers(-90, 90)))
    wall = moment.at.astimezone(zone(moment.zone)) + move
    minute, hour, later = wall.minute, wall.hour, (wall.hour + draw(st.integers(1, 3))) % 24
    minutes = [f"{minute}", f"{minute}", f"{minute},0,30", f"0-{minute}", "*/15", "*", "0", "59"]
    hours = [f"{hour}", f"{hour}", f"{hour},{later}", f"{hour}-{later}", "*/2", "*", f"{later},0"]
    return f"{draw(st.sampled_from(minutes))} {draw(st.sampled_from(hours))}"


class CronCase(NamedTuple):
    """A cron grid in words, and an instant to ask about."""

    text: str
    zone: str
    at: datetime
    gap: str
    fold: str


@st.composite
def cron_cases(draw: st.DrawFn, zones: tuple[str, ...] = ODD_ZONES) -> CronCase:
    """Cron grids near a clock change, most of which fire near it as well."""
    moment = draw(moments(zones))
    clock = draw(st.one_of(clocks_near(moment), clocks_near(moment), st.none()))
    gap, fold = draw(st.sampled_from(GAPS)), draw(st.sampled_from(FOLDS))
    return CronCase(draw(cron_texts(clock=clock)), moment.zone, moment.at, gap, fold)


# Anchor grids


@st.composite
def anchor_grids(draw: st.DrawFn, moment: Moment | None = None) -> tuple[AnchorGrid, datetime]:
    """An anchor grid and an instant to ask about, so that a slot often falls on a clock change."""
    place = moment or draw(moments())
    unit = draw(st.sampled_from(UNITS))
    count = draw(st.integers(1, 40 if unit != "years" else 5))
    anchor = draw(_anchors(place, unit, count))
    grid = AnchorGrid(
        count, unit, anchor, place.zone, draw(st.sampled_from(GAPS)), draw(st.sampled_from(FOLDS))
    )
    return grid, place.at


@st.composite
def _anchors(draw: st.DrawFn, place: Moment, unit: str, count: int) -> datetime:
    """Anchors of 1900-2100: often a whole number of steps before the change, naive or aware."""
    kind = draw(st.sampled_from(["steps before", "steps before", "just here", "anywhere"]))
    if kind == "anywhere":
        instant = draw(instants())
    elif kind == "just here":
        instant = place.at
    else:
        steps = count * draw(st.integers(1, 20 if unit != "years" else 5))
        instant = place.at - relativedelta(**{unit: steps})  # type: ignore[arg-type]
    if draw(st.booleans()):
        return instant
    wall = instant.replace(tzinfo=None) + timedelta(hours=draw(st.integers(-12, 12)))
    return wall.replace(microsecond=0) if draw(st.booleans()) else wall
