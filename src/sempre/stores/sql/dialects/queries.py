"""Queries that one statement answers in most databases, but not in every one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

__all__ = ["Queries"]


class Queries(ABC):
    """The queries of a transaction, each by one statement.

    Attributes:
        is_begun: whether the database may have done something that a commit keeps.
        writes_in_reading: whether one statement can write and read.
        may_miss: whether the transaction is repeated if a fast path fails.
    """

    is_begun = True
    writes_in_reading = False
    may_miss = False

    @abstractmethod
    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows."""

    def due(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Return the ids of due rows, most urgent first, or oldest first."""
        return self.rows("overdue" if by_age else "due", **parameters)

    def due_to_take(self, *, by_age: bool, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Lock and return due one-off rows, without rows that another transaction has locked."""
        return self.rows("overdue_to_take" if by_age else "due_to_take", **parameters)

    def view_rows(self, ids: Sequence[str]) -> list[Sequence[Any]]:
        """Return the executions of schedules that planning reads; a row may come twice."""
        return self.rows("view_rows", ids=ids)

    def latest_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the newest executions of each of these schedules."""
        return self.rows("latest_rows", ids=ids, limit=limit)

    def outcome_rows(self, ids: Sequence[str], limit: int) -> list[Sequence[Any]]:
        """Return the last outcomes of each of these schedules."""
        return self.rows("outcome_rows", ids=ids, limit=limit)

    def pushed_out(
        self, bounds: Sequence[tuple[str, int]], *, now: int, limit: int
    ) -> list[Sequence[Any]]:
        """Return the oldest ended executions that finished before an instant of their schedule."""
        return self.rows("pushed_out", bounds=bounds, now=now, limit=limit)
