"""Dramatiq on Redis: one send after the other, run by its own command with eight threads."""

import os
import sys
from pathlib import Path

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.peers.telling import mark, timed, told

broker = RedisBroker(url=told("url"))
dramatiq.set_broker(broker)


def _noop() -> None:
    mark()


noop = dramatiq.actor(actor_name="noop")(_noop)


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    return timed(lambda: [noop.send() for _ in range(count)])


def work() -> None:
    command = str(Path(sys.executable).with_name("dramatiq"))
    words = ["bench.peers.queues.dramatiq", "--processes", str(told("processes", 1))]
    os.execv(command, [command, *words, "--threads", "8"])  # noqa: S606 - a fixed list of words
