"""Slots that fall due one after the other, so many a second: what each costs the worker.

Every schedule runs once in ten seconds, and each has an instant of its own. CPU is that of all
processes of one worker, from /proc, over a window in which the worker does nothing else.
"""

from functools import partial
from math import ceil
from threading import Event

from bench.driving import Driver, Process, read_marks
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target, check_count
from bench.processes import cpu_seconds
from bench.servers import Place

__all__ = ["steady"]

FIGURES = (
    Figure("CPU", "us/slot", is_rate=False),
    Figure("p50", "ms late", is_rate=False),
    Figure("p99", "ms late", is_rate=False),
    Figure("slots", "1/s"),
)
PERIOD, SETTLED, WINDOW = 10.0, 15.0, 20.0
RATES = (100, 1_000)
# Of all slots of the window, at least this part has to start in it.
KEPT_UP = 0.97
MICROSECONDS, MILLISECONDS = 1e6, 1e3


def steady(place: Place) -> Comparison:
    """A hundred slots a second on PostgreSQL, beside a thousand."""
    run = partial(measure_steady, place)
    first, *others = [Contestant(f"{rate:,} a second", run, rate) for rate in RATES]
    targets = (
        Target("T15", "", "CPU", at_most=500.0),
        Target("T15", others[0].name, "CPU", at_most=0.5),
    )
    note = f"CPU of all processes of one worker over {WINDOW:.0f} s; the server is not counted."
    title = "Slots that fall due one after the other, PostgreSQL"
    return Comparison(title, FIGURES, first, others, targets, note)


def measure_steady(place: Place, rate: int) -> Numbers:
    """Let so many slots a second fall due, and measure what a worker needs for each."""
    told = {"url": place.fresh_database(), "rate": rate, "period": PERIOD}
    driver = Driver("ours", "schedulers.ours", told, place.fresh_folder())
    with driver.working("steady") as processes:
        check_count(int(processes[0].answer()["count"]), int(rate * PERIOD), "schedules")
        Event().wait(SETTLED)
        return _measured(driver, processes, rate)


def _measured(driver: Driver, processes: list[Process], rate: int) -> Numbers:
    sessions = [each.pid for each in processes]
    used, before = cpu_seconds(sessions), _marks(driver)
    Event().wait(WINDOW)
    cpu, after = cpu_seconds(sessions) - used, _marks(driver)
    for each in processes:
        each.check()
    late = sorted(read_marks(driver.marks, sort=False)[before:after])
    if len(late) < KEPT_UP * rate * WINDOW:
        raise Failed(f"{len(late):,} of {rate * WINDOW:,.0f} slots")
    if late[0] < 0:
        raise Failed(f"a job started {-late[0]:.3f} s early")
    return {
        "CPU": cpu / len(late) * MICROSECONDS,
        "p50": late[ceil(0.5 * len(late)) - 1] * MILLISECONDS,
        "p99": late[ceil(0.99 * len(late)) - 1] * MILLISECONDS,
        "slots": len(late) / WINDOW,
    }


def _marks(driver: Driver) -> int:
    return len(read_marks(driver.marks, sort=False)) if driver.marks.exists() else 0
