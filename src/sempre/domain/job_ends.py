"""Exceptions by which a job ends its own attempt: `RetryLater` and `GiveUp`.

They are decisions of the job, like `Skip`, and work in threads, async jobs and child processes. The
transaction of `current().tx` is rolled back.
"""

from datetime import datetime, timedelta

from sempre.errors import SempreError
from sempre.grids.instants import END_OF_CALENDAR, read_instant
from sempre.grids.intervals import read_duration

__all__ = ["SHORTEST_WAIT", "GiveUp", "RetryLater"]

SHORTEST_WAIT = timedelta(seconds=1)
_FIELD = "RetryLater"


class GiveUp(SempreError):
    """Raised inside a job: the execution fails with this reason, and no retry follows."""


class RetryLater(SempreError):
    """Raised inside a job: the execution waits, and is tried again without using up a retry.

    >>> RetryLater("5m", "the rate limit is reached").after
    datetime.timedelta(seconds=300)

    Attributes:
        after: how long the execution waits, or the instant until which it waits.
        reason: for people; may be empty.
    """

    def __init__(self, after: timedelta | datetime | float | str, reason: str = "") -> None:
        """Take the wait of a second or more, or an instant with a zone.

        Raises:
            IntervalError: the wait cannot be read, or is below a second.
            InstantError: the instant has no zone.
        """
        super().__init__(after, reason)
        self.after = _read(after)
        self.reason = str(reason)

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def _read(after: object) -> timedelta | datetime:
    if isinstance(after, datetime):
        return min(read_instant(_FIELD, after), END_OF_CALENDAR)
    return read_duration(_FIELD, after, least=SHORTEST_WAIT)
