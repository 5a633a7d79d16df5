"""Sempre with its defaults: bulk enqueue, and a supervised worker of one process."""

from bench.peers.telling import mark, timed, told
from sempre import Sempre

app = Sempre(told("url"), broker=told("broker"))


@app.job
def noop() -> None:
    mark()


def prepare() -> None:
    _ = app.engine


def enqueue(count: int) -> dict[str, float]:
    _ = app.engine
    said = timed(lambda: app.enqueue_many(noop.bind() for _ in range(count)))
    app.close()
    return said


def work() -> None:
    app.start(processes=told("processes", 1))
