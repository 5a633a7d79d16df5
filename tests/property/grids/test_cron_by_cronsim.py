"""`Cron` against cronsim, where cronsim is right.

Left out are what cronsim does not read, and where it is wrong: clocks that change by part of an
hour (Lord Howe), at 00:01 (St Johns) or by more than three hours (Apia); midnights that do not
exist, for a text with `*`; six fields in a zone whose clocks change; questions from the minute
before a change and from the second showing of a wall time; ranges of one number with a step.
"""

import re
from datetime import UTC, datetime, timedelta
from itertools import islice

from cronsim import CronSim, CronSimError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sempre import Cron
from sempre.errors import NeverFires
from tests.property.grids.oracles import (
    DAY,
    MONTHS,
    WEEKDAYS,
    Expression,
    changes,
    second_of,
    zone,
)
from tests.property.grids.strategies import (
    ODD_ZONES,
    Moment,
    clocks_near,
    fields,
    instants,
    moments,
)

NOT_ON_THE_HOUR_OR_TOO_FAR = {
    "Africa/Monrovia",
    "America/St_Johns",
    "Antarctica/Casey",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
}
TRUSTED = tuple(name for name in ODD_ZONES if name not in NOT_ON_THE_HOUR_OR_TOO_FAR)


@st.composite
def shared_dates(draw: st.DrawFn) -> str:
    """Day, month and weekday fields that both read: no wrap-around, no W, no start/step."""
    day = draw(st.one_of(st.just("*"), fields(1, 31), st.sampled_from(["L", "LW", "L,15"])))
    special = st.sampled_from(["5L", "MON#1", "sun#5", "fri#2,3L", "1-5", "7", "0-7"])
    weekday = draw(st.one_of(st.just("*"), fields(0, 6, names=tuple(WEEKDAYS)), special))
    return f"{day} {draw(fields(1, 12, names=tuple(MONTHS)))} {weekday}"


def is_shared(text: str) -> bool:
    """Tell whether cronsim reads a text at all, and reads it alike."""
    weekday = text.rsplit(maxsplit=1)[-1]
    start_and_step = re.search(r"(^|,)\w+/", weekday) or re.search(r"\b(\d+)-\1/", text)
    try:
        CronSim(text, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError:
        return False
    return not start_and_step


def misleads(moment: Moment) -> bool:
    """Tell whether cronsim may start from a wrong wall time: just before a change, or in a fold."""
    here, soon = (
        t.astimezone(zone(moment.zone)) for t in (moment.at, moment.at + timedelta(minutes=1))
    )
    return here.fold == 1 or here.utcoffset() != soon.utcoffset()


def skips_midnight(name: str, start: datetime, end: datetime) -> bool:
    found = changes(name, second_of(start), second_of(end), DAY)
    return any(change.jump > 0 and (change.at + change.before) % DAY == 0 for change in found)


def next_by_cronsim(text: str, zone_name: str, t: datetime, count: int) -> list[datetime]:
    simulated = CronSim(text, t.astimezone(zone(zone_name)))
    return [slot.astimezone(UTC) for slot in islice(simulated, count)]


def next_by_sempre(text: str, zone_name: str, t: datetime, count: int) -> list[datetime]:
    try:
        return Cron(text, timezone=zone_name).times(t, count)
    except NeverFires:
        return []


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Moment]:
    moment = draw(moments(TRUSTED))
    everywhere = st.builds("{} {}".format, fields(0, 59), fields(0, 23))
    clock = draw(st.one_of(clocks_near(moment), everywhere))
    return f"{clock} {draw(st.one_of(st.just('* * *'), shared_dates()))}", moment


@settings(max_examples=200)
@given(cases().filter(lambda case: is_shared(case[0]) and not misleads(case[1])))
def test_five_fields_fire_as_in_cronsim(case: tuple[str, Moment]) -> None:
    text, moment = case
    expected = next_by_cronsim(text, moment.zone, moment.at, 5)
    end = max([moment.at, *expected])
    assume(Expression(text).is_fixed or not skips_midnight(moment.zone, moment.at, end))

    assert next_by_sempre(text, moment.zone, moment.at, 5) == expected


@settings(max_examples=100)
@given(
    st.builds("{} {} {} {}".format, fields(0, 59), fields(0, 59), fields(0, 23), shared_dates()),
    instants(1970, 2060),
)
def test_six_fields_fire_as_in_cronsim_where_clocks_stand(text: str, t: datetime) -> None:
    assume(is_shared(text))
    expected = next_by_cronsim(text, "UTC", t, 5)

    assert next_by_sempre(text, "UTC", t, 5) == expected
