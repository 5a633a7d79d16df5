"""The store as its own bell: it carries nothing and only waits.

Rows are the messages, and a worker finds them by looking. So putting one means telling whoever
waits that there is something to look at, and reserving means waiting to be told.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from threading import local

from sempre.brokers.lanes import check_lanes
from sempre.brokers.watch import ThisProcess, Watch
from sempre.errors import BrokerError
from sempre.ports.broker import BrokerCapabilities, Delivery, Message

__all__ = ["StoreBroker"]

_HANDLE = "row"
_DEAF = BrokerCapabilities(
    carries=False, horizon=timedelta(days=1), prioritises=False, shared=False, wakes=True
)
_HEARS = replace(_DEAF, shared=True)


class StoreBroker:
    """The broker of a deployment that has only a store.

    Args:
        watch: by what it hears of changes; by default of those of its own process.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        """Begin to watch."""
        self._watch = watch or ThisProcess()
        self._thread = local()
        self._closed = False

    @property
    def capabilities(self) -> BrokerCapabilities:
        """What it can do; whether it hears other processes may change at any time."""
        return _HEARS if self._watch.shared else _DEAF

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Tell whoever waits, once for all messages; nothing of them is kept."""
        check_lanes({message.lane for message in messages})
        self._check_open()
        if messages:
            self._watch.tell()
        return [_HANDLE] * len(messages)

    def put_within(self, connection: object) -> None:
        """Wake every worker when the transaction of this connection commits, if that can be."""
        self._check_open()
        self._watch.tell_within(connection)

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:  # noqa: ARG002 - it reserves none
        """Wait until something may have changed in the store; return nothing."""
        check_lanes(lanes)
        self._check_open()
        self._thread.woken = self._watch.wait(wait)
        return []

    def was_woken(self) -> bool:
        """Tell whether the last `reserve` of this thread ended by a wake-up, not by its time."""
        return bool(getattr(self._thread, "woken", False))

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Do nothing: nothing was delivered."""

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Do nothing: nothing was delivered."""

    def holds(self, lane: str, handle: str, body: str) -> bool:  # noqa: ARG002 - whatever is asked
        """Tell that nothing is held."""
        self._check_open()
        return False

    def has_any(self, lane: str) -> bool:  # noqa: ARG002 - whatever is asked
        """Tell that no lane has anything."""
        self._check_open()
        return False

    def empty(self, lanes: Sequence[str]) -> int:
        """Do nothing: the messages are rows, and those stay."""
        check_lanes(lanes)
        self._check_open()
        return 0

    def wake(self) -> None:
        """End every wait, and the next one of each thread that does not wait now."""
        self._watch.wake()

    def rest(self) -> None:
        """Hear other processes no longer, until the next `reserve`."""
        self._watch.rest()

    def close(self) -> None:
        """Stop watching."""
        self._closed = True
        self._watch.close()

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError("the broker is closed; open another one.")
