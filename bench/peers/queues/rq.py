"""RQ: enqueued in bulk, run by a worker in its own process or by one that forks for each job."""

import redis
from rq import Queue, SimpleWorker, Worker

from bench.peers.telling import mark, timed, told


def noop() -> None:
    mark()


def _queue() -> Queue:
    return Queue(connection=redis.Redis.from_url(told("url")))


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    queue = _queue()

    def send() -> None:
        for first in range(0, count, 1000):
            size = min(1000, count - first)
            queue.enqueue_many([Queue.prepare_data(noop, result_ttl=0) for _ in range(size)])

    return timed(send)


def work() -> None:
    queue = _queue()
    kind = Worker if told("forks") else SimpleWorker
    kind([queue], connection=queue.connection).work(logging_level="WARNING")
