"""APScheduler 4 on PostgreSQL, with no limit on how late a start may be."""

import asyncio
from datetime import UTC, datetime
from time import perf_counter

from apscheduler import AsyncScheduler
from apscheduler.datastores.sqlalchemy import SQLAlchemyDataStore
from apscheduler.triggers.cron import CronTrigger
from sqlalchemy.ext.asyncio import create_async_engine

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told


async def noop() -> None:
    mark()


def run() -> None:
    asyncio.run(_run())


async def _run() -> None:
    url = told("url").replace("postgresql://", "postgresql+asyncpg://")
    store = SQLAlchemyDataStore(create_async_engine(url))
    async with AsyncScheduler(data_store=store) as scheduler:
        begin, since = perf_counter(), datetime.now(UTC)
        await scheduler.configure_task("noop", func=noop, max_running_jobs=1_000_000)
        for number in range(told("count")):
            trigger = CronTrigger(timezone=UTC, start_time=since, **rule().fields)
            await scheduler.add_schedule("noop", trigger, id=f"s{number}", misfire_grace_time=None)
        registered = perf_counter() - begin
        count = len(await scheduler.get_schedules())
        await scheduler.start_in_background()
        say(registered=registered, count=count)
        await asyncio.Event().wait()
