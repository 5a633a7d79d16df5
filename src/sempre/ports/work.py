"""One-off work on its way into a store, and what the store answers."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.policies import doubling
from sempre.domain.values import copy_with

__all__ = ["Alike", "Backoff", "Enqueued", "UniqueKey", "Work"]


@dataclass(frozen=True)
class UniqueKey:
    """The key that one piece of work holds alone, and among which executions.

    Attributes:
        key: usually the job and some of its arguments.
        mode: among "live" executions; "active" ones, live or running; or all of the last "period".
        period: for the mode "period": for how long an execution counts.
    """

    key: str
    mode: Literal["live", "active", "period"] = "active"
    period: timedelta = timedelta(0)


@dataclass(frozen=True)
class Backoff:
    """How long a unique key is refused after its last execution failed.

    The wait doubles with each failure in a row, up to `cap`.
    """

    base: timedelta
    cap: timedelta

    def wait(self, failures: int) -> timedelta:
        """Return the wait after the n-th failure in a row, counting from 1."""
        return doubling(self.base, self.cap, failures)


@dataclass(frozen=True)
class Work:
    """A piece of one-off work to enqueue: an execution without a schedule.

    Attributes:
        backoff: for unique work: the wait after the last execution of its key failed.
    """

    execution: Execution
    unique: UniqueKey | None = None
    backoff: Backoff | None = None


@dataclass(frozen=True)
class Alike(Collection[Work]):
    """Pieces of work that differ in id and arguments only; each `Work` is made on iteration.

    A store may write the common columns once.

    Attributes:
        blank: the execution without id and arguments.
        args: the arguments of each piece, by its id.
    """

    blank: Execution
    args: dict[str, dict[str, Json]]

    def __iter__(self) -> Iterator[Work]:
        """Yield each piece of work, in order."""
        blank, rules = self.blank, self.blank.snapshot
        for identity, args in self.args.items():
            yield Work(copy_with(blank, id=identity, snapshot=copy_with(rules, args=args)))

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.args)

    def __contains__(self, work: object) -> bool:
        """Return whether a piece of work is among these."""
        return work in tuple(self)


class Enqueued(NamedTuple):
    """What the store did with a piece of work.

    Attributes:
        id: of its execution, or of the existing one with the same unique key.
        created: whether the store created an execution.
        rejected_by: the switch or gate that rejected the work.
        failures: of unique work, the failures in a row before it.
        waits_until: when the store accepts the key again, if it refused the work for failures.
    """

    id: str
    created: bool = True
    rejected_by: str = ""
    failures: int = 0
    waits_until: datetime | None = None
