"""streaq on Redis: enqueued in bulk, run with the concurrency it is told."""

import asyncio
from time import perf_counter

import streaq

from bench.peers.telling import mark, told

worker = streaq.Worker(redis_url=told("url"), concurrency=told("concurrency", 16))


async def _noop() -> None:
    mark()


noop = worker.task(name="noop", ttl=0)(_noop)


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        async with worker:
            begin = perf_counter()
            for first in range(0, count, 1000):
                size = min(1000, count - first)
                await worker.enqueue_many([noop.enqueue() for _ in range(size)])
            return {"seconds": perf_counter() - begin}

    return asyncio.run(send())


def work() -> None:
    worker.run_sync()
