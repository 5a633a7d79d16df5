"""Procrastinate: deferred in batches of a thousand, run by a worker of some concurrency."""

import asyncio
from time import perf_counter

from procrastinate import App, PsycopgConnector

from bench.peers.telling import mark, told
from bench.peers.telling import trickle as trickled

app = App(connector=PsycopgConnector(conninfo=told("url")))


async def _noop() -> None:
    mark()


noop = app.task(name="noop")(_noop)


def prepare() -> None:
    async def install() -> None:
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    asyncio.run(install())


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        async with app.open_async():
            begin = perf_counter()
            for first in range(0, count, 1000):
                await noop.batch_defer_async(*[{}] * min(1000, count - first))
            return {"seconds": perf_counter() - begin}

    return asyncio.run(send())


def trickle(count: int) -> dict[str, list[float]]:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(app.open_async().__aenter__())
    return trickled(lambda: loop.run_until_complete(noop.defer_async()), count)


def work() -> None:
    async def run() -> None:
        async with app.open_async():
            await app.run_worker_async(concurrency=told("concurrency", 10))

    asyncio.run(run())
