"""The log of actions of the memory store."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.values import copy_with
from sempre.ports.messages import ActionQuery, Page, Reading
from sempre.stores.memory.operation import Operation
from sempre.stores.memory.tables import Tables

__all__ = ["MemoryActionLog", "record"]


def record(tables: Tables, actions: Iterable[Action | None], now: datetime) -> None:
    """Add actions to the log; None stands for an operation without an action."""
    for action in actions:
        if action is not None:
            tables.actions.setdefault(action.id, copy_with(action, at=now))


class MemoryActionLog(ABC):
    """The operations of the port on the log of actions."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def record(self, actions: Sequence[Action]) -> None:
        """Add actions to the log."""
        with self._at_once() as (tables, now):
            record(tables, actions, now)

    def actions(self, query: ActionQuery) -> Reading[Page[Action]]:
        """Return a page of the log, newest first."""
        with self._at_once() as (tables, now):
            fitting = [each for each in tables.actions.values() if query.matches(each)]
            fitting.sort(key=lambda each: each.id, reverse=True)
            rest = [each for each in fitting if not query.after or each.id < query.after]
            page = rest[: query.limit]
            after = page[-1].id if len(rest) > query.limit else ""
            return Reading(now, Page(tuple(page), after))

    def purge_actions(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest actions before an instant."""
        with self._at_once() as (tables, now):
            times = ((each.at or now, each.id) for each in tables.actions.values())
            old = sorted(each for each in times if each[0] < before)[:limit]
            for _, identity in old:
                del tables.actions[identity]
            return len(old)
