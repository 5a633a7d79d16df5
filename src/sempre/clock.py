"""The one place that reads time.

Everything else is given the time as an argument. Planning's now is the store's, which every
store read returns; the clocks here only time a worker's own sleeps and its self-fencing, and
serve as the store's clock where the store has none of its own (memory, SQLite).
"""

import time
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """What tells the time to the edge of the system; tests and the simulator bring their own."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC. It may step back."""
        ...

    def elapsed(self) -> float:
        """Return seconds from a fixed point. It never goes back, and counts suspended time."""
        ...


class SystemClock:
    """The clock of this host."""

    def now(self) -> datetime:
        """Return the host's wall clock in UTC; whoever sets that clock moves this one."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Return seconds since boot, suspended time included where the system counts it."""
        return time.clock_gettime(_STEADY)


# CLOCK_BOOTTIME goes on during suspend, so a laptop that slept past its lease knows it.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
