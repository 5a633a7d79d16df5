"""Times forecasts of a week over many schedules: `python -m bench.forecasts [COUNT]`.

Three stores of schedules: all equal grids, all different daily grids, and a mixture of intervals,
crons and days of which nearly all differ. Durations differ from schedule to schedule.
"""

import sys
from datetime import UTC, datetime, timedelta
from random import Random
from time import perf_counter

from sempre.domain.forecast import Durations, Recurrence, Window, forecast
from sempre.grids import Cron, Every, Grid

__all__ = ["main"]

COUNT = 100_000
ZONES = ("UTC", "Europe/Rome", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
# A week in which clocks change in Rome.
START = datetime(2026, 3, 26, 9, 30, tzinfo=UTC)
WEEK = timedelta(days=7)
ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
INTERVALS = (30, 60, 300, 900, 3600, 7200)


def equal(_number: int, _chance: Random) -> Grid:
    return Cron("0 0 * * *")


def daily(number: int, _chance: Random) -> Grid:
    return Cron(f"{number % 60} {number // 60 % 24} * * *", timezone=ZONES[number // 1440 % 5])


def mixed(number: int, chance: Random) -> Grid:
    at, zone = ANCHOR + timedelta(seconds=number), chance.choice(ZONES)
    rules = (
        lambda: Cron(f"{chance.randrange(60)} {chance.randrange(24)} * * 1-5", timezone=zone),
        lambda: Every(chance.choice(INTERVALS), anchor=at),
        lambda: Every(chance.randrange(60, 90_000), anchor=at),
        lambda: Every("1 day", anchor=at.replace(tzinfo=None), timezone=zone),
        lambda: Cron(f"{number % 60},{number * 7 % 60} */{number % 4 + 1} * * *", timezone=zone),
    )
    return rules[number % len(rules)]()


def main() -> None:
    """Print the time of each forecast."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    for kind in (equal, daily, mixed):
        chance = Random(1)  # noqa: S311 - schedules, not secrets
        known = [_recurrence(number, kind(number, chance), chance) for number in range(count)]
        begin = perf_counter()
        found = forecast(known, Window.of(START, WEEK, "Europe/Rome"))
        took = perf_counter() - begin
        starts = f"{sum(found.starts):,.0f} starts, peak {found.highest[1]:,.0f}"
        print(f"{kind.__name__:6} {count:,} schedules: {took:.1f} s ({starts})")


def _recurrence(number: int, grid: Grid, chance: Random) -> Recurrence:
    p50, p95 = chance.randrange(1, 100), chance.randrange(100, 400)
    return Recurrence(f"s{number}", grid, Durations(timedelta(seconds=p50), timedelta(seconds=p95)))


if __name__ == "__main__":
    main()
