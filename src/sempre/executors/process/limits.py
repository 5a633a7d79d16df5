"""Time limits of children, as the nursery keeps them: a request to end first, later a kill.

The nursery has one thread and runs nothing of the user's, so no job can keep it from looking at the
clock. A thread of the worker could be kept from it for as long as a job holds the interpreter.
"""

from math import inf

from sempre.clock import Clock

__all__ = ["Limits"]

# A poll does not count the time that the host was suspended; the clock does.
LONGEST_WAIT = 60.0


class Limits:
    """When each child is to be asked to end, and when to be killed; late, but never early.

    A nursery copies every page of memory that it writes to, so this is one number for each child
    and the earliest of them, not a heap of objects.
    """

    def __init__(self, clock: Clock, grace: float) -> None:
        """Begin without limits; `grace` is the time in seconds between request and kill."""
        self._clock = clock
        self._grace = grace
        self._at: dict[int, float] = {}
        self._asked: set[int] = set()
        self._next = inf

    def anew(self) -> "Limits":
        """Return the same clock and grace, without limits: for another nursery."""
        return Limits(self._clock, self._grace)

    def set(self, child: int, at: float) -> None:
        """Let a child run until a point of the clock's `elapsed`."""
        if child not in self._asked:
            self._put(child, at)

    def ask(self, child: int) -> bool:
        """Begin the grace of a child that is asked to end now; False if it was asked before."""
        if child in self._asked:
            return False
        self._asked.add(child)
        self._put(child, self._clock.elapsed() + self._grace)
        return True

    def has_asked(self, child: int) -> bool:
        """Tell whether a child was asked to end."""
        return child in self._asked

    def forget(self, child: int) -> None:
        """Drop what is kept of a child that is gone."""
        self._at.pop(child, None)
        self._asked.discard(child)

    def wait(self) -> float | None:
        """Return for how many milliseconds nothing is due; None if nothing ever is."""
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
        # A limit that is forgotten leaves this behind: one look at the clock in vain.
        self._next = min(self._next, at)
