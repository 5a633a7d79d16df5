"""Virtual time: one true time that only the timeline moves, and clocks that show it more or less.

The true time is counted in microseconds. The store's clock and those of the workers are off by
their own amounts; setting one of them moves what it shows, never how fast time passes.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["MICROSECONDS", "START", "VirtualClock", "VirtualTime"]

MICROSECONDS = 1_000_000
START = datetime(2026, 3, 29, 0, 0, 30, tzinfo=UTC)
"""When simulations begin: an hour before the clocks of Europe go forward."""


@dataclass
class VirtualTime:
    """The true time since the beginning, in microseconds."""

    now: int = 0

    @property
    def seconds(self) -> float:
        """The true time since the beginning, in seconds."""
        return self.now / MICROSECONDS


class VirtualClock:
    """A clock by the port's promise: `now` may be set, `elapsed` goes on whatever happens.

    Args:
        time: the true time.
        skew: by how much `now` is wrong.
        origin: what `elapsed` shows at the beginning.
        drift: by how many seconds it gains on the true time in each second.

    Attributes:
        skew: by how much `now` is wrong.
        rate: how many of its seconds pass in a true one.
    """

    def __init__(
        self,
        time: VirtualTime,
        *,
        skew: timedelta = timedelta(0),
        origin: float = 0.0,
        drift: float = 0.0,
    ) -> None:
        """Show the true time, as wrong as told."""
        self._time = time
        self._origin = origin
        self.rate = 1.0 + drift
        self.skew = skew

    def now(self) -> datetime:
        """Return the instant that this clock shows."""
        return START + timedelta(microseconds=self._time.now * self.rate) + self.skew

    def elapsed(self) -> float:
        """Return seconds from this clock's own point."""
        return self._origin + self._time.now * self.rate / MICROSECONDS

    def true_seconds(self, seconds: float) -> float:
        """Return how long something takes that takes so many seconds by this clock."""
        return seconds / self.rate

    def step(self, by: timedelta) -> None:
        """Set the clock forward or back."""
        self.skew += by
