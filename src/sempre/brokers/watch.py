"""Watches: what wakes a waiting worker when rows of the store have changed.

A watch carries no messages and may be wrong both ways: a worker that is woken in vain queries the
store in vain, and the next query finds a row whose wake-up was lost. A watch does not know when
rows become due; the waiting worker does.
"""

from typing import Protocol

from sempre.brokers.waker import Ending, Waker
from sempre.forking import PerProcess

__all__ = ["ThisProcess", "Watch"]


class Watch(Protocol):
    """Wakes workers where the store is its own broker. Used from many threads."""

    @property
    def shared(self) -> bool:
        """Whether wake-ups of other processes arrive at present."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait for a wake-up; False if none came within the seconds.

        A wake-up since the last wait of this thread ends the wait at once.
        """
        ...

    def wake_all(self) -> None:
        """Wake every worker that waits, in this process and in others."""
        ...

    def wake_all_after_commit(self, connection: object) -> None:
        """Wake every worker when the transaction of this connection commits, if that can be."""
        ...

    def wake(self) -> None:
        """End every wait of this process, and the next of each thread that does not wait now."""
        ...

    def rest(self) -> None:
        """Stop listening to other processes until the next wait."""
        ...

    def close(self) -> None:
        """End every wait and close every connection. Closing twice is fine."""
        ...


class ThisProcess:
    """A watch of one process; rows of other processes are found by queries."""

    def __init__(self) -> None:
        """Begin without waiting threads."""
        self._waker = PerProcess(Waker)

    @property
    def shared(self) -> bool:
        """No: nothing arrives from other processes."""
        return False

    def wait(self, seconds: float) -> bool:
        """Wait for a wake-up."""
        return self._waker.get().wait(seconds) is Ending.WOKEN

    def wake_all(self) -> None:
        """Wake every worker of this process."""
        self.wake()

    def wake_all_after_commit(self, connection: object) -> None:
        """Do nothing: no commit is reported to this process."""

    def wake(self) -> None:
        """End every wait of this process."""
        self._waker.get().wake()

    def rest(self) -> None:
        """Do nothing: this watch listens to no other process."""

    def close(self) -> None:
        """End every wait."""
        self.wake()
