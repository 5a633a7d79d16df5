"""The clock of a journey: the time stands still until the traveller moves the clock."""

from datetime import datetime

__all__ = ["TravelClock"]


class TravelClock:
    """A clock as the port defines, at the instant that the traveller last set."""

    def __init__(self, start: datetime) -> None:
        """Stand at an instant."""
        self._start = start
        self._now = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """Return the current virtual instant."""
        return self._now

    def elapsed(self) -> float:
        """Return the seconds of virtual time that have passed so far."""
        return self._elapsed

    def move_to(self, instant: datetime) -> None:
        """Stand at a later instant from now on; an earlier one moves nothing."""
        if instant > self._now:
            self._now = instant
            self._elapsed = (instant - self._start).total_seconds()
