"""pgqueuer: bulk enqueue of a thousand, a worker with the batch it is told (by default its own)."""

import asyncio
from time import perf_counter

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.queries import Queries

from bench.peers.telling import await_end, mark, told
from bench.peers.telling import trickle as trickled


def prepare() -> None:
    async def install() -> None:
        connection = await asyncpg.connect(told("url"))
        await Queries(AsyncpgDriver(connection)).install()
        await connection.close()

    asyncio.run(install())


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        connection = await asyncpg.connect(told("url"))
        queries = Queries(AsyncpgDriver(connection))
        begin = perf_counter()
        for first in range(0, count, 1000):
            size = min(1000, count - first)
            await queries.enqueue(["noop"] * size, [None] * size, [0] * size)
        return {"seconds": perf_counter() - begin}

    return asyncio.run(send())


def trickle(count: int) -> dict[str, list[float]]:
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(told("url")))
    queries = Queries(AsyncpgDriver(connection))
    return trickled(lambda: loop.run_until_complete(queries.enqueue("noop", None)), count)


def work() -> None:
    async def run() -> None:
        async with asyncpg.create_pool(told("url"), min_size=2, max_size=8) as pool:
            queuer = PgQueuer(AsyncpgPoolDriver(pool))

            async def noop(_job: object) -> None:
                mark()

            queuer.entrypoint("noop")(noop)
            await queuer.run(batch_size=told("batch", 10))

    asyncio.run(run())


def finish(count: int) -> dict[str, float]:
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect(told("url")))

    def is_over() -> bool:
        asked = connection.fetchval("SELECT count(*) FROM pgqueuer")
        return not loop.run_until_complete(asked)

    return await_end(count, is_over)
