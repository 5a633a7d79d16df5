"""Capacity: how many executions a worker runs, and how many more it claims.

A worker with very short jobs claims more than it has hands for, as many as are likely to end within
a second, so that it need not query the store for each. It claims again when half of them have
ended: a claim of one costs as much as a claim of a hundred. The first claim is small, and each
further one up to twice as large as the last: no run should wait until thousands are claimed. A run
that is parked for longer than a second, because a job turned out long, is given back.

A worker claims nothing while too many ends wait to be recorded: if the worker died now, all those
executions would run once more.
"""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Lock

from sempre.clock import Clock
from sempre.ports.executor import Run

__all__ = ["FEW", "MOST_PARKED", "MOST_UNRECORDED", "Capacity"]

PARKED_SECONDS = 1.0
FEW = 100
MOST_PARKED = 2000
MOST_UNRECORDED = 2000
WEIGHT = 0.2


class Capacity:
    """The runs of one worker: those under way, and those parked for a moment.

    Runs are kept by their fence: a run that outlived its lease may still be under way when its
    execution is claimed again.
    """

    def __init__(self, size: int, clock: Clock) -> None:
        """Run at most `size` executions at a time."""
        self._size = size
        self._clock = clock
        # The lock itself is quicker to take than the condition that goes with it.
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._waiting = 0
        self._running: dict[int, tuple[float, Run]] = {}
        self._parked: deque[tuple[float, Run]] = deque()
        self._recent = 0
        self._typical: float | None = None
        self._stuck = 0
        self._unrecorded = 0
        self._hurried = False

    @property
    def free(self) -> int:
        """How many more executions could run at once."""
        return max(0, self._size - len(self._running) - self._stuck)

    @property
    def appetite(self) -> int:
        """How many to claim: free hands, and as many as are likely to end within a second."""
        return min(self._wish, max(0, MOST_UNRECORDED - self._unrecorded))

    @property
    def _wish(self) -> int:
        if self._typical is None or self._typical >= PARKED_SECONDS:
            return self.free if not self._parked else 0
        soon = int(self._nimble * PARKED_SECONDS / max(self._typical, 0.001))
        room = min(soon, MOST_PARKED) - len(self._parked)
        return max(0, self.free + min(room, max(FEW, 2 * self._recent)))

    @property
    def is_hungry(self) -> bool:
        """Whether to claim now: not one or two, as long as no hand is free for them."""
        appetite = self.appetite
        return appetite > 0 and (not self._parked or appetite >= len(self._parked))

    @property
    def _may_be_hungry(self) -> bool:
        """Whether the fetcher is worth waking: where runs are short, each wake-up costs a run."""
        return not self._parked or len(self._parked) <= MOST_UNRECORDED - self._unrecorded

    @property
    def _nimble(self) -> int:
        """How many hands are likely to be free soon: neither stuck nor busy for a second."""
        since = self._clock.elapsed() - PARKED_SECONDS
        slow = sum(at <= since for at, _ in list(self._running.values()))
        return max(0, self._size - slow - self._stuck)

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or is parked."""
        return not self._running and not self._parked

    def running(self, *, since: float | None = None) -> list[Run]:
        """Return runs under way; if `since` is given, those that began before that point."""
        with self._lock:
            runs = self._running.values()
            return [run for at, run in runs if since is None or at < since]

    def held(self) -> list[Run]:
        """Return runs under way and parked runs."""
        with self._lock:
            held = [*self._running.values(), *self._parked]
            return [run for _, run in held]

    def has_later(self, run: Run) -> bool:
        """Return whether the execution of a run is under way once more, by a later claim."""
        this = run.execution
        runs = (each.execution for each in self.running())
        return any(each.id == this.id and each.fence > this.fence for each in runs)

    def admit(self, runs: Sequence[Run]) -> Sequence[Run]:
        """Add runs, and park those beyond the free hands; return the others, to be started."""
        with self._lock:
            at, free = self._clock.elapsed(), self.free
            now, later = runs[:free], runs[free:]
            # A row that was claimed alone, since it had waited longest, says little about the rest.
            self._recent = max(len(runs), self._recent // 2)
            self._running.update({each.execution.fence: (at, each) for each in now})
            self._parked.extend([(at, each) for each in later])
            return now

    def finish(self, fence: int, seconds: float) -> tuple[Run | None, Run | None]:
        """Remove a run; return it, and a parked run that is now to be started."""
        with self._lock:
            _, done = self._running.pop(fence, (0.0, None))
            self._unrecorded += done is not None
            known = seconds if self._typical is None else self._typical
            self._typical = known + WEIGHT * (seconds - known)
            following = None
            if self._parked and len(self._running) + self._stuck < self._size:
                following = self._parked.popleft()[1]
                self._running[following.execution.fence] = self._clock.elapsed(), following
            if self._waiting and self._may_be_hungry:
                self._changed.notify_all()
            return done, following

    def overstayed(self, *, everything: bool = False) -> list[Run]:
        """Remove and return runs that were parked for more than a second, or all parked runs."""
        with self._lock:
            oldest = self._clock.elapsed() - PARKED_SECONDS
            out = []
            while self._parked and (everything or self._parked[0][0] <= oldest):
                out.append(self._parked.popleft()[1])
            return out

    def set_stuck(self, count: int) -> None:
        """Note how many hands are held by runs that are over but do not end."""
        with self._lock:
            self._stuck = count
            self._changed.notify_all()

    def recorded(self, count: int) -> None:
        """Note that so many ends are recorded."""
        with self._lock:
            self._unrecorded -= count
            self._changed.notify_all()

    def wait_for_hand(self, seconds: float) -> int:
        """Wait until there is reason to claim more; return how many, 0 if the time is over.

        Read under the lock: the number may drop to 0 right after.
        """
        with self._lock:
            hungry = self._wait_for(lambda: self.is_hungry, seconds)
            return self.appetite if hungry else 0

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until nothing runs; False if the time is over, or after `give_up`."""
        with self._lock:
            self._wait_for(lambda: self.is_idle or self._hurried, seconds)
            return self.is_idle

    def _wait_for(self, fulfilled: Callable[[], bool], seconds: float) -> bool:
        self._waiting += 1
        try:
            return self._changed.wait_for(fulfilled, seconds)
        finally:
            self._waiting -= 1

    def give_up(self) -> None:
        """End every wait for runs that are still under way."""
        with self._lock:
            self._hurried = True
            self._changed.notify_all()

    def wake(self) -> None:
        """Let waiting threads check their condition again."""
        with self._lock:
            self._changed.notify_all()
