"""One-off jobs that do nothing: how fast they are put in, and how fast a worker drains them.

Enqueue is by one process, in bulk where the peer has a way. Drain is by one worker process, and by
two: from the first start, which a job notes in a file, to the last; of ours and of pgqueuer until
all are recorded as done, which for the others would only be longer.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.comparisons.limits import PostgresqlLimit, RedisLimit, SqliteLimit
from bench.driving import Driver, await_marks
from bench.measuring import Comparison, Contestant, Figure, Numbers, Target
from bench.servers import Place

__all__ = ["beanstalkd", "postgresql", "redis", "redis_contestant", "redis_store", "sqlite"]

FIGURES = (
    Figure("enqueue", "jobs/s"),
    Figure("drain", "jobs/s"),
    Figure("drain by 2", "jobs/s"),
)
NOTE = (
    "Jobs that do nothing but append the time to a file. A drain begins with the first start; ours"
    " and pgqueuer's end when all are recorded as done, the others' with the last start."
)
RECORDED = ("ours", "pgqueuer")
Settings = dict[str, object]
Fresh = Callable[[], Settings]


def postgresql(place: Place) -> Comparison:
    """Ours with its defaults, the store as broker, beside the queues on PostgreSQL."""
    fresh = partial(_database, place)
    queue = partial(_queue, place, fresh)
    others = [
        queue("pgqueuer, batch 1000", "pgqueuer", count=60_000, least=5000, batch=1000),
        queue("pgqueuer, default", "pgqueuer", count=10_000),
        queue("Procrastinate", "procrastinate", count=2_000, quick=False),
        queue(
            "chancy, 1000 at once",
            "chancy",
            count=10_000,
            least=5000,
            quick=False,
            concurrency=1000,
        ),
        queue("huey", "huey", count=5_000, quick=False, on="postgresql"),
        _bare_psycopg(place),
    ]
    targets = (
        Target("T3", "pgqueuer, batch 1000", "enqueue", 1.2),
        Target("T4", "pgqueuer, batch 1000", "drain", 1.2),
        Target("T4", "pgqueuer, batch 1000", "drain by 2", 1.2),
        Target("T4", "pgqueuer, default", "drain", 3.0),
        Target("T4", "pgqueuer, default", "drain by 2", 3.0),
        Target("T4", "bare psycopg", "drain", 0.6),
    )
    ours = queue("Sempre", "ours", count=60_000, least=5000)
    return Comparison("One-off jobs on PostgreSQL", FIGURES, ours, others, targets, NOTE)


def sqlite(place: Place) -> Comparison:
    """Ours, which waits for the disk, beside huey, which by default does not."""

    def ours_fresh() -> Settings:
        return {"url": f"sqlite:///{place.fresh_folder()}/jobs.db"}

    huey = partial(_queue, place, dict, on="sqlite", count=30_000)
    others = [
        huey("huey, no fsync", "huey"),
        huey("huey, fsync", "huey", fsync=True, quick=False),
        Contestant("bare sqlite3", SqliteLimit(place).run, 30_000, "limit"),
    ]
    targets = (Target("T6", "huey, no fsync", "drain", 2.0),)
    ours = _queue(place, ours_fresh, "Sempre", "ours", count=30_000, least=5000)
    note = f"{NOTE} Ours commits with synchronous=FULL."
    return Comparison("One-off jobs on SQLite", FIGURES, ours, others, targets, note)


def redis(place: Place) -> Comparison:
    """Rows in PostgreSQL and tickets on Redis, beside queues that live on Redis alone."""

    def ours_fresh() -> Settings:
        return {"url": place.fresh_database(), "broker": place.flushed_redis()}

    ours = _queue(
        place, ours_fresh, "Sempre, PostgreSQL and Redis", "ours", count=20_000, least=2000
    )
    targets = [
        Target("T5", name, figure, 2.0)
        for name in ("huey", "taskiq")
        for figure in ("drain", "drain by 2")
    ]
    note = f"{NOTE} Ours keeps every job as a row of PostgreSQL; Redis only rings."
    title = "One-off jobs, Redis as broker"
    others = [*_redis_peers(place), _bare_psycopg(place)]
    return Comparison(title, FIGURES, ours, others, targets, note)


def redis_store(place: Place) -> Comparison:
    """Ours with Redis as its store, beside queues on Redis."""

    def fresh() -> Settings:
        return {"url": place.flushed_redis()}

    ours = _queue(place, fresh, "Sempre, Redis", "ours", count=20_000, least=2000)
    title = "One-off jobs, Redis as store"
    limit = Contestant("bare redis-py", RedisLimit(place).run, 20_000, "limit")
    return Comparison(title, FIGURES, ours, [*_redis_peers(place), limit], note=NOTE)


def beanstalkd(place: Place) -> Comparison:
    """Rows in PostgreSQL and tickets on Beanstalkd, beside the fastest queues on Redis."""

    def ours_fresh() -> Settings:
        return {"url": place.fresh_database(), "broker": place.fresh_beanstalkd()}

    ours = _queue(
        place, ours_fresh, "Sempre, PostgreSQL and Beanstalkd", "ours", count=20_000, least=2000
    )
    targets = [Target("T5", "huey", figure, 2.0) for figure in ("drain", "drain by 2")]
    note = f"{NOTE} No peer of note has a Beanstalkd broker: beside it the fastest one on Redis."
    title = "One-off jobs, Beanstalkd as broker"
    others = [*_redis_peers(place)[:1], _bare_psycopg(place)]
    return Comparison(title, FIGURES, ours, others, targets, note)


def redis_contestant(place: Place, name: str, script: str, **options: Any) -> Contestant:  # noqa: ANN401
    """Return a contestant with a queue on a Redis that is empty at first."""
    return _queue(place, lambda: {"url": place.flushed_redis()}, name, script, **options)


def _redis_peers(place: Place) -> list[Contestant]:
    queue = partial(redis_contestant, place)
    return [
        queue("huey", "huey", count=10_000, on="redis"),
        queue("taskiq", "taskiq", count=10_000),
        queue("Dramatiq", "dramatiq", count=5_000, quick=False),
        queue("SAQ, 100 at once", "saq", count=5_000, quick=False),
        queue("Celery, solo", "celery", count=5_000, quick=False),
        queue("arq, 100 at once", "arq", count=5_000, quick=False),
        queue("streaq", "streaq", count=5_000, quick=False),
        queue("RQ, simple worker", "rq", count=2_000, quick=False),
        queue("RQ, forking", "rq", count=400, quick=False, forks=True),
    ]


def _bare_psycopg(place: Place) -> Contestant:
    """The writes of the rows alone: no broker can make them faster."""
    return Contestant("bare psycopg", PostgresqlLimit(place).run, 30_000, "limit")


def _database(place: Place) -> Settings:
    return {"url": place.fresh_database()}


def _queue(
    place: Place,
    fresh: Fresh,
    name: str,
    script: str,
    *,
    count: int,
    quick: bool = True,
    least: int = 50,
    **settings: object,
) -> Contestant:
    """Return a contestant that is driven by a script of bench/peers/queues."""

    def run(items: int) -> Numbers:
        numbers: Numbers = {}
        for processes in (1, 2):
            told = {**settings, **fresh()}
            driver = Driver(script, f"queues.{script}", told, place.fresh_folder())
            numbers |= _measured(driver, items, processes)
        return numbers

    return Contestant(name, run, count, quick=quick, least=least)


def _measured(driver: Driver, count: int, processes: int) -> Numbers:
    driver.call("prepare")
    enqueued = driver.call("enqueue", str(count))
    drain = _recorded if driver.environment in RECORDED else _drained
    took = drain(driver, count, processes)
    figure = "drain" if processes == 1 else f"drain by {processes}"
    return {"enqueue": count / enqueued["seconds"], figure: count / max(took, 1e-6)}


def _drained(driver: Driver, count: int, processes: int) -> float:
    """Return the seconds from the first start to the last."""
    with driver.working("work", processes=processes) as workers:
        marks = await_marks(driver.marks, count, workers)
    return marks[-1] - marks[0]


def _recorded(driver: Driver, count: int, processes: int) -> float:
    """Return the seconds from the first start until all of them are recorded as done."""
    with driver.working("finish", str(count)) as [watching]:
        watching.answer()
        with driver.working("work", processes=processes) as workers:
            marks = await_marks(driver.marks, count, workers)
            ended: float = watching.answer()["at"]
    return ended - marks[0]
