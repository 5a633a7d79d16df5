"""A year of decisions: `why` and `statement` agree with what the test did and the jobs saw.

At the end of each month every slot is asked for, and each statement of the month is compared in
three time zones. At the end of the year the executions of early months are purged: the statements
of these months still demand the same slots, and explain every one.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sempre import Every
from sempre.domain.explanation import Code, Verdict
from sempre.domain.statement.outcomes import RAN, Outcome
from sempre.domain.states import State
from tests.integration.answers.expected import Fate, fates
from tests.integration.answers.year import START, Year, utc

TICK = timedelta(microseconds=1)
ZONE = ZoneInfo("UTC")
ZONES = ("UTC", "Europe/Rome", "Australia/Sydney")
UNTOLD = {Code.NOT_TOLD, Code.LATE_NOT_TOLD, Code.UNKNOWN_GRID}


def months(year: Year) -> Iterator[int]:
    """Live through the year; stop on the second day after each month."""
    acts = [january, february, march, april, may, june, july, august, september]
    for number, act in enumerate([*acts, october, november, december], 1):
        act(year)
        year.travel.travel_to(
            datetime(2026 + number // 12, number % 12 + 1, 2, 14, 20, tzinfo=ZONE)
        )
        yield number


def january(year: Year) -> None:
    year.lasts("slow", "2h", 2)
    year.to("01-08 10:20")
    year.deploy(release=1, with_shop=True)
    year.to("01-20 06:00")
    year.lasts("slow", "13h", 13)
    year.to("01-24 20:00")
    year.lasts("slow", "1h", 1)


def february(year: Year) -> None:
    year.outage("02-03 05:10", 26)
    year.to("02-10 10:00")
    year.app.schedule("quick").backfill(utc("02-03 00:00"), utc("02-05 00:00"))
    year.to("02-20 10:10")
    year.travel.lose_broker()


def march(year: Year) -> None:
    year.to("03-10 10:00")
    year.deploy(release=2, with_shop=False)
    year.outage("03-28 20:10", 12)  # the night in which the clocks of Rome skip 02:30
    year.to("03-29 12:30")
    year.skip("bill", utc("03-31 00:30"))


def april(year: Year) -> None:
    year.to("04-02 15:00")
    year.deploy(release=3, with_shop=True)
    year.to("04-07 10:10")
    year.pause("quick")
    year.to("04-09 12:40")
    year.resume("quick")
    year.to("04-20 10:00")
    for _ in range(3):
        year.app.schedule("quick").trigger()


def may(year: Year) -> None:
    year.to("05-10 12:34")
    year.move("quick", Every("6h", anchor="2026-01-01 00:30Z"))
    year.to("05-20 12:34")
    year.skip("jittered", utc("05-22 12:00"))
    year.skip("jittered", utc("05-23 00:00"))
    year.to("05-21 12:34")
    year.unskip("jittered", utc("05-22 12:00"))


def june(year: Year) -> None:
    year.is_provider_up = False
    year.outage("06-12 23:40", 30.5)
    year.to("06-15 09:00")
    year.outage("06-15 10:10", 2.35)  # ends a minute after a slot of `quick`


def july(year: Year) -> None:
    year.to("07-10 10:00")
    year.disable("charges")
    year.to("07-13 10:00")
    year.enable("charges")
    year.to("07-26 10:00")
    # Failures of the day 182 (1 July), 189 and 203: retried, discarded, and left.
    year.is_provider_up = True
    retry(year, "charges", utc("07-01 01:00"))
    discard(year, "charges", utc("07-08 01:00"))


def august(year: Year) -> None:
    year.to("08-05 00:10")
    year.pause("bill")
    year.outage("08-06 10:10", 4)
    year.to("08-08 12:00")
    year.resume("bill")
    year.to("08-20 12:00")
    year.travel.lose_broker()


def september(year: Year) -> None:
    year.to("09-05 02:00")
    year.switch_off("charges", "hold")
    year.to("09-06 11:20")
    year.switch_on("charges")
    year.to("09-10 00:10")
    year.switch_off("quick", "reject")
    year.to("09-10 20:05")
    year.switch_on("quick")


def october(year: Year) -> None:
    year.to("10-03 12:00")
    year.travel.lose_broker()  # before the night in which the clocks of Sydney skip 02:30
    year.outage("10-24 22:10", 8)  # the night in which the clocks of Rome show 02:30 twice


def november(year: Year) -> None:
    year.to("11-10 01:00")
    year.lasts("slow", "5h", 5)
    year.outage("11-12 04:30", 1)  # a run of `slow` is lost
    year.to("11-20 13:30")
    year.move("jittered", Every("12h", anchor="2026-01-01 06:00Z"))


def december(year: Year) -> None:
    year.to("12-24 10:00")
    year.disable("southern")
    year.to("12-28 10:00")
    year.enable("southern")


def retry(year: Year, name: str, slot: datetime) -> None:
    """Retry the failed execution of a slot."""
    [row] = [row for row in year.travel.executions(name, state="failed") if row.run_at == slot]
    year.app.execution(row.id).retry(why="the provider is back")
    year.travel.travel("1m")
    year.schedules[name].retried.add(slot)


def discard(year: Year, name: str, slot: datetime) -> None:
    """Discard the failed execution of a slot."""
    [row] = [row for row in year.travel.executions(name, state="failed") if row.run_at == slot]
    year.app.execution(row.id).discard(why="paid by hand")
    year.schedules[name].discarded.add(slot)


def bounds(month: int, zone: str) -> tuple[datetime, datetime]:
    """Return the first instant of a month in a zone, and that of the next month."""
    first = datetime(2026, month, 1, tzinfo=ZoneInfo(zone))
    last = datetime(2026 + month // 12, month % 12 + 1, 1, tzinfo=ZoneInfo(zone))
    return first.astimezone(ZONE), last.astimezone(ZONE)


def check_slots(year: Year, month: int) -> int:
    """Compare the explanation of each slot of a month; return how many there were."""
    first, end = bounds(month, "UTC")
    count = 0
    for name, schedule in year.schedules.items():
        for slot, fate in fates(year, schedule, first - TICK, end - TICK):
            check_why(year, name, slot, fate)
            count += 1
    return count


def check_why(year: Year, name: str, slot: datetime, fate: Fate) -> None:
    found = year.app.why(name, at=slot)
    codes = Counter(found.codes())
    told = f"{fate}\n{found}"
    assert found.slot == slot, told
    assert found.verdict is fate.verdict, told
    assert fate.must <= set(codes), told
    assert not UNTOLD & set(codes), told
    assert codes[Code.ATTEMPT_FAILED] == fate.failures, told
    is_quiet = fate.outcome is Outcome.ON_TIME and not fate.must - {Code.ATTEMPT_SUCCEEDED}
    assert not (is_quiet and Code.NO_WORKER in codes), told


def check_statements(year: Year, month: int) -> None:
    """Compare the statement of a month in each zone, schedule by schedule."""
    for zone in ZONES:
        first, end = bounds(month, zone)
        statement = year.app.statement(month=f"2026-{month:02}", zone=zone)
        found = {each.name: each.totals for each in statement}
        for name, schedule in year.schedules.items():
            expected = dict(fates(year, schedule, first - TICK, end - TICK))
            totals, where = found[name], f"{name} in {month}, {zone}"
            assert totals.demanded == len(expected), where
            assert totals.unexplained == 0, where
            sure = [each for each in expected.values() if len(each.may) < 2]
            unsure = len(expected) - len(sure)
            outcomes = Counter(each.outcome for each in sure)
            reasons = Counter((each.outcome, each.reason) for each in sure if each.reason)
            more = Counter(totals.outcomes) - outcomes
            assert not outcomes - Counter(totals.outcomes), f"{where}: {totals.outcomes}"
            assert sum(more.values()) == unsure, where
            assert set(more) <= {Outcome.ON_TIME, Outcome.LATE}, where
            assert not reasons - Counter(totals.reasons), f"{where}: {totals.reasons} {reasons}"


def check_purged(year: Year, month: int) -> None:
    """Compare the statement of a month whose executions are purged: counts stay."""
    first, end = bounds(month, "UTC")
    found = {each.name: each.totals for each in year.app.statement(month=f"2026-{month:02}")}
    for name, schedule in year.schedules.items():
        expected = dict(fates(year, schedule, first - TICK, end - TICK))
        totals = found[name]
        assert (totals.demanded, totals.unexplained) == (len(expected), 0), (name, month)
        ran = sum(each.outcome in RAN for each in expected.values())
        assert totals.count(*RAN) == ran, (name, month, totals.outcomes)
        for outcome in (Outcome.FAILED, Outcome.SKIPPED, Outcome.MISSED, Outcome.CANCELLED):
            number = sum(each.outcome is outcome for each in expected.values())
            assert totals.count(outcome) == number, (name, month, outcome, totals.outcomes)


def live(*, busy: bool) -> int:
    """Live through a year and check every answer; return how many slots were explained."""
    year, count = Year(busy=busy), 0
    with year.app.testing(START) as travel:
        year.begin(travel)
        for month in months(year):
            count += check_slots(year, month)
            check_statements(year, month)
        check_clock_changes(year)
        for month in range(1, 11):
            check_purged(year, month)
        old = year.app.why("bill", at="2026-02-20T02:30")
        assert old.verdict is Verdict.PURGED, old
        backfilled = year.travel.executions("quick", state=State.SUCCEEDED)
        assert any(row.kind == "backfill" for row in backfilled)
    return count


def check_clock_changes(year: Year) -> None:
    """The clocks of Rome and Sydney changed four times; each night had one run."""
    slots = [call.slot for call in year.calls if call.name in ("bill", "southern")]
    for slot in ("03-29 01:00", "10-25 00:30", "04-04 15:30", "10-03 16:00"):
        assert slots.count(utc(slot)) == 1, slot


def test_every_slot_of_a_quiet_year_is_explained_as_it_happened() -> None:
    assert live(busy=False) > 4000


@pytest.mark.long
def test_every_slot_of_a_busy_year_is_explained_as_it_happened() -> None:
    assert live(busy=True) > 30_000
