"""Recurring schedules: registering many, having them idle, and all of them due in one second.

Lateness is from the instant that all are due at to the start of each. Misfire limits are off.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from threading import Event
from time import time

from bench.counting import asked_postgresql, asked_redis
from bench.driving import Driver, Process, await_marks
from bench.environments import python_of
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target, check_count
from bench.processes import cpu_seconds, memory_of
from bench.servers import Place

__all__ = ["BURST", "IDLE", "OURS", "Kind", "burst", "idle", "measure_burst", "measure_idle"]

BURST = (
    Figure("register", "schedules/s"),
    Figure("p50", "s late", is_rate=False),
    Figure("p99", "s late", is_rate=False),
    Figure("max", "s late", is_rate=False),
)
IDLE = (
    Figure("register", "schedules/s"),
    Figure("memory", "MB", is_rate=False),
    Figure("CPU", "s/min", is_rate=False),
    Figure("statements", "per min", is_rate=False),
)
# Targets are about so many schedules, that of registering also about more.
ASKED = 10_000
REGISTERED = tuple(
    Target("T8", name, "register", 1.5)
    for name in ("pgqueuer", "chancy", "APScheduler 3, PostgreSQL")
)
LATE = (
    Target("T7", "pgqueuer", "p99", 10.0),
    Target("T7", "APScheduler 3, PostgreSQL", "p99", 10.0),
    Target("T7", "RedBeat", "p99", 10.0),
    Target("T7", "APScheduler 3, in memory", "p99", 1.0),
)
SETTLED, WINDOW = 5.0, 30.0
FAR = 9 * 3600.0


@dataclass(frozen=True)
class Kind:
    """A contestant, and how long it needs before its schedules may be due.

    Attributes:
        lead: seconds for a thousand schedules, with room to spare.
        grain: at which multiples of seconds it can be due: 60 for a cron of five fields.
        on: what it needs: a database, Redis, or nothing at all.
        worker: whether its jobs run in a process of their own.
        most: with more schedules it takes too long to wait for.
    """

    name: str
    script: str
    lead: float
    grain: int = 60
    on: str = "postgresql"
    worker: bool = False
    quick: bool = False
    most: int = 10_000
    environment: str = ""
    settings: tuple[tuple[str, object], ...] = ()


OURS = Kind("Sempre, PostgreSQL", "ours", lead=0.5, grain=5, most=1_000_000)
PEERS = (
    Kind("pgqueuer", "pgqueuer", lead=1.0, quick=True, most=100_000),
    Kind("APScheduler 3, PostgreSQL", "apscheduler3", lead=2.5, grain=5, quick=True),
    Kind("APScheduler 3, in memory", "apscheduler3", lead=0.5, grain=5, on="", most=100_000),
    Kind("APScheduler 4, PostgreSQL", "apscheduler4", lead=8.0, grain=5),
    Kind("Procrastinate", "procrastinate", lead=1.0),
    Kind("chancy", "chancy", lead=1.0),
    Kind("RedBeat", "celery", 1.0, on="redis", worker=True, settings=(("redbeat", True),)),
    Kind("Celery beat", "celery", lead=0.5, on="redis", worker=True, most=1_000),
    Kind("rq-scheduler", "rq", 1.0, 5, "redis", worker=True, environment="rq-scheduler"),
    Kind("huey", "huey", lead=0.5, on="redis", most=100_000),
)


def burst(count: int, place: Place) -> Comparison:
    """So many schedules, all due in the same second."""
    run = partial(measure_burst, place)
    note = "huey and chancy look once a minute: their lateness has that phase in it."
    title = f"{count:,} schedules due in one second"
    targets = (*REGISTERED, *LATE) if count == ASKED else REGISTERED if count > ASKED else ()
    return _comparison(title, BURST, run, count, targets=targets, note=note)


def idle(count: int, place: Place) -> Comparison:
    """So many schedules, none of them due for hours."""
    run = partial(measure_idle, place)
    note = (
        f"Memory, CPU and statements of all processes, over {WINDOW:.0f} s, for a minute. What only"
        " begins, sets up or ends a transaction is not counted; of Redis every command is."
    )
    targets = (
        Target("T11", "", "statements", at_most=10.0),
        Target("T11", "", "CPU", at_most=0.1),
        Target("T9", "", "memory", at_most=120.0),
    )
    title = f"{count:,} schedules, nothing due"
    return _comparison(title, IDLE, run, count, targets=targets, note=note)


def _comparison(
    title: str,
    figures: tuple[Figure, ...],
    run: Callable[[Kind, int], Numbers],
    count: int,
    *,
    targets: tuple[Target, ...],
    note: str,
) -> Comparison:
    ours = Contestant(OURS.name, partial(run, OURS), count)
    others = [
        Contestant(kind.name, partial(run, kind), count, quick=kind.quick)
        for kind in PEERS
        if count <= kind.most
    ]
    return Comparison(title, figures, ours, others, targets, note)


def measure_burst(place: Place, kind: Kind, count: int) -> Numbers:
    """Register schedules that are all due at one instant, and see how late they start."""
    # Installing it, if need be, is no part of its lead.
    python_of(kind.environment or kind.script)
    earliest = time() + 10 + kind.lead * count / 1000
    due = float(ceil(earliest / kind.grain) * kind.grain)
    with _registered(place, kind, count, due) as run:
        if time() > due:
            raise Failed(f"not ready before its schedules were due, {time() - due:.1f} s late")
        Event().wait(due - time())
        marks = await_marks(run.driver.marks, count, run.processes, patience=90)
    late = [mark - due for mark in marks]
    if late[0] < 0:
        raise Failed(f"a job started {-late[0]:.3f} s early")
    return {
        "register": run.rate,
        "p50": late[len(late) // 2],
        "p99": late[len(late) * 99 // 100],
        "max": late[-1],
    }


def measure_idle(place: Place, kind: Kind, count: int) -> Numbers:
    """Register schedules that are not due, and see what it costs to wait for them."""
    with _registered(place, kind, count, time() + FAR) as run:
        Event().wait(SETTLED)
        sessions = [each.pid for each in run.processes]
        used, asked = cpu_seconds(sessions), run.asked()
        Event().wait(WINDOW)
        minute = 60 / WINDOW
        numbers = {
            "register": run.rate,
            "memory": memory_of(sessions),
            "CPU": (cpu_seconds(sessions) - used) * minute,
            "statements": (run.asked() - asked) * minute,
        }
        for each in run.processes:
            each.check()
    return numbers


@dataclass(frozen=True)
class Registered:
    """A contestant that has its schedules and works."""

    driver: Driver
    processes: list[Process]
    rate: float
    asked: Callable[[], int]


@contextmanager
def _registered(place: Place, kind: Kind, count: int, due: float) -> Iterator[Registered]:
    url, asked = _server(place, kind.on)
    told = {"url": url, "count": count, "due": due, "burst": due - time() < FAR / 2}
    environment = kind.environment or kind.script
    settings = told | dict(kind.settings)
    driver = Driver(environment, f"schedulers.{kind.script}", settings, place.fresh_folder())
    with ExitStack() as ends:
        processes = ends.enter_context(driver.working("run"))
        if kind.worker:
            processes = processes + ends.enter_context(driver.working("work"))
        answer = processes[0].answer()
        check_count(int(answer["count"]), count, "schedules")
        yield Registered(driver, processes, count / answer["registered"], asked)


def _server(place: Place, on: str) -> tuple[str, Callable[[], int]]:
    """Return the URL of an empty server, and how to ask how much it was asked so far."""
    if on == "postgresql":
        url = place.fresh_database()
        return url, partial(asked_postgresql, url)
    if on == "redis":
        url = place.flushed_redis()
        return url, partial(asked_redis, url)
    return "", lambda: 0
