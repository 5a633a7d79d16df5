"""The port of a broker: it carries messages that wake workers.

A broker carries short texts with a delay and a priority in named lanes. It may lose, repeat or
forge messages: the store alone decides safety, so a broker need not be durable or exact. A broker
does not know what a message means; see `engine/tickets.py`.

Failures: `BrokerUnavailable` for every reason that keeps a broker from answering a call (down,
full, draining, read-only). The caller goes on without the broker.

A broker is used from several threads at once; each delivery is finished by the thread that
reserved it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol, runtime_checkable

__all__ = [
    "LARGEST_BODY",
    "LARGEST_PRIORITY",
    "Broker",
    "BrokerCapabilities",
    "Delivery",
    "Message",
    "Remote",
    "Wakes",
]

LARGEST_BODY = 60_000
"""How many bytes a body may have as UTF-8."""

LARGEST_PRIORITY = 2**31 - 1
"""The priority of what is least urgent."""


@dataclass(frozen=True)
class BrokerCapabilities:
    """What a broker can do, declared: callers never find out by trying.

    Attributes:
        carries: whether the broker carries messages. One that does not (the store as its own
            broker) only waits: workers find their work in the store each time they wake.
        horizon: the longest delay of a message; rows that are due later are rung when nearer.
        prioritises: whether a lower priority is delivered sooner.
        shared: whether messages reach other processes; of a broker that wakes, whether wake-ups of
            other processes reach this one now.
        wakes: whether the broker is the store's own, which wakes workers and has what `Wakes` has.
        precision: seconds to which a delay is rounded up; 0 if it is not.
        remote: whether calls go to a server, which may not answer; the broker is a `Remote` then.
    """

    carries: bool
    horizon: timedelta
    prioritises: bool
    shared: bool
    precision: float = 0.0
    wakes: bool = False
    remote: bool = False


class Message(NamedTuple):
    """A text to be delivered.

    Attributes:
        lane: letters, digits, dots, dashes and underscores, at most 200 of them, the first a letter
            or a digit.
        body: at most 60,000 bytes as UTF-8.
        delay: seconds before the message may be delivered; a broker may round up to whole seconds.
        priority: lower is sooner, 0 to 2**31 - 1.
    """

    lane: str
    body: str
    delay: float = 0.0
    priority: int = 1000


@dataclass(frozen=True)
class Delivery:
    """A message that this process has reserved: no other process receives it for a while.

    Attributes:
        message: the message that was put; its delay is 0.
        handle: the broker's own name of the message, as `put` returned it.
        receipt: the broker's own name of this reservation; each reservation has another one.
    """

    message: Message
    handle: str
    receipt: str = ""


class Broker(Protocol):
    """What every broker promises. The memory broker is its shortest implementation."""

    @property
    def capabilities(self) -> BrokerCapabilities:
        """What the broker can do."""
        ...

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Put messages, in one round trip for many; return a handle for each, in order.

        The handle is empty for a message that was refused (too big, out of memory) though others
        were taken.

        Raises:
            BrokerUnavailable: the broker took none of the messages, or an unknown number: putting
                them again is harmless.
            NamingError: a lane that no broker can have; nothing was put.
        """
        ...

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return up to `limit` messages whose delay is over, by priority, waiting for the first.

        An empty list after `wait` seconds without a message, or after a call of `wake`. A message
        that is neither acknowledged nor put back within two minutes is delivered again, perhaps at
        once when the process that reserved it ends.
        """
        ...

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Delete messages that were reserved by this broker object.

        A message that has meanwhile been delivered again is left alone: its reservation is over.
        """
        ...

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Let reserved messages be delivered again after a delay, to any process."""
        ...

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Return whether a message that was put is still there, waiting or reserved.

        The body is compared: a broker that has lost its messages may give the handle out again.
        """
        ...

    def has_any(self, lane: str) -> bool:
        """Return whether a lane has a message, ready or delayed; reserved ones do not count."""
        ...

    def empty(self, lanes: Sequence[str]) -> int:
        """Delete the messages of these lanes, ready or delayed; return how many there were.

        Messages that are reserved, or put meanwhile, may stay. No other lane is touched. A drill
        empties lanes to see that nothing depends on the broker's messages.
        """
        ...

    def wake(self) -> None:
        """Let every waiting `reserve` of this object return at once; also the next one."""
        ...

    def close(self) -> None:
        """Close every connection. Closing twice is fine; any later use is an error."""
        ...


class Wakes(Protocol):
    """What a broker promises besides, if its capabilities say that it wakes: the store's own."""

    def put_within(self, connection: object) -> None:
        """Wake every worker that waits when the transaction of this connection commits.

        Nothing happens where the database cannot do that. An error of the driver is raised as it
        is: the transaction is the caller's.
        """
        ...

    def was_woken(self) -> bool:
        """Return whether the last `reserve` of this thread ended by a wake-up, not by its time."""
        ...

    def rest(self) -> None:
        """Receive no wake-ups of other processes until the next `reserve`."""
        ...


@runtime_checkable
class Remote(Protocol):
    """What a broker promises besides, if its capabilities say that it is remote."""

    def answer_within(self, seconds: float) -> None:
        """Let no call wait longer than this for the server, from now on; it never grows again.

        A call that takes longer raises BrokerUnavailable. The limit holds for each thousand
        messages of a call, includes connecting and waiting for other threads, and comes on top of
        the time that a `reserve` is asked to wait.
        """
        ...
