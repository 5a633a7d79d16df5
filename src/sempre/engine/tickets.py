"""Tickets: the messages that the broker carries, and the names of its lanes.

A ticket names an execution that is due, and nothing more; the row decides. The name of a lane
contains the store's uuid, so that deployments can share a broker without sharing tickets.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple

__all__ = [
    "LARGEST",
    "SCHEDULER_QUEUE",
    "Probe",
    "Sentinel",
    "Ticket",
    "WatchdogCall",
    "lane_of",
    "read_ticket",
    "ticket_text",
]

SCHEDULER_QUEUE = "scheduler"
# The longest id, in characters; the largest number, a year in seconds.
LONGEST = 64
LARGEST = 366 * 24 * 3600


class Ticket(NamedTuple):
    """An execution that is due, its store, and the attempt for which it was rung."""

    store: str
    execution: str
    ring: int = 0

    def to_text(self) -> str:
        """Return the body of the message."""
        return ticket_text(*self)


@dataclass(frozen=True)
class WatchdogCall:
    """The message that triggers the maintenance pass."""

    interval: int

    def to_text(self) -> str:
        """Return the body of the message."""
        return json.dumps({"scheduler": True, "interval": self.interval})


@dataclass(frozen=True)
class Sentinel:
    """A message that stays in a lane: when it is gone, the broker may have lost all tickets."""

    nonce: str

    def to_text(self) -> str:
        """Return the body of the message."""
        return json.dumps({"sentinel": self.nonce})


@dataclass(frozen=True)
class Probe:
    """A message that tests delivery: if it does not arrive, tickets do not either."""

    nonce: str

    def to_text(self) -> str:
        """Return the body of the message."""
        return json.dumps({"probe": self.nonce})


def ticket_text(store: str, execution: str, ring: int) -> str:
    """Return a ticket as the body of a message."""
    # Equals json.dumps at a fraction of its time: there may be very many tickets.
    return f"[{quoted(store)},{quoted(execution)},{ring}]"


def read_ticket(body: str) -> Ticket | WatchdogCall | Sentinel | Probe | None:
    """Return the message of a body; None if the body is not one of Sempre."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match message:
        case [str(store), str(execution), int(ring)] if _is_count(ring, least=0):
            return Ticket(store, execution, ring) if _are_plain(store, execution) else None
        case {"scheduler": True, "interval": int(interval)} if _is_count(interval, least=1):
            return WatchdogCall(interval)
        case {"sentinel": str(nonce)} if _are_plain(nonce):
            return Sentinel(nonce)
        case {"probe": str(nonce)} if _are_plain(nonce):
            return Probe(nonce)
        case _:
            return None


def _is_count(number: int, *, least: int) -> bool:
    # True is an int in Python, and some ints fit neither a timer nor a column.
    return type(number) is int and least <= number <= LARGEST


def _are_plain(*texts: str) -> bool:
    """Whether texts can be ids, which every store can look up."""
    return all(0 < len(text) <= LONGEST and text.isascii() and text.isprintable() for text in texts)


@lru_cache(maxsize=1024)
def lane_of(store: str, queue: str) -> str:
    """Return the lane of a queue for one store, in characters that every broker accepts."""
    safe = queue.replace("_", "__").replace(":", "_c").replace("/", "_s")
    return f"sempre.{store.replace('-', '')[:16]}.{safe}"
