"""Watching the store: what wakes a worker when something in the store has changed.

A watch carries nothing and may be wrong both ways: a worker that is woken for nothing queries the
store for nothing, and a row that no wake-up told of is found by the next query. A watch does not
know when rows become due; the worker that waits does.
"""

from typing import Protocol

from sempre.brokers.waker import Ending, Waker
from sempre.forking import PerProcess

__all__ = ["ThisProcess", "Watch"]


class Watch(Protocol):
    """What can be waited for where the store is its own broker. Used from many threads."""

    @property
    def shared(self) -> bool:
        """Whether wake-ups of other processes arrive at present."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken; False if that did not happen in so many seconds.

        Whatever a thread was told since its last wait ends the next one at once.
        """
        ...

    def tell(self) -> None:
        """Wake every worker that waits, in this process and in others."""
        ...

    def tell_within(self, connection: object) -> None:
        """Wake every worker when the transaction of this connection commits, if that can be."""
        ...

    def wake(self) -> None:
        """End every wait of this process, and the next of each thread that does not wait now."""
        ...

    def rest(self) -> None:
        """Hear other processes no longer, until the next wait."""
        ...

    def close(self) -> None:
        """End every wait and give back whatever is held. Closing twice is fine."""
        ...


class ThisProcess:
    """A watch that hears its own process only; what others place is found by queries."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._waker = PerProcess(Waker)

    @property
    def shared(self) -> bool:
        """No: nothing arrives from other processes."""
        return False

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken."""
        return self._waker.get().wait(seconds) is Ending.WOKEN

    def tell(self) -> None:
        """Wake every worker of this process."""
        self.wake()

    def tell_within(self, connection: object) -> None:
        """Do nothing: the commit of another connection wakes nobody here."""

    def wake(self) -> None:
        """End every wait of this process."""
        self._waker.get().wake()

    def rest(self) -> None:
        """Do nothing: nothing is heard from other processes."""

    def close(self) -> None:
        """End every wait."""
        self.wake()
