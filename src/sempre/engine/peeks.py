"""Peeks: cheap queries for work that other processes have placed, where no wake-up arrives.

Where the store is the broker and the server wakes nobody (MariaDB, a pooler before PostgreSQL, a
connection that is lost for a while), an idle worker asks the store every now and then when the
first row is due: one statement, soon after there was work, and less often the longer there is none.
"""

from datetime import datetime, timedelta

from sempre.engine.core import Engine
from sempre.ports.messages import Wanted

__all__ = ["Peeks"]

SHORTEST, LONGEST, GROWTH = 0.05, 0.25, 1.2
# Rows that are due for longer than this are left to heartbeats: a worker that finds them again and
# again cannot start them. An enqueue takes its due time a little before its commit.
LATELY = timedelta(seconds=5)


class Peeks:
    """When one worker asks for the first due row, and the answer."""

    def __init__(self, engine: Engine, wanted: Wanted) -> None:
        """Begin with short pauses."""
        self._engine = engine
        self._wanted = wanted
        self._pause = SHORTEST
        self._next = 0.0

    @property
    def are_needed(self) -> bool:
        """Whether other processes can enqueue work without waking this worker."""
        bell = self._engine.bell
        is_deaf = not bell.carries and not bell.broker.capabilities.shared
        return is_deaf and self._engine.store.capabilities.shared

    @property
    def is_due(self) -> bool:
        """Whether the next peek is due."""
        return self.are_needed and self._next <= self._engine.clock.elapsed()

    def rest(self, wait: float) -> float:
        """Return the wait, cut to the next peek if peeks are needed."""
        if not self.are_needed:
            return wait
        return min(wait, max(0.0, self._next - self._engine.clock.elapsed()))

    def put_off(self, *, found: bool) -> None:
        """Put the next peek off: the worker has scanned the store, and found work or none."""
        self._pause = SHORTEST if found else min(LONGEST, self._pause * GROWTH)
        self._next = self._engine.clock.elapsed() + self._pause

    def first_due(self) -> datetime | None:
        """Ask when the first row is due, now or later; None if there is none."""
        self.put_off(found=False)
        after = self._engine.time.now() - LATELY
        return self._engine.store.first_due(self._wanted, after=after)
