"""arq on Redis: a hundred enqueues at the same time, run with the number of jobs it is told."""

import asyncio

from arq import Worker, create_pool
from arq.connections import RedisSettings

from bench.peers.telling import gathered, mark, told


async def noop(_context: object) -> None:
    mark()


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        pool = await create_pool(RedisSettings.from_dsn(told("url")))
        return await gathered(lambda: pool.enqueue_job("noop"), count)

    return asyncio.run(send())


def work() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())
    settings = RedisSettings.from_dsn(told("url"))
    most = told("concurrency", 100)
    Worker([noop], redis_settings=settings, max_jobs=most, keep_result=0, log_results=False).run()
