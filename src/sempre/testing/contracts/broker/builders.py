"""Builders of the broker contracts: new lanes, calls in threads, and how long a contract waits.

A server's clock cannot be set, so contracts wait for delayed messages by reserving.
`PATIENCE` bounds such a wait on a busy machine; no contract asserts the length of the wait.
"""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from threading import Barrier, Thread
from typing import TypeVar
from uuid import uuid4

from sempre.clock import SystemClock
from sempre.ports.broker import Broker, Delivery, Message

__all__ = [
    "FOREVER",
    "PATIENCE",
    "Stopwatch",
    "all_at_once",
    "bodies_of",
    "delivered",
    "ended",
    "new_lane",
    "only",
    "put_one",
    "reserved",
]

T = TypeVar("T")

PATIENCE = 60.0
FOREVER = 3600.0
# A server's clock may be slewed while ours is not.
_SLEW = 0.99


class Stopwatch:
    """Measures the time since the construction of the watch."""

    def __init__(self) -> None:
        """Begin to measure."""
        self._clock = SystemClock()
        self._since = self._clock.elapsed()

    def has_passed(self, seconds: float) -> bool:
        """Return whether the given seconds have passed, within the tolerance of clocks."""
        return self._clock.elapsed() - self._since >= seconds * _SLEW


def new_lane(name: str = "lane") -> str:
    """Return a new, unused lane."""
    return f"{name}.{uuid4()}"


def put_one(
    broker: Broker, lane: str, body: str = "ring", *, delay: float = 0.0, priority: int = 1000
) -> str:
    """Put a message and return its handle."""
    [handle] = broker.put([Message(lane, body, delay, priority)])
    assert handle
    return handle


def only(broker: Broker, *lanes: str) -> Delivery:
    """Wait for one message and reserve the message."""
    [delivery] = broker.reserve(lanes, limit=1, wait=PATIENCE)
    return delivery


def delivered(broker: Broker, lanes: Sequence[str], *, count: int) -> list[Delivery]:
    """Reserve the given number of messages in several calls; each call but the first waits."""
    found: list[Delivery] = []
    while len(found) < count:
        more = broker.reserve(lanes, limit=count - len(found), wait=PATIENCE)
        assert more, f"only {len(found)} of {count} messages were delivered"
        found += more
    return found


def reserved(broker: Broker, *lanes: str, limit: int = 1000) -> list[Delivery]:
    """Reserve every message that is ready now."""
    return broker.reserve(lanes, limit=limit, wait=0)


def bodies_of(deliveries: Iterable[Delivery]) -> list[str]:
    """Return what deliveries say."""
    return [delivery.message.body for delivery in deliveries]


def ended(call: Callable[[], T]) -> Callable[[], T]:
    """Begin a call in a thread; the returned function waits for its end and returns its answer."""
    answers: SimpleQueue[T | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            answers.put(error)

    def answer() -> T:
        try:
            found = answers.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError("the call has not ended") from None
        if isinstance(found, BaseException):
            raise found
        return found

    # A daemon: a call that never ends fails its contract and must not hold up the others.
    Thread(target=run, daemon=True).start()
    return answer


def all_at_once(*calls: Callable[[], T]) -> list[T]:
    """Make each call in a thread of its own, all released at one moment; return the results."""
    barrier = Barrier(len(calls))

    def begun(call: Callable[[], T]) -> T:
        barrier.wait(timeout=PATIENCE)
        return call()

    answers = [ended(partial(begun, call)) for call in calls]
    return [answer() for answer in answers]
