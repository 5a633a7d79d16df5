"""Virtual time: one true time that only the timeline moves, and clocks that deviate from it.

The true time is counted in microseconds. The clock of the store and the clock of each worker have
their own deviation. Setting a clock moves its `now`, and leaves the speed of time unchanged.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["MICROSECONDS", "START", "VirtualClock", "VirtualTime"]

MICROSECONDS = 1_000_000
START = datetime(2026, 3, 29, 0, 0, 30, tzinfo=UTC)
"""The start of every simulation: an hour before the clocks of Europe go forward."""


@dataclass
class VirtualTime:
    """The true time since the beginning, in microseconds."""

    now: int = 0

    @property
    def seconds(self) -> float:
        """The true time since the beginning, in seconds."""
        return self.now / MICROSECONDS


class VirtualClock:
    """A clock as the port promises: `now` may be set, and `elapsed` always goes forward.

    Args:
        time: the true time.
        skew: how far `now` is ahead of the true time.
        origin: value of `elapsed` at the beginning, in seconds.
        drift: seconds that the clock gains in each second of true time.

    Attributes:
        skew: how far `now` is ahead of the true time.
        rate: seconds of this clock in each second of true time.
    """

    def __init__(
        self,
        time: VirtualTime,
        *,
        skew: timedelta = timedelta(0),
        origin: float = 0.0,
        drift: float = 0.0,
    ) -> None:
        """Show the true time with a skew and a drift."""
        self._time = time
        self._origin = origin
        self.rate = 1.0 + drift
        self.skew = skew

    def now(self) -> datetime:
        """Return the instant that this clock shows."""
        return START + timedelta(microseconds=self._time.now * self.rate) + self.skew

    def elapsed(self) -> float:
        """Return seconds since this clock's own origin."""
        return self._origin + self._time.now * self.rate / MICROSECONDS

    def true_seconds(self, seconds: float) -> float:
        """Return a duration by this clock in seconds of true time."""
        return seconds / self.rate

    def step(self, by: timedelta) -> None:
        """Set the clock forward or back."""
        self.skew += by
