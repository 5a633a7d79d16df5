"""Time limits of children, as the fork server keeps them: first SIGTERM, after the grace SIGKILL.

The fork server has one thread and runs no code of a job, so no job can keep the server from reading
the clock. A thread of the worker is blocked for as long as a job holds the interpreter.
"""

from math import inf

from sempre.clock import Clock

__all__ = ["TimeLimits"]

# A poll does not count the time that the host was suspended; the clock does.
LONGEST_WAIT = 60.0


class TimeLimits:
    """The instant at which each child is to be asked to end, or to be killed; never early.

    The fork server copies every page of memory that it writes to, so there is one number for each
    child and the earliest of all, not a heap of objects.
    """

    def __init__(self, clock: Clock, grace: float) -> None:
        """Begin without limits; `grace` is the time in seconds between SIGTERM and SIGKILL."""
        self._clock = clock
        self._grace = grace
        self._at: dict[int, float] = {}
        self._asked: set[int] = set()
        self._next = inf

    def set(self, child: int, at: float) -> None:
        """Let a child run until a point of the clock's `elapsed`."""
        if child not in self._asked:
            self._put(child, at)

    def ask(self, child: int) -> bool:
        """Begin the grace of a child that is asked to end now; False after an earlier request."""
        if child in self._asked:
            return False
        self._asked.add(child)
        self._put(child, self._clock.elapsed() + self._grace)
        return True

    def has_asked(self, child: int) -> bool:
        """Return whether a child was asked to end."""
        return child in self._asked

    def forget(self, child: int) -> None:
        """Drop the limit of a child that has exited."""
        self._at.pop(child, None)
        self._asked.discard(child)

    def wait(self) -> float | None:
        """Return the milliseconds until the next limit; None without limits."""
        if self._next == inf:
            return None
        return 1000 * min(max(self._next - self._clock.elapsed(), 0.0), LONGEST_WAIT)

    def due(self) -> list[int]:
        """Return the children whose limit or grace is over, each once for each."""
        if self._next == inf or (now := self._clock.elapsed()) < self._next:
            return []
        due = [child for child, at in self._at.items() if at <= now]
        for child in due:
            del self._at[child]
        self._next = min(self._at.values(), default=inf)
        return due

    def _put(self, child: int, at: float) -> None:
        self._at[child] = at
        # A forgotten limit stays here: the cost is one needless reading of the clock.
        self._next = min(self._next, at)
