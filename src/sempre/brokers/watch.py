"""Watching the store: what tells a worker that something in it has changed, so that it looks now.

A watch carries nothing and may be wrong both ways: whoever looks too often finds nothing, and what
it misses is found at the next look. It knows nothing of when rows become due; who waits does.
"""

from typing import Protocol

from sempre.brokers.processes import PerProcess
from sempre.brokers.waker import Ending, Waker

__all__ = ["ThisProcess", "Watch"]


class Watch(Protocol):
    """What can be waited for where the store is its own broker. Used from many threads."""

    shared: bool
    """Whether it hears what other processes tell."""

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken; False if that did not happen in so many seconds.

        Whatever a thread was told since its last wait ends the next one at once.
        """
        ...

    def tell(self) -> None:
        """Tell everybody who watches, in this process and others, that something has changed."""
        ...

    def wake(self) -> None:
        """End every wait of this process, and the next of each thread that does not wait now."""
        ...

    def close(self) -> None:
        """End every wait and give back whatever is held. Closing twice is fine."""
        ...


class ThisProcess:
    """A watch that hears its own process only; others are found by looking."""

    shared = False

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._waker = PerProcess(Waker)

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken."""
        return self._waker.get().wait(seconds) is Ending.WOKEN

    def tell(self) -> None:
        """Wake whoever waits in this process."""
        self.wake()

    def wake(self) -> None:
        """End every wait of this process."""
        self._waker.get().wake()

    def close(self) -> None:
        """End every wait."""
        self.wake()
