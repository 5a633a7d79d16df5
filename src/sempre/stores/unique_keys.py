"""Unique keys: which execution of a key blocks another one, and for how long.

The rules of the memory store and the SQL stores. Redis has these rules in a script, where reading
and writing must be one step.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sempre.domain.states import LIVE, State
from sempre.ports.messages import Enqueued, UniqueKey, Work

__all__ = ["KeyHolder", "KeyHolders"]

ACTIVE = frozenset({*LIVE, State.RUNNING})


class KeyHolder(NamedTuple):
    """An execution of a unique key.

    Attributes:
        failures: how many executions of the key had failed in a row before this one.
        finished_at: when the execution ended, if it has ended.
    """

    created_at: datetime
    id: str
    state: str
    failures: int = 0
    finished_at: datetime | None = None


@dataclass
class KeyHolders:
    """The executions of one unique key: the newest one, and all that wait or run."""

    newest: KeyHolder | None = None
    rows: dict[str, KeyHolder] = field(default_factory=dict)

    def in_the_way(self, unique: UniqueKey, now: datetime, besides: str = "") -> str:
        """Return the id of the execution that blocks another one; an empty text if none does."""
        newest = self.newest
        if unique.mode == "period":
            if newest is None or newest.id == besides:
                return ""
            return newest.id if newest.created_at > now - unique.period else ""
        states = ACTIVE if unique.mode == "active" else LIVE
        others = (row for row in self.rows.values() if row.id != besides)
        last = max((row for row in others if row.state in states), default=None)
        return last.id if last else ""

    @property
    def failures(self) -> int:
        """How many executions of the key have failed in a row, the newest one included."""
        newest = self.newest
        if newest is None:
            return 0
        if newest.state == State.FAILED:
            return newest.failures + 1
        return newest.failures if newest.state in ACTIVE else 0

    def refusal(self, work: Work, unique: UniqueKey, now: datetime) -> Enqueued | None:
        """Return the answer to work that may not be enqueued; None if the work may."""
        if other := self.in_the_way(unique, now):
            return Enqueued(other, created=False, failures=self.failures)
        newest = self.newest
        if newest is None or newest.state != State.FAILED or newest.finished_at is None:
            return None
        if work.backoff is None:
            return None
        until = newest.finished_at + work.backoff.wait(self.failures)
        refused = Enqueued(newest.id, created=False, failures=self.failures, waits_until=until)
        return refused if until > now else None
