"""Turns: whether slots or one-off work come first in a scan, and when the oldest row does.

Both kinds take turns. A kind of which the last scan found nothing comes second for a short while:
its query would be in vain, and delay the other kind. Once in a sweep the row that has waited
longest comes first, if that is more than two sweeps, so that nothing waits for ever.
"""

from enum import Enum

from sempre.clock import Clock

__all__ = ["ABSENCE", "KindTurns", "WorkKind"]


class WorkKind(Enum):
    """Work that is found by queries of its own."""

    SLOTS = "slots"
    ONE_OFF = "one-off"


# For how many seconds a kind comes second after a scan found none of it.
ABSENCE = {WorkKind.SLOTS: 0.1, WorkKind.ONE_OFF: 0.5}


class KindTurns:
    """The turns of one worker."""

    def __init__(self, clock: Clock, *, sweep: float) -> None:
        """Begin with one-off work; `sweep` is in seconds."""
        self._clock = clock
        self._sweep = sweep
        self._first = WorkKind.SLOTS
        self._missing_until = dict.fromkeys(WorkKind, 0.0)
        self._oldest_at = dict.fromkeys(WorkKind, 0.0)

    def take_turn(self) -> list[WorkKind]:
        """Return both kinds in the order of this scan."""
        first, second = self._other(self._first), self._first
        self._first = first
        now = self._clock.elapsed()
        return sorted((first, second), key=lambda kind: self._missing_until[kind] > now)

    def expect(self, kind: WorkKind) -> None:
        """Let a kind take its turn in the next scan: some of it is known to be due."""
        self._missing_until[kind] = 0.0

    def put_first(self, kind: WorkKind) -> None:
        """Let the next scan begin with a kind."""
        self._first = self._other(kind)
        self.expect(kind)

    def note_missing(self, kind: WorkKind) -> None:
        """Note that a scan found nothing of a kind."""
        self._missing_until[kind] = self._clock.elapsed() + ABSENCE[kind]

    def is_turn_of_oldest(self, kind: WorkKind) -> bool:
        """Tell whether the row of a kind that has waited longest comes first: once in a sweep."""
        now = self._clock.elapsed()
        if self._oldest_at[kind] > now:
            return False
        self._oldest_at[kind] = now + self._sweep
        return True

    def _other(self, kind: WorkKind) -> WorkKind:
        return WorkKind.ONE_OFF if kind is WorkKind.SLOTS else WorkKind.SLOTS
