"""The part of a store's port that deletes old history."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

__all__ = ["Purge", "Purged", "Purges"]


@dataclass(frozen=True, kw_only=True)
class Purge:
    """Which part of history a store examines, and what it deletes of that part.

    Attributes:
        before: executions that ended before this instant are old.
        limit: the number of ended executions to examine.
        retention: which schedules are concerned: those with this retention of their own; "setting",
            one-off work and schedules without a retention of their own; or "any", everything.
        after: the place up to which earlier calls have examined; empty for the beginning.
        keep: how many of the newest ended executions each schedule keeps; None for the number of
            the schedule itself.
        count_only: whether to count old executions and to delete nothing.
    """

    before: datetime
    limit: int
    retention: timedelta | Literal["setting", "any"] = "setting"
    after: str = ""
    keep: int | None = None
    count_only: bool = False


@dataclass(frozen=True)
class Purged:
    """The result of a purge.

    Attributes:
        count: the number of executions that were deleted, or that would be.
        after: the place up to which history is examined.
        more: whether the part after that place has old executions too, or may have.
    """

    count: int
    after: str
    more: bool


class Purges(Protocol):
    """How a store deletes history that is older than its retention."""

    def purge(self, purge: Purge) -> Purged:
        """Examine ended executions by age, and delete what is not kept, in a small transaction.

        One-off work and executions of deleted schedules are deleted by age alone, and so are slots
        that were skipped in advance. Other schedules keep their newest `keep` finished executions,
        with those that finished at the instant of the last of them. Executions that newer ones have
        pushed out of that number go first when a newer execution of their schedule is examined, at
        most `limit` of them; if there are more, the answer has the place of the question.

        Counts of deleted executions go into the daily roll-ups, by day, state and kind, in the
        same transaction. A skipped slot that is still to come, and every row after a cursor, stays.
        So do ranges of slots: `purge_ranges` deletes them. With "setting" and "any", expired
        sessions and late results that ended before the instant go too, at most `limit` of each.

        `after` never skips an old execution that is not kept. Begin with an empty one after a jump
        of the clock, and now and then: schedules are edited and deleted.
        """
        ...

    def purge_ranges(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest ranges whose last slot lies before an instant; return how many.

        At most `limit`, by their last slot. A range is the only record of slots that did not run:
        ranges are kept as long as the log of actions, whatever the retention of executions.
        """
        ...

    def retentions(self) -> list[timedelta]:
        """Return the retentions that schedules have of their own, each once, shortest first."""
        ...
