"""Builders of the broker contracts: new lanes, calls in threads, and how long a contract waits.

A server's clock cannot be set, so what becomes due later is waited for, by asking the broker.
`PATIENCE` is how long that may take on a machine that is busy; nothing is asserted about it.
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
    """Tells how much time has passed since it was made."""

    def __init__(self) -> None:
        """Begin to measure."""
        self._clock = SystemClock()
        self._since = self._clock.elapsed()

    def has_passed(self, seconds: float) -> bool:
        """Tell whether so many seconds have passed, but for what a clock may be off."""
        return self._clock.elapsed() - self._since >= seconds * _SLEW


def new_lane(name: str = "lane") -> str:
    """Return a lane that nobody has used."""
    return f"{name}.{uuid4()}"


def put_one(
    broker: Broker, lane: str, body: str = "ring", *, delay: float = 0.0, priority: int = 1000
) -> str:
    """Put a message and return its handle."""
    [handle] = broker.put([Message(lane, body, delay, priority)])
    assert handle
    return handle


def only(broker: Broker, *lanes: str) -> Delivery:
    """Reserve one message, waiting for it."""
    [delivery] = broker.reserve(lanes, limit=1, wait=PATIENCE)
    return delivery


def delivered(broker: Broker, lanes: Sequence[str], *, count: int) -> list[Delivery]:
    """Reserve so many messages, in as many calls as it takes; each but the first waits."""
    found: list[Delivery] = []
    while len(found) < count:
        more = broker.reserve(lanes, limit=count - len(found), wait=PATIENCE)
        assert more, f"only {len(found)} of {count} messages were delivered"
        found += more
    return found


def reserved(broker: Broker, *lanes: str, limit: int = 1000) -> list[Delivery]:
    """Reserve what is there by now."""
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
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
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
    """Make calls in as many threads, all let go at the same moment; return their answers."""
    barrier = Barrier(len(calls))

    def begun(call: Callable[[], T]) -> T:
        barrier.wait(timeout=PATIENCE)
        return call()

    answers = [ended(partial(begun, call)) for call in calls]
    return [answer() for answer in answers]
