"""Sempre with its defaults: bulk enqueue, and a supervised worker of one process."""

from bench.peers.telling import await_end, mark, timed, told
from bench.peers.telling import trickle as trickled
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


def trickle(count: int) -> dict[str, list[float]]:
    _ = app.engine
    return trickled(noop.enqueue, count)


def work() -> None:
    app.start()


def finish(count: int) -> dict[str, float]:
    store = app.engine.store

    def is_over() -> bool:
        return not any(store.running(each.id).value for each in store.sessions().value)

    return await_end(count, is_over)
