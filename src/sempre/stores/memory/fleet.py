"""Operations of the memory store on workers and held executions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import compress

from sempre.domain.action import Action
from sempre.domain.values import copy_with
from sempre.ports.messages import Reading, Waiting
from sempre.stores.memory.action_log import record
from sempre.stores.memory.operation import Operation

__all__ = ["MemoryFleet"]


class MemoryFleet(ABC):
    """The operations of the port that operators use for workers and queues."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def drain(self, session_ids: Sequence[str], *, actions: Sequence[Action] = ()) -> list[bool]:
        """Ask workers to finish their runs and to stop; True for each session that exists."""
        with self._at_once() as (tables, now):
            for each in tables.sessions.keys() & set(session_ids):
                tables.sessions[each] = copy_with(tables.sessions[each], draining=True)
            answers = [each in tables.sessions for each in session_ids]
            record(tables, compress(actions, answers), now)
            return answers

    def held(self, *, limit: int) -> Reading[list[Waiting]]:
        """Return live executions that are held back."""
        with self._at_once() as (tables, now):
            rows = [row for row in tables.unended.values() if row.is_live and row.held_by]
            return Reading(now, list(map(Waiting.of, rows[:limit])))
