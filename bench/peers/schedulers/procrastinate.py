"""Procrastinate: periodic tasks are declared in code, and deferred by its worker."""

import asyncio
from time import perf_counter

from procrastinate import App, PsycopgConnector

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told

app = App(connector=PsycopgConnector(conninfo=told("url")))


async def _noop(timestamp: int) -> None:  # noqa: ARG001 - it is handed over by name
    mark()


def run() -> None:
    begin = perf_counter()
    noop = app.task(name="noop")(_noop)
    for number in range(told("count")):
        app.periodic(cron=rule().minutes, periodic_id=f"s{number}")(noop)
    asyncio.run(_run(perf_counter() - begin))


async def _run(registered: float) -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        say(registered=registered, count=len(app.periodic_registry.periodic_tasks))
        await app.run_worker_async(concurrency=10)
