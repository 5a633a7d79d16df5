"""Turns: threads whose runs are very short let one of them go on, and wait a little.

Only one thread at a time has the interpreter. Where each run takes some microseconds, threads that
all want it spend more time on handing it to each other than on the runs. So one of them has the
turn and does run after run; the others wait for it, but not for long, and not at all for one whose
run turns out to be long.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock

__all__ = ["Taker", "Turns"]

SHORT = 0.0005
PATIENCE = 0.005
MOST_WAITS = 10
STEP = 0.1


class _Turn:
    """The right to go on, which one thread has at a time, and how many runs have ended in it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.ended = 0


class Turns:
    """Who goes on, among the threads of an executor."""

    def __init__(self) -> None:
        """Begin with runs that are believed to be long: nobody waits for anybody."""
        self._turn = _Turn()
        # One waits for the turn and wakes up now and then; the others wait for that one.
        self._door = Lock()
        self._typical = inf

    @property
    def matter(self) -> bool:
        """Whether runs are so short that threads should take turns."""
        return self._typical < SHORT

    @contextmanager
    def taking(self) -> Iterator["Taker"]:
        """Let a thread take its turns in a block, and give up the last one at its end."""
        taker = Taker(self)
        try:
            yield taker
        finally:
            taker.give_up()

    def take(self) -> _Turn | None:
        """Wait for the turn; None if it has not come for a while."""
        if not self._door.acquire(timeout=PATIENCE * MOST_WAITS):
            return None
        try:
            return self._take_next()
        finally:
            self._door.release()

    def _take_next(self) -> _Turn | None:
        for _ in range(MOST_WAITS):
            turn = self._turn
            ended = turn.ended
            if turn.lock.acquire(timeout=PATIENCE):
                return turn
            if turn.ended == ended and turn is self._turn:
                # Who has it is busy with a long run: from here on it is worth nothing.
                self._turn = _Turn()
        return None

    def learn(self, seconds: float) -> None:
        """Note how long a run took; the median counts, for some of the shortest have to wait."""
        known = seconds if self._typical == inf else self._typical
        self._typical = known * (1 + STEP if seconds > known else 1 - STEP)


class Taker:
    """One thread that takes its turns."""

    def __init__(self, turns: Turns) -> None:
        """Have none yet."""
        self._turns = turns
        self._turn: _Turn | None = None

    def wait(self) -> None:
        """Wait for the turn, if it matters and we do not have it."""
        if self._turn is None and self._turns.matter:
            self._turn = self._turns.take()

    def note(self, seconds: float) -> None:
        """Note that a run has ended; the turn is kept as long as runs are short."""
        self._turns.learn(seconds)
        if self._turn is not None:
            self._turn.ended += 1
            if not self._turns.matter:
                self.give_up()

    def give_up(self) -> None:
        """Let another one have the turn, if we have it."""
        if self._turn is not None:
            turn, self._turn = self._turn, None
            turn.lock.release()
