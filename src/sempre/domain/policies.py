"""Policies of a schedule: retries, overlap and unknown outcomes."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from sempre.errors import PolicyError, nearest
from sempre.errors.wording import written_length
from sempre.grids.intervals import read_duration

__all__ = ["OnUnknown", "Overlap", "Retry", "check_choice", "check_count", "doubling"]

LARGEST_COUNT = 2**31 - 1

Overlap = Literal["skip", "wait", "allow", "replace"]
"""What happens to a slot that comes while an earlier execution runs."""

OnUnknown = Literal["rerun", "skip", "hold"]
"""What happens when a lease expires, so that the outcome of an execution is unknown."""


@dataclass(frozen=True, init=False)
class Retry:
    """How often a failed execution is tried again, and after how long.

    The wait doubles each time: base, 2 * base, 4 * base, ... but never over `cap`.

    >>> [str(Retry(4, base="10s", cap="1m").wait(n)) for n in (1, 2, 3, 4)]
    ['0:00:10', '0:00:20', '0:00:40', '0:01:00']

    Args:
        limit: tries after the first one; 0 is none.
        base: the wait before the first retry, such as "10s".
        cap: the longest wait.

    Raises:
        PolicyError: a limit that is not a whole number of 0 or more, or a cap below the base.
        IntervalError: a duration that cannot be read or is below a second.
    """

    limit: int
    base: timedelta
    cap: timedelta

    def __init__(
        self,
        limit: int = 0,
        *,
        base: timedelta | float | str = "10s",
        cap: timedelta | float | str = "10m",
    ) -> None:
        """Check and normalise what the user wrote."""
        object.__setattr__(self, "limit", check_count("retry", limit, least=0))
        least = timedelta(seconds=1)
        object.__setattr__(self, "base", read_duration("retry base", base, least=least))
        object.__setattr__(self, "cap", read_duration("retry cap", cap, least=least))
        if self.cap < self.base:
            allowed = f"the base of {written_length(self.base)} or more"
            raise PolicyError("retry cap", cap, allowed=allowed)

    def __repr__(self) -> str:
        """Write the policy as code."""
        if not self.limit:
            return "Retry(0)"
        base, cap = written_length(self.base), written_length(self.cap)
        return f"Retry({self.limit}, base={base!r}, cap={cap!r})"

    def wait(self, failures: int) -> timedelta:
        """Return how long to wait after the n-th failure, counting from 1."""
        return doubling(self.base, self.cap, failures)


def doubling(base: timedelta, cap: timedelta, failures: int) -> timedelta:
    """Return the wait after the n-th failure, counting from 1: base, doubled each time, to cap."""
    # Beyond this many doublings the cap decides; a larger power would only overflow.
    doublings = min(failures - 1, (cap // base).bit_length())
    return min(cap, base * (1 << doublings))


def check_choice(field: str, value: object, choices: object) -> str:
    """Return one of the words of a Literal type, or raise PolicyError."""
    allowed = get_args(choices)
    if isinstance(value, str) and value in allowed:
        return value
    hint = nearest(value, allowed) if isinstance(value, str) else ""
    raise PolicyError(field, value, allowed=", ".join(allowed), hint=hint)


def check_count(field: str, value: object, *, least: int) -> int:
    """Return a whole number of `least` or more, or raise PolicyError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise PolicyError(field, value, allowed=f"a whole number of {least} or more")
    if value > LARGEST_COUNT:
        raise PolicyError(field, value, allowed=f"{least} to {LARGEST_COUNT}")
    return value
