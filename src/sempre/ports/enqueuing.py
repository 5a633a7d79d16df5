"""What crosses the port of a store when one-off work is put in, and what is said of it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.policies import doubling
from sempre.domain.values import changed

__all__ = ["Alike", "Backoff", "Receipt", "Unique", "Work"]


@dataclass(frozen=True)
class Unique:
    """Among which executions a piece of one-off work may exist once.

    Attributes:
        key: what is unique, usually the job and some of its arguments.
        mode: "live" ones; "active" ones, that is live or running; or "period", any not older.
        period: how long the last one counts, for "period".
    """

    key: str
    mode: Literal["live", "active", "period"] = "active"
    period: timedelta = timedelta(0)


@dataclass(frozen=True)
class Backoff:
    """How long unique work is refused after the last one of its key has failed.

    The wait doubles with each failure in a row, but is never longer than `cap`.
    """

    base: timedelta
    cap: timedelta

    def wait(self, failures: int) -> timedelta:
        """Return how long to wait after the n-th failure in a row, counting from 1."""
        return doubling(self.base, self.cap, failures)


@dataclass(frozen=True)
class Work:
    """A piece of one-off work to be put in: an execution without a schedule.

    Attributes:
        backoff: for unique work: how long to refuse it after the last one of its key has failed.
    """

    execution: Execution
    unique: Unique | None = None
    backoff: Backoff | None = None


@dataclass(frozen=True)
class Alike(Collection[Work]):
    """Many pieces of work that differ in id and arguments only; each is made when it is looked at.

    A store may say what they have in common once.

    Attributes:
        blank: what they have in common.
        args: the arguments of each, by its id.
    """

    blank: Execution
    args: dict[str, dict[str, Json]]

    def __iter__(self) -> Iterator[Work]:
        """Return each, in order."""
        blank, rules = self.blank, self.blank.snapshot
        for identity, args in self.args.items():
            yield Work(changed(blank, id=identity, snapshot=changed(rules, args=args)))

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.args)

    def __contains__(self, work: object) -> bool:
        """Tell whether a piece of work is one of them."""
        return work in tuple(self)


class Receipt(NamedTuple):
    """What became of a piece of work: its own id, or that of the one that already exists.

    Attributes:
        failures: of unique work, how many before it have failed in a row.
        waits_until: if it was refused for those, when it will be accepted.
    """

    id: str
    created: bool = True
    rejected_by: str = ""
    failures: int = 0
    waits_until: datetime | None = None
