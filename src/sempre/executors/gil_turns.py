"""Turns at the interpreter lock: threads with very short runs work one after the other.

Only one thread at a time holds the interpreter lock (GIL). Where each run takes some microseconds,
threads that compete for the lock spend more time on passing the lock than on the runs. So one
thread has the turn and does run after run. The other threads wait for the turn, but not for long,
and not at all while the thread that has the turn is busy with a long run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock

__all__ = ["GilTurns", "TurnTaker"]

SHORT = 0.0005
PATIENCE = 0.005
MOST_WAITS = 10
STEP = 0.1


class _Turn:
    """The right to go on, which one thread has at a time, and how many runs have ended in it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.ended = 0


class GilTurns:
    """Decides which thread of an executor goes on."""

    def __init__(self) -> None:
        """Begin as if all runs were long: then no thread waits for another."""
        self._turn = _Turn()
        # The thread that holds it waits for the turn and wakes up now and then; the other threads
        # wait here without waking up.
        self._queue = Lock()
        self._typical = inf

    @property
    def matter(self) -> bool:
        """Whether runs are so short that threads should take turns."""
        return self._typical < SHORT

    @contextmanager
    def taking(self) -> Iterator["TurnTaker"]:
        """Let a thread take turns in a block, and give up the last turn at its end."""
        taker = TurnTaker(self)
        try:
            yield taker
        finally:
            taker.give_up()

    def take(self) -> _Turn | None:
        """Wait for the turn; None if the turn has not come for a while."""
        if not self._queue.acquire(timeout=PATIENCE * MOST_WAITS):
            return None
        try:
            return self._take_next()
        finally:
            self._queue.release()

    def _take_next(self) -> _Turn | None:
        for _ in range(MOST_WAITS):
            turn = self._turn
            ended = turn.ended
            if turn.lock.acquire(timeout=PATIENCE):
                return turn
            if turn.ended == ended and turn is self._turn:
                # The thread that has this turn is busy with a long run: replace the turn.
                self._turn = _Turn()
        return None

    def learn(self, seconds: float) -> None:
        """Adjust the typical duration of a run.

        The value follows the median: the duration of some short runs includes a wait for the lock.
        """
        known = seconds if self._typical == inf else self._typical
        self._typical = known * (1 + STEP if seconds > known else 1 - STEP)


class TurnTaker:
    """One thread that takes turns."""

    def __init__(self, turns: GilTurns) -> None:
        """Begin without a turn."""
        self._turns = turns
        self._turn: _Turn | None = None

    def wait(self) -> None:
        """Wait for the turn, if turns matter and this thread does not have the turn."""
        if self._turn is None and self._turns.matter:
            self._turn = self._turns.take()

    def note(self, seconds: float) -> None:
        """Note that a run has ended; the thread keeps the turn as long as runs are short."""
        self._turns.learn(seconds)
        if self._turn is not None:
            self._turn.ended += 1
            if not self._turns.matter:
                self.give_up()

    def give_up(self) -> None:
        """Release the turn if this thread has the turn."""
        if self._turn is not None:
            turn, self._turn = self._turn, None
            turn.lock.release()
