"""Policies of a schedule: retries, overlap and unknown outcomes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from sempre.domain.exception_types import ExceptionTypes, read_types
from sempre.domain.spread import spread
from sempre.errors import PolicyError, nearest
from sempre.errors.wording import written_length
from sempre.grids.intervals import read_duration

__all__ = ["OnUnknown", "Overlap", "Retry", "check_choice", "check_count", "doubling"]

LARGEST_COUNT = 2**31 - 1
MICROSECOND = timedelta(microseconds=1)

Overlap = Literal["skip", "wait", "allow", "replace"]
"""What happens to a slot that comes while an earlier execution runs."""

OnUnknown = Literal["rerun", "skip", "hold"]
"""What happens when a lease expires, so that the outcome of an execution is unknown."""


@dataclass(frozen=True, init=False)
class Retry:
    """How often a failed execution is tried again, after how long, and after which exceptions.

    The wait doubles each time: base, 2 * base, 4 * base, ... but never over `cap`.

    >>> [str(Retry(4, base="10s", cap="1m").wait(n)) for n in (1, 2, 3, 4)]
    ['0:00:10', '0:00:20', '0:00:40', '0:01:00']

    Args:
        limit: tries after the first one; 0 is none.
        base: the wait before the first retry, such as "10s".
        cap: the longest wait, without jitter.
        jitter: the most that is added to a wait, so that executions that failed together are tried
            again at different times.
        only: exception types whose failures are tried again, subclasses included; without any,
            all types. A type is a class, or its qualified name such as "myapp.errors.Busy".
        never: exception types whose failures are final, even if `only` names them too.

    Raises:
        PolicyError: a limit that is not a whole number of 0 or more, a cap below the base, or a
            value that is no exception type.
        IntervalError: a duration that cannot be read, or a base or cap below a second.
    """

    limit: int
    base: timedelta
    cap: timedelta
    jitter: timedelta
    only: tuple[str, ...]
    never: tuple[str, ...]

    def __init__(
        self,
        limit: int = 0,
        *,
        base: timedelta | float | str = "10s",
        cap: timedelta | float | str = "10m",
        jitter: timedelta | float | str = 0,
        only: ExceptionTypes = (),
        never: ExceptionTypes = (),
    ) -> None:
        """Check and normalise what the user wrote."""
        object.__setattr__(self, "limit", check_count("retry", limit, least=0))
        least = timedelta(seconds=1)
        object.__setattr__(self, "base", read_duration("retry base", base, least=least))
        object.__setattr__(self, "cap", read_duration("retry cap", cap, least=least))
        if self.cap < self.base:
            allowed = f"the base of {written_length(self.base)} or more"
            raise PolicyError("retry cap", cap, allowed=allowed)
        object.__setattr__(self, "jitter", read_duration("retry jitter", jitter))
        object.__setattr__(self, "only", read_types("retry only", only))
        object.__setattr__(self, "never", read_types("retry never", never))

    def __repr__(self) -> str:
        """Write the policy as code."""
        more = {"only": self.only, "never": self.never}
        parts = [f"{name}={types!r}" for name, types in more.items() if types]
        if self.jitter:
            parts.insert(0, f"jitter={written_length(self.jitter)!r}")
        if self.limit or parts:
            base, cap = written_length(self.base), written_length(self.cap)
            parts = [f"base={base!r}", f"cap={cap!r}", *parts]
        return f"Retry({', '.join([str(self.limit), *parts])})"

    def wait(self, failures: int, execution_id: str = "") -> timedelta:
        """Return how long an execution waits after its n-th failure, counting from 1.

        The jitter of a wait depends on the execution and the number of the failure alone: planning
        the failure again gives an equal wait.
        """
        wait = doubling(self.base, self.cap, failures)
        if not self.jitter:
            return wait
        steps = self.jitter // MICROSECOND
        return wait + MICROSECOND * spread(f"{execution_id}\0{failures}", steps + 1)

    def covers(self, types: Iterable[str]) -> bool:
        """Whether a failure is of a type that is tried again.

        Args:
            types: the qualified names of the exception's type and its base types; empty for a
                failure that is no exception of the job, such as a run that could not begin. Such
                a failure is tried again.
        """
        names = frozenset(types)
        is_named = not (self.only and names.isdisjoint(self.only))
        return not names or (is_named and names.isdisjoint(self.never))


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
