"""taskiq on a Redis list: a hundred sends at the same time, run by its own command."""

import asyncio
import os
import sys
from pathlib import Path

from taskiq_redis import ListQueueBroker

from bench.peers.telling import gathered, mark, told

broker = ListQueueBroker(url=told("url"))


async def _noop() -> None:
    mark()


noop = broker.task(task_name="noop")(_noop)


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    async def send() -> dict[str, float]:
        await broker.startup()
        said = await gathered(noop.kiq, count)
        await broker.shutdown()
        return said

    return asyncio.run(send())


def work() -> None:
    command = str(Path(sys.executable).with_name("taskiq"))
    words = ["worker", "bench.peers.queues.taskiq:broker", "--workers", "1"]
    words += ["--max-async-tasks", "100", "--log-level", "ERROR"]
    os.execv(command, [command, *words])  # noqa: S606 - a fixed list of words
