"""huey on SQLite, PostgreSQL or Redis: it has no bulk interface, so one call after the other."""

from pathlib import Path
from typing import Any

from huey import PostgresHuey, RedisHuey, SqliteHuey

from bench.peers.telling import mark, timed, told
from bench.peers.telling import trickle as trickled


def opened() -> Any:  # noqa: ANN401 - the library ships no types
    if told("on") == "sqlite":
        path = str(Path(told("folder")) / "huey.db")
        return SqliteHuey("bench", filename=path, results=False, fsync=bool(told("fsync")))
    if told("on") == "postgresql":
        return PostgresHuey("bench", dsn=told("url"), results=False)
    return RedisHuey("bench", url=told("url"), results=False)


huey = opened()


def _noop() -> None:
    mark()


noop = huey.task(name="noop")(_noop)


def prepare() -> None:
    huey.flush()


def enqueue(count: int) -> dict[str, float]:
    return timed(lambda: [noop() for _ in range(count)])


def trickle(count: int) -> dict[str, list[float]]:
    return trickled(noop, count)


def work() -> None:
    workers = told("workers", 1)
    kind = "thread" if workers == 1 else "process"
    huey.create_consumer(workers=workers, worker_type=kind).run()
