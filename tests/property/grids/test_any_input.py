"""Whatever is put in, it is read or refused: no other error, no endless search."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from sempre import Cron, Every, Grid
from sempre.errors import InvalidInput
from tests.property.grids.strategies import ODD_ZONES

NOW = datetime(2026, 3, 28, 12, tzinfo=UTC)

# What cron texts are made of, and what people or attackers put in their place.
TOKENS = st.sampled_from(
    [
        *("*", "?", ",", "-", "/", "#", "L", "W", "H", "~", "%", "&", "=", "+", ".", "\t", "@"),
        *("0", "1", "5", "7", "23", "24", "31", "59", "60", "99", "00", "MON", "sun", "Fri", "JAN"),
        *("*/5", "1-5", "5-1", "L-3", "-2", "15W", "LW", "5#2", "5L", "6#-1", "@daily", "@every"),
        *("TZ=UTC", "CRON_TZ=Europe/Rome", "UTC", "Europe/Rome", "Europe/Rom"),
    ]
)
near_cron = st.one_of(
    st.lists(TOKENS, max_size=8).map(" ".join),
    st.lists(st.lists(TOKENS, min_size=1, max_size=4).map("".join), max_size=7).map(" ".join),
    st.text("0123456789*/,-#LW? ", max_size=40),
)
near_interval = st.one_of(
    st.text("0123456789.+- smhdwoy", max_size=12),
    st.tuples(
        st.integers(-5, 10**6), st.sampled_from(["s", " min", "h", " days", "mo", "y", ""])
    ).map(lambda pair: f"{pair[0]}{pair[1]}"),
)
near_instant = st.one_of(
    st.text("0123456789-:TZ+. W", max_size=30),
    st.datetimes().map(str),
    st.datetimes(timezones=st.timezones()),
    st.datetimes(),
    st.dates(),
)
anything = st.one_of(
    st.text(),
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.binary(),
    st.lists(st.integers()),
    st.timedeltas(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals(),
)


def read_or_refused(build: Callable[[], Grid]) -> None:
    """Build a grid; if that is accepted, it must work, store and come back."""
    try:
        grid = build()
    except InvalidInput as error:
        refused: InvalidInput | None = error
    else:
        refused = None
    if refused is not None:
        assert refused.field
        assert refused.allowed
        return
    slots = grid.times(NOW, 3)
    assert slots == sorted(set(slots))
    assert all(slot > NOW for slot in slots)
    assert Grid.from_json(grid.to_json()) == grid


@settings(max_examples=300)
@given(st.one_of(near_cron, near_cron, anything))
def test_any_text_is_a_cron_text_or_refused(text: str) -> None:
    read_or_refused(lambda: Cron(text))


@settings(max_examples=300)
@given(st.one_of(near_interval, near_interval, anything), st.none())
def test_anything_is_an_interval_or_refused(value: object, unit: object) -> None:
    read_or_refused(lambda: Every(value, unit))


@settings(max_examples=200)
@given(
    st.one_of(anything.filter(lambda value: not isinstance(value, str)), st.integers(0, 2000)),
    st.one_of(anything, st.sampled_from(["s", "Minutes", "hour", "d", "weeks", "mo", "years"])),
)
def test_any_number_and_unit_are_an_interval_or_refused(value: object, unit: object) -> None:
    read_or_refused(lambda: Every(value, unit))


@settings(max_examples=300)
@given(st.one_of(near_instant, near_instant, anything), st.sampled_from(["1h", "1 day", "1 month"]))
def test_anything_is_an_anchor_or_refused(anchor: str, interval: str) -> None:
    read_or_refused(lambda: Every(interval, anchor=anchor, timezone="Europe/Rome"))


@settings(max_examples=100)
@given(st.one_of(anything, st.sampled_from(ODD_ZONES).map(str.lower)), anything, anything)
def test_anything_is_a_zone_or_policy_or_refused(zone: str, gap: str, fold: str) -> None:
    read_or_refused(lambda: Cron("30 2 * * *", timezone=zone))
    read_or_refused(lambda: Every("1 day", timezone=zone))
    read_or_refused(lambda: Cron("30 2 * * *", gap=gap))
    read_or_refused(lambda: Every("1 day", fold=fold))


@settings(max_examples=80)
@given(near_instant, st.one_of(st.datetimes(timezones=st.timezones()), st.datetimes()))
def test_any_datetime_can_be_asked_about_or_is_refused(t: datetime, until: datetime) -> None:
    for grid in (Cron("0 9 * * 1", timezone="Europe/Rome"), Every("36h"), Every("1 month")):
        with suppress(InvalidInput):
            slot = grid.after(t)
            assert slot is None or slot > t
        with suppress(InvalidInput):
            passed = grid.passed(t, until)
            assert passed is None or t < passed.first <= passed.last <= until
