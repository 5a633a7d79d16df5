"""chancy: cron jobs are written a thousand at once, and looked at every minute."""

import asyncio
from time import perf_counter

from chancy import Chancy, Queue, Worker, job
from chancy.plugins.cron import Cron

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told


async def noop() -> None:
    mark()


JOB = job(queue="default")(noop)


def run() -> None:
    asyncio.run(_run())


async def _run() -> None:
    async with Chancy(told("url"), plugins=[Cron()]) as chancy:
        await chancy.migrate()
        queue = Queue(
            "default",
            concurrency=100,
            executor="chancy.executors.asyncex.AsyncExecutor",
            eager_polling=True,
            polling_interval=1,
        )
        await chancy.declare(queue, upsert=True)
        count, begin = told("count"), perf_counter()
        for first in range(0, count, 1000):
            numbers = range(first, min(count, first + 1000))
            jobs = [JOB.job.with_unique_key(f"s{number}") for number in numbers]
            await Cron.schedule(chancy, rule().minutes, *jobs)
        registered = perf_counter() - begin
        async with Worker(chancy) as worker:
            say(registered=registered, count=count)
            await worker.wait_for_shutdown()
