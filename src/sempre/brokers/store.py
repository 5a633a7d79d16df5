"""The store as its own broker: no message is carried, a worker only waits.

Rows are the messages, and a worker finds rows by a query. So to put a message means to wake waiting
workers, and to reserve means to wait for a wake-up.
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
        watch: what wakes workers; by default a watch of this process only.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        """Begin to watch."""
        self._watch = watch or ThisProcess()
        self._thread = local()
        self._closed = False

    @property
    def capabilities(self) -> BrokerCapabilities:
        """The capabilities; whether other processes are heard may change at any time."""
        return _HEARS if self._watch.shared else _DEAF

    def put(self, messages: Sequence[Message]) -> list[str]:
        """Wake every waiting worker, once for all messages; the messages are not kept."""
        check_lanes({message.lane for message in messages})
        self._check_open()
        if messages:
            self._watch.wake_all()
        return [_HANDLE] * len(messages)

    def put_within(self, connection: object) -> None:
        """Wake every worker when the transaction of this connection commits, if that can be."""
        self._check_open()
        self._watch.wake_all_after_commit(connection)

    def reserve(self, lanes: Sequence[str], *, limit: int, wait: float) -> list[Delivery]:  # noqa: ARG002 - there is nothing to reserve
        """Wait until something may have changed in the store; return nothing."""
        check_lanes(lanes)
        self._check_open()
        self._thread.woken = self._watch.wait(wait)
        return []

    def was_woken(self) -> bool:
        """Return whether the last `reserve` of this thread ended by a wake-up, not by its time."""
        return bool(getattr(self._thread, "woken", False))

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Do nothing: nothing was delivered."""

    def put_back(self, deliveries: Sequence[Delivery], *, delay: float) -> None:
        """Do nothing: nothing was delivered."""

    def holds(self, lane: str, handle: str, body: str) -> bool:  # noqa: ARG002 - whatever is asked
        """Return False: no message is held."""
        self._check_open()
        return False

    def has_any(self, lane: str) -> bool:  # noqa: ARG002 - whatever is asked
        """Return False: no lane has a message."""
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
        """Stop listening to other processes until the next `reserve`."""
        self._watch.rest()

    def close(self) -> None:
        """Stop watching."""
        self._closed = True
        self._watch.close()

    def _check_open(self) -> None:
        if self._closed:
            raise BrokerError("the broker is closed; open another one.")
