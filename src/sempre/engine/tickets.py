"""Tickets: what the broker carries, and the names of its lanes.

A ticket says "look at this execution now" and nothing more; the row decides. Lanes carry the
store's uuid, so that deployments can share a broker and never meet each other's tickets.
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
# Of an id, in characters; and of a number: a year in seconds.
LONGEST = 64
LARGEST = 366 * 24 * 3600


class Ticket(NamedTuple):
    """An execution to look at, in which store, and at which attempt it was rung for."""

    store: str
    execution: str
    ring: int = 0

    def to_text(self) -> str:
        """Return it as the body of a message."""
        return ticket_text(*self)


@dataclass(frozen=True)
class WatchdogCall:
    """The message that triggers the maintenance pass."""

    interval: int

    def to_text(self) -> str:
        """Return it as the body of a message."""
        return json.dumps({"scheduler": True, "interval": self.interval})


@dataclass(frozen=True)
class Sentinel:
    """A message that only has to be there: when it is gone, so may be everything else."""

    nonce: str

    def to_text(self) -> str:
        """Return it as the body of a message."""
        return json.dumps({"sentinel": self.nonce})


@dataclass(frozen=True)
class Probe:
    """A message that only has to come: when it does not, tickets do not either."""

    nonce: str

    def to_text(self) -> str:
        """Return it as the body of a message."""
        return json.dumps({"probe": self.nonce})


def ticket_text(store: str, execution: str, ring: int) -> str:
    """Return a ticket as the body of a message."""
    # The same as json.dumps, in a fraction of its time: there may be very many.
    return f"[{quoted(store)},{quoted(execution)},{ring}]"


def read_ticket(body: str) -> Ticket | WatchdogCall | Sentinel | Probe | None:
    """Return what a body says; None if it is none of ours, whatever else it may be."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match said:
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
    # To Python True is a number, and there are numbers that no timer and no column takes.
    return type(number) is int and least <= number <= LARGEST


def _are_plain(*texts: str) -> bool:
    """Tell whether texts can be ids of ours, which every store can be asked for."""
    return all(0 < len(text) <= LONGEST and text.isascii() and text.isprintable() for text in texts)


@lru_cache(maxsize=1024)
def lane_of(store: str, queue: str) -> str:
    """Return the lane of a queue for one store, in letters that every broker takes."""
    safe = queue.replace("_", "__").replace(":", "_c").replace("/", "_s")
    return f"sempre.{store.replace('-', '')[:16]}.{safe}"
