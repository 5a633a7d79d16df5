"""SAQ on Redis: a hundred enqueues at the same time, run with the concurrency it is told."""

import asyncio

from saq import Queue, Worker

from bench.peers.telling import gathered, mark, told


async def noop(_context: object) -> None:
    mark()


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        queue = Queue.from_url(told("url"))
        await queue.connect()
        said = await gathered(lambda: queue.enqueue("noop"), count)
        await queue.disconnect()
        return said

    return asyncio.run(send())


def work() -> None:
    async def run() -> None:
        queue = Queue.from_url(told("url"))
        await Worker(queue, functions=[noop], concurrency=told("concurrency", 100)).start()

    asyncio.run(run())
