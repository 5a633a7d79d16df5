"""The history of a schedule in drawings: a year of days, durations, and lateness.

Three bounded readings: the counts of purged executions, the newest executions, and the newest
ranges of slots without an execution. Days are UTC days, as purged executions are counted by them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from markupsafe import Markup

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.states import State
from sempre.drawing import Day, Point, calendar, trend
from sempre.ports.messages import ExecutionQuery, Rollup
from sempre.web.visit import Visit

__all__ = ["Charts", "days_of", "read_charts"]

NEWEST = 1000
RANGES = 500
POINTS = 150
YEAR = timedelta(days=364)
DAY = timedelta(days=1)
LEVELS = {"p50": 0.5, "p95": 0.95}
RAN = (State.SUCCEEDED, State.FAILED)
Counts = Counter[tuple[date, str]]


@dataclass(frozen=True)
class Charts:
    """The drawings of a schedule's history.

    Attributes:
        is_partial_before: executions with a slot before this instant are kept and not counted, as
            there are more than the page reads; None if all are counted.
    """

    year: Markup
    duration: Markup
    lateness: Markup
    is_partial_before: datetime | None


def read_charts(visit: Visit, schedule_id: str) -> Charts | None:
    """Read the history of a schedule; None if it never ran and missed nothing."""
    store, read = visit.store, visit.reader.read
    # Before the executions: one that is purged in between is left out, and never counted twice.
    rollups = read(store.rollups(schedule_id))
    query = ExecutionQuery(schedule_id=schedule_id, until=visit.now, limit=NEWEST)
    page = read(store.executions(query))
    ranges = read(store.ranges(schedule_id, limit=RANGES))
    rows = list(page.items)
    days = days_of(rows, rollups, ranges, today=visit.now.astimezone(UTC).date())
    if not any(each.runs or each.missed for each in days):
        return None
    ran = [row for row in reversed(rows) if row.state in RAN][-POINTS:]
    return Charts(
        # The drawings escape their texts, and have neither script nor style.
        year=Markup(calendar(days, title="Runs by day")),  # noqa: S704
        duration=_trend(visit, "Duration", list(_durations(ran))),
        lateness=_trend(visit, "Lateness", list(_lateness(ran))),
        is_partial_before=rows[-1].run_at if page.after else None,
    )


def days_of(
    rows: Iterable[Execution],
    rollups: Iterable[Rollup],
    ranges: Iterable[SlotRange],
    *,
    today: date,
) -> list[Day]:
    """Return the year up to a day: what ran, failed and was missed on each."""
    counts: Counts = Counter()
    for row in rows:
        counts[row.run_at.astimezone(UTC).date(), str(row.state)] += 1
    for each in rollups:
        counts[date.fromisoformat(each.day), str(each.state)] += each.count
    for found in ranges:
        if found.state is State.MISSED:
            for day, count in _spread(found):
                counts[day, str(State.MISSED)] += count
    first = today - YEAR
    return [_day(first + timedelta(days=number), counts) for number in range(YEAR.days + 1)]


def _day(day: date, counts: Counts) -> Day:
    good, bad = (counts[day, str(state)] for state in RAN)
    return Day(day, runs=good + bad, failed=bad, missed=counts[day, str(State.MISSED)])


def _spread(found: SlotRange) -> Iterator[tuple[date, int]]:
    """Yield the slots of a range by day, evenly over its time; the rule then is not on record."""
    first, last = found.first.astimezone(UTC), found.last.astimezone(UTC)
    if first.date() == last.date():
        yield first.date(), found.count
        return
    given, day = 0, first.date()
    while day <= last.date():
        end = datetime.combine(day + DAY, datetime.min.time(), UTC)
        share = min(1.0, (end - first) / (last - first))
        until = found.count if day == last.date() else round(found.count * share)
        yield day, until - given
        given, day = until, day + DAY


def _durations(rows: Iterable[Execution]) -> Iterator[Point]:
    for row in rows:
        if row.started_at is not None and row.took is not None:
            yield Point(row.started_at, row.took.total_seconds(), str(row.state))


def _lateness(rows: Iterable[Execution]) -> Iterator[Point]:
    """Yield how late first starts were; a retry has moved the time at which its row was due."""
    for row in rows:
        if row.first_started_at is not None and row.attempt <= 1 and row.retried_at is None:
            late = max(0.0, (row.first_started_at - row.due_at).total_seconds())
            yield Point(row.first_started_at, late, str(row.state))


def _trend(visit: Visit, title: str, points: Sequence[Point]) -> Markup:
    if not points:
        return Markup()
    ordered = sorted(points, key=lambda each: each.at)
    values = sorted(each.seconds for each in ordered)
    # The nearest rank: a value that was measured.
    levels = [(name, values[int(share * (len(values) - 1))]) for name, share in LEVELS.items()]
    return Markup(trend(ordered, title=title, timezone=visit.zone, levels=levels))  # noqa: S704 - as above
