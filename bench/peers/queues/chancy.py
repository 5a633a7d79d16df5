"""chancy: pushed in batches of a thousand, run by its asyncio executor."""

import asyncio
from time import perf_counter

from chancy import Chancy, Queue, Worker, job

from bench.peers.telling import mark, told


async def noop() -> None:
    mark()


JOB = job(queue="default")(noop)


def prepare() -> None:
    async def install() -> None:
        async with Chancy(told("url")) as chancy:
            await chancy.migrate()
            queue = Queue(
                "default",
                concurrency=told("concurrency", 100),
                executor="chancy.executors.asyncex.AsyncExecutor",
                eager_polling=True,
                polling_interval=1,
            )
            await chancy.declare(queue, upsert=True)

    asyncio.run(install())


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        async with Chancy(told("url")) as chancy:
            begin = perf_counter()
            async for _ in chancy.push_many([JOB.job] * count, batch_size=1000):
                pass
            return {"seconds": perf_counter() - begin}

    return asyncio.run(send())


def work() -> None:
    async def run() -> None:
        async with Chancy(told("url")) as chancy, Worker(chancy) as worker:
            await worker.wait_for_shutdown()

    asyncio.run(run())
