"""pgqueuer: schedules are declared in code and written when its scheduler starts."""

import asyncio
from time import perf_counter

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.queries import Queries

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told


async def noop(_schedule: object) -> None:
    mark()


def run() -> None:
    asyncio.run(_run())


async def _run() -> None:
    async with asyncpg.create_pool(told("url"), min_size=2, max_size=8) as pool:
        driver = AsyncpgPoolDriver(pool)
        await Queries(driver).install()
        begin = perf_counter()
        queuer = PgQueuer(driver)
        for number in range(told("count")):
            # Each needs a function of its own: it goes by name and expression.
            queuer.schedule(f"s{number}", rule().minutes)(noop)
        watching = asyncio.create_task(_watch(pool, begin))
        await asyncio.gather(queuer.run(), watching)


async def _watch(pool: asyncpg.Pool, begin: float) -> None:
    """Say so when every schedule has its row."""
    count = 0
    while count < told("count"):
        await asyncio.sleep(0.1)
        count = await pool.fetchval("SELECT count(*) FROM pgqueuer_schedules")
    say(registered=perf_counter() - begin, count=count)
