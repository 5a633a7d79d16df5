"""Our reading of tzdata against the standard library's reading of the same files."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from sempre.grids.zones import zone as our_zone
from sempre.grids.zones import zone_names as our_zone_names
from tests.property.grids.oracles import Change, changes, offset_at, second_of, zone_names
from tests.property.grids.strategies import Moment, any_zone, instants, known_changes, moments


def our_changes(name: str, start: int, end: int) -> tuple[Change, ...]:
    line = our_zone(name).timeline(reach=end)
    steps = zip(line.starts[1:], line.offsets, line.offsets[1:], strict=False)
    return tuple(Change(*step) for step in steps if start < step[0] <= end)


def test_every_zone_of_the_package_is_known() -> None:
    assert our_zone_names() == frozenset(zone_names())
    assert len(zone_names()) > 590


@settings(max_examples=300)
@given(any_zone(), instants(1800, 2200))
def test_the_offset_at_any_instant_is_zoneinfos(name: str, t: datetime) -> None:
    assert our_zone(name).offset_at(second_of(t)) == offset_at(name, second_of(t))


@settings(max_examples=50)
@given(any_zone(), instants(2200, 9999))
def test_the_offset_in_the_far_future_is_zoneinfos(name: str, t: datetime) -> None:
    assert our_zone(name).offset_at(second_of(t)) == offset_at(name, second_of(t))


@settings(max_examples=200)
@given(moments())
def test_the_offset_around_a_change_is_zoneinfos(moment: Moment) -> None:
    second = second_of(moment.at)

    assert our_zone(moment.zone).offset_at(second) == offset_at(moment.zone, second)


@settings(max_examples=12)
@given(any_zone(), st.integers(1850, 2120))
def test_the_changes_of_a_decade_are_those_that_zoneinfo_shows(name: str, year: int) -> None:
    start, end = (second_of(datetime(y, 1, 1, tzinfo=UTC)) for y in (year, year + 10))

    assert our_changes(name, start, end) == changes(name, start, end, 86_400)


def test_the_changes_of_the_odd_zones_are_those_that_zoneinfo_shows() -> None:
    for name in ("Africa/Casablanca", "Asia/Gaza", "Europe/Dublin", "Pacific/Apia"):
        start, end = (second_of(datetime(y, 1, 1, tzinfo=UTC)) for y in (1960, 2040))

        assert our_changes(name, start, end) == known_changes(name)
