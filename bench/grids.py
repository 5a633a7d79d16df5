"""Times the grids beside their peers and prints ratios, with the targets they are held against.

Every figure comes from interleaved rounds (ours, peer, ours, peer, ...), so that a busy machine
slows both. First both list their instants, and where these differ the report says so.
"""

import argparse
import gc
import json
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from itertools import islice
from statistics import median
from time import perf_counter
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from sempre.grids import Cron, Every

PEERS = ("cronsim", "croniter", "apscheduler", "python-dateutil")
INSTALL = 'pip install cronsim croniter "apscheduler>=3.11,<4" python-dateutil'
try:
    from apscheduler.triggers.calendarinterval import CalendarIntervalTrigger
    from apscheduler.triggers.cron import CronTrigger
    from apscheduler.triggers.interval import IntervalTrigger
    from croniter import croniter
    from cronsim import CronSim
    from dateutil import rrule
except ImportError as missing:
    sys.exit(f"A peer is missing ({missing.name}); install them all: {INSTALL}")

# Half a minute past, so that no rule matches the start; days before a change in New York.
START = datetime(2025, 3, 5, 0, 0, 30, tzinfo=UTC)
NEW_YORK = "America/New_York"
FASTER, SLOWEST, FLATTEST = 5.0, 3_000.0, 1.2

Walk = Callable[[int], Sequence[datetime]]
Ask = Callable[[], Sequence[datetime]]


@dataclass(frozen=True)
class Case:
    """One cron rule, as each library wants it written, and how many occurrences to walk."""

    name: str
    text: str
    count: int
    trigger: dict[str, Any]
    rule: dict[str, Any]
    timezone: str = "UTC"

    @property
    def start(self) -> datetime:
        return START.astimezone(ZoneInfo(self.timezone))


@dataclass(frozen=True)
class Duel:
    """A peer beside ours: best nanoseconds of both, and how many times longer the peer takes."""

    ours: float
    peer: float
    ratio: float
    median: float
    agreement: str = "same"


@dataclass
class Row:
    """One line of a table: a case and its duels by peer."""

    case: str
    detail: str
    duels: dict[str, Duel] = field(default_factory=dict)


FIVE_MINUTES = {"freq": rrule.MINUTELY, "interval": 5, "bysecond": 0}
MIDNIGHT = {"byhour": 0, "byminute": 0, "bysecond": 0}
WEEKDAYS = (rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR)
AT_NINE = {"freq": rrule.DAILY, "byweekday": WEEKDAYS, "byhour": 9, "byminute": 0, "bysecond": 0}
LEAP_DAY = {"freq": rrule.YEARLY, "bymonth": 2, "bymonthday": 29, **MIDNIGHT}
HALF_PAST_TWO = {"freq": rrule.DAILY, "byhour": 2, "byminute": 30, "bysecond": 0}
LAST_DAY = {"freq": rrule.MONTHLY, "bymonthday": -1, **MIDNIGHT}
SECOND_FRIDAY = {"freq": rrule.MONTHLY, "byweekday": rrule.FR(2), **MIDNIGHT}
CASES = (
    Case("a", "*/5 * * * *", 2000, {"minute": "*/5"}, FIVE_MINUTES),
    Case("b", "0 9 * * 1-5", 600, {"day_of_week": "mon-fri", "hour": 9, "minute": 0}, AT_NINE),
    Case("c", "0 0 29 2 *", 60, {"month": 2, "day": 29}, LEAP_DAY),
    Case("d", "30 2 * * *", 500, {"hour": 2, "minute": 30}, HALF_PAST_TWO, NEW_YORK),
    Case("d2", "*/5 * * * *", 2000, {"minute": "*/5"}, FIVE_MINUTES, NEW_YORK),
    Case("e1", "0 0 L * *", 300, {"day": "last"}, LAST_DAY),
    Case("e2", "0 0 * * 5#2", 300, {"day": "2nd fri"}, SECOND_FRIDAY),
)


def sempre_after(case: Case) -> Walk:
    after = Cron(case.text, timezone=case.timezone).after

    def walk(count: int) -> list[datetime]:
        found: list[datetime] = []
        t = START
        for _ in range(count):
            t = after(t)  # type: ignore[assignment]  # none of the cases ever ends
            found.append(t)
        return found

    return walk


def sempre_times(case: Case) -> Walk:
    grid = Cron(case.text, timezone=case.timezone)
    return lambda count: grid.times(START, count)


def cronsim_walk(case: Case) -> Walk:
    times = CronSim(case.text, case.start)
    return lambda count: list(islice(times, count))


def croniter_walk(case: Case) -> Walk:
    times = croniter(case.text, case.start, ret_type=datetime)
    return lambda count: [times.get_next() for _ in range(count)]


def apscheduler_walk(case: Case) -> Walk:
    trigger = CronTrigger(timezone=ZoneInfo(case.timezone), **case.trigger)

    def walk(count: int) -> list[datetime]:
        found: list[datetime] = []
        t = case.start
        for _ in range(count):
            t = trigger.get_next_fire_time(t, t)
            found.append(t)
        return found

    return walk


def rrule_walk(case: Case) -> Walk:
    times = iter(rrule.rrule(dtstart=case.start, **case.rule))
    return lambda count: list(islice(times, count))


WALKS: dict[str, Callable[[Case], Walk]] = {
    "times": sempre_times,
    "cronsim": cronsim_walk,
    "croniter": croniter_walk,
    "APScheduler": apscheduler_walk,
    "rrule": rrule_walk,
}


def duel(ours: Callable[[], float], peer: Callable[[], float], rounds: int) -> Duel:
    """Time both in turns; each callable returns nanoseconds per answer."""
    pairs = [(ours(), peer()) for _ in range(rounds)]
    best_ours, best_peer = (min(column) for column in zip(*pairs, strict=True))
    middle = median(theirs / own for own, theirs in pairs)
    return Duel(best_ours, best_peer, best_peer / best_ours, middle)


def timed(ask: Callable[[], object], count: int) -> float:
    gc.disable()
    begin = perf_counter()
    ask()
    elapsed = perf_counter() - begin
    gc.enable()
    return elapsed * 1e9 / count


def agreement(ours: Sequence[datetime], theirs: Sequence[datetime], zone: str) -> str:
    """Compare instants up to where both lists reach; tell differences that clock changes make."""
    own, other = (Counter(t.astimezone(UTC) for t in times) for times in (ours, theirs))
    reach, day, local = min(max(own), max(other)), timedelta(days=1), ZoneInfo(zone)
    differing = [t for t in (own - other) | (other - own) if t <= reach]
    if not differing:
        return "same"
    around = [[(t + shift).astimezone(local) for shift in (-day, day)] for t in differing]
    changes = all(before.utcoffset() != after.utcoffset() for before, after in around)
    return f"{len(differing)} differ {'at clock changes' if changes else 'BY ANOTHER RULE'}"


def cron_rows(rounds: int, shrink: int) -> Iterator[Row]:
    for case in CASES:
        count = max(case.count // shrink, 20)
        listed = sempre_after(case)(case.count)
        row = Row(case.name, f"{case.text} {case.timezone}")
        for name, walk in WALKS.items():
            same = agreement(listed, walk(case)(case.count), case.timezone)
            found = duel(stopwatch(sempre_after, case, count), stopwatch(walk, case, count), rounds)
            row.duels[name] = replace(found, agreement=same)
        yield row
    yield cold_row(rounds, 400 // shrink)


def stopwatch(walk: Callable[[Case], Walk], case: Case, count: int) -> Callable[[], float]:
    """Return a measurement that begins each time with a fresh object, built outside the timing."""

    def measure() -> float:
        ready = walk(case)
        return timed(lambda: ready(count), count)

    return measure


def cold_row(rounds: int, count: int) -> Row:
    case = CASES[0]
    row = Row("cold", "parse a, then one next")

    def cold(walk: Callable[[Case], Walk]) -> Callable[[], float]:
        return lambda: timed(lambda: [walk(case)(1) for _ in range(count)], count)

    for name, walk in WALKS.items():
        row.duels[name] = duel(cold(sempre_after), cold(walk), rounds)
    return row


UNITS: dict[str, tuple[int, Any]] = {
    "seconds": (30, rrule.SECONDLY),
    "minutes": (15, rrule.MINUTELY),
    "hours": (6, rrule.HOURLY),
    "days": (1, rrule.DAILY),
    "weeks": (2, rrule.WEEKLY),
    "months": (1, rrule.MONTHLY),
    "years": (1, rrule.YEARLY),
}
ELAPSED = ("seconds", "minutes", "hours")


class Rule(Protocol):
    def after(self, t: datetime, /) -> datetime | None: ...


def grid_rows(rounds: int, shrink: int) -> Iterator[Row]:
    # Off every grid: APScheduler counts an occurrence at the very instant asked about.
    begin = START + timedelta(seconds=17)
    questions = [begin + timedelta(hours=17 * number) for number in range(500 // shrink)]
    for zone in ("UTC", NEW_YORK):
        yesterday = datetime(2025, 3, 4, 9, tzinfo=ZoneInfo(zone))
        for unit, (count, frequency) in UNITS.items():
            # The same grid counted from yesterday and from the year 1900.
            anchor = yesterday.replace(year=1900)
            if unit == "weeks":
                anchor = yesterday - timedelta(weeks=count * 3260)
            recent = Every(count, unit, anchor=yesterday, timezone=zone)
            grid = Every(count, unit, anchor=anchor, timezone=zone)
            row = Row(unit, f"every {count}, {zone}")
            ours, peer = asked(grid, questions), trigger_asked(grid, questions, anchor)
            row.duels["yesterday"] = grid_duel(asked(recent, questions), ours, zone, rounds)
            row.duels["APScheduler"] = grid_duel(ours, peer, zone, rounds)
            if unit not in ELAPSED:
                rule = rrule.rrule(frequency, dtstart=anchor, interval=count)
                few, walked = (asked(either, questions[:2]) for either in (grid, rule))
                row.duels["rrule"] = grid_duel(few, walked, zone, 5)
            yield row


def asked(rule: Rule, questions: list[datetime]) -> Ask:
    return lambda: [rule.after(t) for t in questions]  # type: ignore[misc]  # none ever ends


def trigger_asked(grid: Every, questions: list[datetime], anchor: datetime) -> Ask:
    """Ask APScheduler's trigger for the unit; the calendar one must be told the last occurrence."""
    count, unit = grid.interval.count, grid.interval.unit
    zone = ZoneInfo(grid.timezone)
    local = [t.astimezone(zone) for t in questions]
    if unit in ELAPSED:
        elapsed = IntervalTrigger(start_date=anchor, timezone=zone, **{unit: count})
        return lambda: [elapsed.get_next_fire_time(None, t) for t in local]
    when = {"hour": anchor.hour, "start_date": anchor.date(), "timezone": zone}
    trigger = CalendarIntervalTrigger(**when, **{unit: count})
    passed = [grid.passed(t - timedelta(days=400), t) for t in questions]
    last = [run.last.astimezone(zone) for run in passed if run]
    return lambda: [trigger.get_next_fire_time(t, t) for t in last]


def grid_duel(ours: Ask, peer: Ask, zone: str, rounds: int) -> Duel:
    first, second = ours(), peer()
    own, other = len(first), len(second)
    found = duel(lambda: timed(ours, own), lambda: timed(peer, other), rounds)
    return replace(found, agreement=agreement(first, second, zone))


def targets(crons: list[Row], grids: list[Row]) -> list[tuple[str, bool]]:
    """Return each target with its measurement, and whether it is met."""
    found = []
    for row in crons[:-1]:
        ratio = row.duels["cronsim"].ratio
        found.append((f"T1 {row.case:3}{ratio:5.1f}x cronsim", ratio >= FASTER))
    for row in grids:
        old = row.duels["yesterday"]
        told = f"T2 {row.case:8}{row.detail:28}{old.peer:6.0f} ns, {old.ratio:.2f}x of yesterday's"
        found.append((told, old.peer <= SLOWEST and old.ratio <= FLATTEST))
    return found


def show(title: str, rows: list[Row], columns: tuple[str, ...]) -> None:
    print(f"\n{title}\n{'':43}{'ours':>10}" + "".join(f"{name:>18}" for name in columns))
    for row in rows:
        cells = "".join(f"{cell(row.duels.get(name)):>18}" for name in columns)
        print(f"{row.case:9}{row.detail:34}{row.duels['APScheduler'].ours:>7.0f} ns{cells}")
    for row in rows:
        for name, found in row.duels.items():
            if found.agreement != "same":
                print(f"  {name} in {row.case} {row.detail}: {found.agreement}")


def cell(found: Duel | None) -> str:
    digits = 2 if found and found.ratio < FASTER * 20 else 0
    return f"{found.ratio:.{digits}f}x ({found.median:.{digits}f}x)" if found else "-"


def report(crons: list[Row], grids: list[Row]) -> None:
    print("A peer at 5x takes five times as long as ours: of the best rounds (median of rounds).")
    show("Next cron occurrence: after(t), one after the other", crons, tuple(WALKS))
    title = (
        "Next anchor point from 1900; yesterday: as long with that as with an anchor of yesterday"
    )
    show(title, grids, ("yesterday", "APScheduler", "rrule"))
    print(f"\nTargets: T1 at least {FASTER:g}x cronsim; T2 at most {SLOWEST:g} ns and {FLATTEST}x")
    for told, is_met in targets(crons, grids):
        print(f"  {'met    ' if is_met else 'NOT met'}  {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer occurrences and rounds")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    versions = {name: version(name) for name in ("tzdata", *PEERS)}
    if not versions["apscheduler"].startswith("3."):
        sys.exit(f"APScheduler {versions['apscheduler']} is not of series 3: {INSTALL}")
    settings = (7, 4) if options.quick else (15, 1)
    crons, grids = list(cron_rows(*settings)), list(grid_rows(*settings))
    versions = {"python": platform.python_version(), "sempre": version("sempre"), **versions}
    if options.json:
        rows = {"cron": [asdict(row) for row in crons], "grids": [asdict(row) for row in grids]}
        met = [{"target": told, "met": is_met} for told, is_met in targets(crons, grids)]
        print(json.dumps({"versions": versions, "targets": met, **rows}, indent=2))
        return
    print(*(f"{name} {number}" for name, number in versions.items()), sep=", ")
    report(crons, grids)


if __name__ == "__main__":
    main()
