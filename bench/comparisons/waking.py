"""One enqueue at a time while the worker, in another process, is idle: how soon the job starts.

The time is from before the call that enqueues to the start of the job. Between two enqueues the
worker is idle for a random while, since a worker that polls does so more often after work. When all
have run, the same processes are left alone, and what waiting costs is measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from threading import Event

from bench.counting import asked_mariadb, asked_postgresql, asked_redis
from bench.driving import Driver, read_marks
from bench.measuring import Comparison, Contestant, Figure, Numbers, Target, check_count
from bench.processes import cpu_seconds
from bench.servers import Place

__all__ = ["mariadb", "postgresql", "redis", "sqlite"]

FIGURES = (
    Figure("p50", "ms", is_rate=False),
    Figure("p99", "ms", is_rate=False),
    Figure("idle CPU", "s/min", is_rate=False),
    Figure("idle statements", "per min", is_rate=False),
)
COUNT = 100
# The first ones find out that the worker is there.
WARM = 5
SETTLED, WINDOW = 5.0, 30.0
NOTE = (
    "From the call that enqueues to the start of the job in another process, which is idle for 0.1"
    f" to 1.5 s before each. Idle: all processes of the worker, over {WINDOW:.0f} s, for a minute;"
    " what only begins, sets up or ends a transaction is not counted, of Redis every command is."
)
MILLISECONDS = 1000
Asked = Callable[[], int]


@dataclass(frozen=True)
class Ground:
    """What a contestant stands on: settings for its script, and how its server is counted."""

    settings: dict[str, object] = field(default_factory=dict)
    asked: Asked | None = None


def postgresql(place: Place) -> Comparison:
    """The store as broker, beside queues on PostgreSQL and ours with a broker."""
    run = partial(_contestant, place)
    others = [
        run("pgqueuer", "pgqueuer", _database),
        run("Procrastinate", "procrastinate", _database),
        run("huey", "huey", _database, on="postgresql"),
        run("Sempre, PostgreSQL and Redis", "ours", _with_redis, quick=False),
        run("Sempre, PostgreSQL and Beanstalkd", "ours", _with_beanstalkd, quick=False),
    ]
    ours = run("Sempre, PostgreSQL", "ours", _database)
    targets = [*_sooner("pgqueuer", "Procrastinate", "huey"), *_IDLE]
    return Comparison(_title("PostgreSQL"), FIGURES, ours, others, targets, NOTE)


def sqlite(place: Place) -> Comparison:
    """Ours, which waits for the disk, beside huey, which by default does not."""
    run = partial(_contestant, place)
    ours = run("Sempre, SQLite", "ours", _file)
    others = [run("huey, no fsync", "huey", lambda _: Ground(), on="sqlite")]
    targets = [*_sooner("huey, no fsync"), _IDLE[1]]
    return Comparison(_title("SQLite"), FIGURES, ours, others, targets, NOTE)


def redis(place: Place) -> Comparison:
    """Redis as store and broker, beside huey on Redis, and ours with a broker apart."""
    run = partial(_contestant, place)
    ours = run("Sempre, Redis", "ours", _redis)
    others = [
        run("huey", "huey", _redis, on="redis"),
        run("Sempre, Redis and Beanstalkd", "ours", _redis_with_beanstalkd, quick=False),
    ]
    return Comparison(_title("Redis"), FIGURES, ours, others, [*_sooner("huey"), *_IDLE], NOTE)


def mariadb(place: Place) -> Comparison:
    """MariaDB, which wakes nobody, beside ours with a broker: no peer of note is on MariaDB."""
    run = partial(_contestant, place)
    ours = run("Sempre, MariaDB", "ours", _mariadb)
    others = [run("Sempre, MariaDB and Beanstalkd", "ours", _mariadb_with_beanstalkd)]
    targets = [Target("T14", "", "p99", at_most=300.0), *_IDLE]
    return Comparison(_title("MariaDB"), FIGURES, ours, others, targets, NOTE)


_IDLE = (
    Target("T11", "", "idle statements", at_most=10.0),
    Target("T11", "", "idle CPU", at_most=0.1),
)


def _title(server: str) -> str:
    return f"From an enqueue to the start in an idle process, {server}"


def _sooner(*peers: str) -> list[Target]:
    return [Target("T14", peer, figure, 1.0) for peer in peers for figure in ("p50", "p99")]


# What they stand on


def _database(place: Place) -> Ground:
    url = place.fresh_database()
    return Ground({"url": url}, partial(asked_postgresql, url))


def _with_redis(place: Place) -> Ground:
    ground = _database(place)
    return Ground(ground.settings | {"broker": place.flushed_redis()}, ground.asked)


def _with_beanstalkd(place: Place) -> Ground:
    ground = _database(place)
    return Ground(ground.settings | {"broker": place.fresh_beanstalkd()}, ground.asked)


def _file(place: Place) -> Ground:
    return Ground({"url": f"sqlite:///{place.fresh_folder()}/jobs.db"})


def _redis(place: Place) -> Ground:
    url = place.flushed_redis()
    return Ground({"url": url}, partial(asked_redis, url))


def _redis_with_beanstalkd(place: Place) -> Ground:
    ground = _redis(place)
    return Ground(ground.settings | {"broker": place.fresh_beanstalkd()}, ground.asked)


def _mariadb(place: Place) -> Ground:
    url = place.fresh_mariadb()
    return Ground({"url": url}, partial(asked_mariadb, url))


def _mariadb_with_beanstalkd(place: Place) -> Ground:
    ground = _mariadb(place)
    return Ground(ground.settings | {"broker": place.fresh_beanstalkd()}, ground.asked)


# How it is measured


def _contestant(
    place: Place,
    name: str,
    script: str,
    ground: Callable[[Place], Ground],
    *,
    quick: bool = True,
    **settings: object,
) -> Contestant:
    """Return a contestant that is driven by a script of bench/peers/queues."""

    def run(count: int) -> Numbers:
        stands = ground(place)
        told = {**settings, **stands.settings}
        driver = Driver(script, f"queues.{script}", told, place.fresh_folder())
        return _measured(driver, count, stands.asked)

    return Contestant(name, run, COUNT, quick=quick)


def _measured(driver: Driver, count: int, asked: Asked | None) -> Numbers:
    driver.call("prepare")
    with driver.working("work") as workers:
        sent: list[float] = driver.call("trickle", str(WARM + count))["sent"]
        marks = read_marks(driver.marks)
        check_count(len(marks), WARM + count)
        took = sorted(mark - at for mark, at in list(zip(marks, sent, strict=True))[WARM:])
        numbers = {"p50": _part(took, 0.5), "p99": _part(took, 0.99)}
        numbers |= _idle([each.pid for each in workers], asked)
        for each in workers:
            each.check()
    return numbers


def _part(took: Sequence[float], part: float) -> float:
    """Return the milliseconds that this part of all took at most."""
    return took[ceil(part * len(took)) - 1] * MILLISECONDS


def _idle(sessions: Sequence[int], asked: Asked | None) -> Numbers:
    Event().wait(SETTLED)
    used, before = cpu_seconds(sessions), asked() if asked else 0
    Event().wait(WINDOW)
    minute = 60 / WINDOW
    numbers = {"idle CPU": (cpu_seconds(sessions) - used) * minute}
    return numbers | ({"idle statements": (asked() - before) * minute} if asked else {})
