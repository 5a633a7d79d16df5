"""The part of a store's port that keeps the log of actions: append-only, read by people."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sempre.domain.action import Action
from sempre.ports.messages import ActionQuery, Page, Reading

__all__ = ["ActionLog"]


class ActionLog(Protocol):
    """The log of actions. Most actions are written by the operation that carries them out."""

    def record(self, actions: Sequence[Action]) -> None:
        """Add actions to the log; an action of a known id is left as it is.

        For actions whose change is not an operation of the store, and for entries about repairs.
        """
        ...

    def actions(self, query: ActionQuery) -> Reading[Page[Action]]:
        """Return a page of the log, newest first, found by key and not by offset."""
        ...

    def purge_actions(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest actions before an instant, at most `limit`; return how many."""
        ...
