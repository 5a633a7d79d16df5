"""The one place that reads time.

All other code gets the time as an argument. Planning uses the store's now, which every read of the
store returns. The clocks here time the sleeps and the self-fencing of a worker, and are the clock
of stores without a server (memory, SQLite).
"""

import time
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """The source of time of a process; tests and the simulator have their own."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC. The clock may be set back."""
        ...

    def elapsed(self) -> float:
        """Return seconds from a fixed point, never decreasing, including suspended time."""
        ...


class SystemClock:
    """The clock of this host."""

    def now(self) -> datetime:
        """Return the wall clock of the host in UTC."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Return seconds since boot, including suspended time where the system counts it."""
        return time.clock_gettime(_STEADY)


# CLOCK_BOOTTIME counts suspended time: a laptop that slept past its lease finds it expired.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
