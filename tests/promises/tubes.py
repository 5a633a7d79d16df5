"""What lies in the tubes of a beanstalkd, as the server itself tells it."""

import json
from dataclasses import dataclass
from typing import Any

from tests.integration.brokers.beanstalkd_server import BeanstalkdServer

__all__ = ["Found", "peek", "remove"]


@dataclass(frozen=True)
class Found:
    """A message with the numbers that were put along with it."""

    handle: str
    tube: str
    said: Any
    priority: int
    delay: int
    time_to_run: int
    state: str


def peek(server: BeanstalkdServer, tube: str, state: str = "delayed") -> Found | None:
    """Return the next message of a tube in a state, which stays where it is."""
    with server.wire() as wire:
        used, found = wire.ask([f"use {tube}\r\n".encode(), f"peek-{state}\r\n".encode()])
        assert used.word == "USING"
        if found.word != "FOUND":
            return None
        handle = found.rest[0]
        [stats] = wire.ask([f"stats-job {handle}\r\n".encode()])
    known = stats.fields()
    return Found(
        handle=handle,
        tube=known["tube"],
        said=json.loads(found.body),
        priority=int(known["pri"]),
        delay=int(known["delay"]),
        time_to_run=int(known["ttr"]),
        state=known["state"],
    )


def remove(server: BeanstalkdServer, handle: str) -> None:
    """Delete a message that nobody has reserved."""
    with server.wire() as wire:
        [answer] = wire.ask([f"delete {handle}\r\n".encode()])
    assert answer.word == "DELETED"
