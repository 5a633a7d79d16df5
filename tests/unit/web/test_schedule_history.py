"""The year of a schedule: rows, purged counts and ranges come to the right days."""

from datetime import UTC, date, datetime, timedelta

from sempre.domain.execution import SlotRange
from sempre.domain.states import State
from sempre.ports.messages import Rollup
from sempre.web.views.schedule_history import days_of

TODAY = date(2026, 3, 31)


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


def missed(first: datetime, last: datetime, count: int, reason: str = "missed") -> SlotRange:
    return SlotRange(schedule_id="s", first=first, last=last, count=count, reason=reason)


def test_a_year_ends_today_and_has_every_day() -> None:
    days = days_of([], [], [], today=TODAY)

    assert (days[0].day, days[-1].day, len(days)) == (TODAY - timedelta(days=364), TODAY, 365)
    assert not any(each.runs or each.missed for each in days)


def test_purged_executions_count_on_their_day() -> None:
    counts = [
        Rollup("s", "2026-03-30", State.SUCCEEDED, 5),
        Rollup("s", "2026-03-30", State.FAILED, 2),
        Rollup("s", "2026-03-30", State.SKIPPED, 9),
        Rollup("s", "2026-03-30", State.MISSED, 1),
        Rollup("s", "2024-01-01", State.FAILED, 7),
    ]

    days = days_of([], counts, [], today=TODAY)

    assert (days[-2].runs, days[-2].failed, days[-2].missed) == (7, 2, 1)
    assert sum(each.runs for each in days) == 7


def test_a_range_over_days_keeps_its_number_of_slots() -> None:
    found = missed(at(28, 12), at(30, 11), 47)

    days = {each.day: each.missed for each in days_of([], [], [found], today=TODAY)}

    assert [days[date(2026, 3, day)] for day in (28, 29, 30)] == [12, 24, 11]
    assert sum(days.values()) == 47


def test_slots_of_a_pause_are_not_missed() -> None:
    found = missed(at(28), at(28, 5), 6, reason="paused")

    assert not any(each.missed for each in days_of([], [], [found], today=TODAY))
