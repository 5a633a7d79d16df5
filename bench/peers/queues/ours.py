"""Sempre with its defaults: bulk enqueue, and a supervised worker of one process."""

from bench.peers.telling import await_end, mark, timed, told
from sempre import Sempre
from sempre.domain.states import State
from sempre.ports.messages import ExecutionQuery

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
    app.start()


def finish(count: int) -> dict[str, float]:
    store = app.engine.store
    running = ExecutionQuery(states=frozenset({State.RUNNING}), limit=1)
    return await_end(count, lambda: not store.executions(running).value.items)
