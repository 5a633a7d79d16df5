"""The port of a broker: the bell that says "look now".

A broker carries short texts with a delay and a priority in named lanes. It may lie, repeat itself
or fall silent: the store alone decides safety, so nothing here has to be durable or exact. What a
message means is not the broker's business; see `engine/tickets.py`.

Failures: `BrokerUnavailable` for anything that keeps it from doing what was asked (down, full,
draining, read-only). Whoever asked goes on without it.

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
    """What a broker can do, declared; nobody finds out by trying.

    Attributes:
        carries: whether it carries messages. One that does not (the store as its own broker)
            only waits: workers find their work in the store each time they wake.
        horizon: the longest delay that it is given; what is due later is put when it is nearer.
        prioritises: whether a lower priority is delivered sooner.
        shared: whether other processes hear it; of a broker that wakes, whether it hears them now.
        wakes: whether the broker is the store's own, which wakes workers and has what `Wakes` has.
        precision: to how many seconds it rounds a delay up; 0 for one that does not.
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
        lane: where; letters, digits, dots, dashes and underscores, at most 200 of them, the first
            a letter or a digit.
        body: what, at most 60,000 bytes as UTF-8.
        delay: seconds before it may be delivered; a broker may round up to whole seconds.
        priority: lower is sooner, 0 to 2**31 - 1.
    """

    lane: str
    body: str
    delay: float = 0.0
    priority: int = 1000


@dataclass(frozen=True)
class Delivery:
    """A message that this process has reserved: it is delivered to nobody else for a while.

    Attributes:
        message: what was put; its delay is 0.
        handle: the broker's own name for it, as `put` gave it.
        receipt: the broker's own name for this reservation of it; another time it has another.
    """

    message: Message
    handle: str
    receipt: str = ""


class Broker(Protocol):
    """What every broker promises. The memory broker is its shortest statement as code."""

    @property
    def capabilities(self) -> BrokerCapabilities:
        """What it can do."""
        ...

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Take messages in, in one round trip for many; return a handle for each, in order.

        An empty handle where one was refused (too big, out of memory) though others were taken.

        Raises:
            BrokerUnavailable: it took none of them, or nobody knows how many: putting them again
                is harmless.
            NamingError: a lane that no broker can have; nothing was put.
        """
        ...

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:
        """Return up to `limit` messages whose delay is over, by priority, waiting for the first.

        An empty list after `wait` seconds without one, or when somebody called `wake`. A message
        that is neither acknowledged nor put back within two minutes is delivered again, and may
        be so at once when the process that reserved it ends.
        """
        ...

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Let go of messages that were reserved by this broker object; they are gone.

        One that has meanwhile been delivered again is left alone: it is no longer ours.
        """
        ...

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Let reserved messages be delivered again after a delay, to anyone."""
        ...

    def holds(self, lane: str, handle: str, body: str) -> bool:
        """Tell whether a message that was put is still there, waiting or reserved.

        The body is compared: a broker that has lost its memory may give the handle out again.
        """
        ...

    def has_any(self, lane: str) -> bool:
        """Tell whether a lane has a message, ready or delayed; reserved ones do not count."""
        ...

    def empty(self, lanes: Sequence[str]) -> int:
        """Throw away what waits in these lanes, ready or delayed; return how many there were.

        Whatever is reserved, or put meanwhile, may stay. No other lane is touched. It is what a
        drill does to see that nothing depends on a broker's memory.
        """
        ...

    def wake(self) -> None:
        """Let every `reserve` of this object that waits return at once; also the next one."""
        ...

    def close(self) -> None:
        """Give back every connection. Closing twice is fine; any later use is an error."""
        ...


class Wakes(Protocol):
    """What the store's own broker promises besides, if its capabilities say that it wakes."""

    def put_within(self, connection: object) -> None:
        """Wake every worker that waits when the transaction of this connection commits.

        Nothing where the database cannot do that. What the driver raises comes through: the
        transaction is the caller's.
        """
        ...

    def was_woken(self) -> bool:
        """Tell whether the last `reserve` of this thread ended by a wake-up, not by its time."""
        ...

    def rest(self) -> None:
        """Hear other processes no longer, until the next `reserve`: nobody reads what they say."""
        ...


@runtime_checkable
class Remote(Protocol):
    """What a broker promises besides, if its capabilities say that it is remote."""

    def answer_within(self, seconds: float) -> None:
        """Let no call wait longer than this for the server, from now on; never for longer.

        A call that takes longer raises BrokerUnavailable. The time holds for each thousand messages
        of a call, with connecting and with waiting for other threads, and does not count for how
        long a `reserve` is asked to wait.
        """
        ...
