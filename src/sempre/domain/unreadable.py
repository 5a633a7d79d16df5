"""Rows that this process cannot read: left alone, reported, and served by processes that can.

A row of a newer release may have a field, kind, state or policy that this release does not know;
a row may be damaged. One such row must not hide the others that were read with it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from sempre.domain.values import copy_with
from sempre.errors import SempreError, UnreadableRow

__all__ = ["Table", "Unreadable", "read_each", "unreadable"]

R = TypeVar("R")
T = TypeVar("T")

Table = Literal[
    "schedules",
    "executions",
    "ranges",
    "attempts",
    "reports",
    "sessions",
    "switches",
    "passes",
    "rollups",
]
"""What a row belongs to, by the same word on every store."""

LONGEST = 300


@dataclass(frozen=True)
class Unreadable:
    """A row that this process cannot read.

    Attributes:
        table: which kind of row it is.
        id: of the row; of a row without an id of its own, that of what it belongs to.
        name: the schedule, job, switch or worker that the row is about.
        reason: what this process does not understand.
        hidden: the id of what is missing in the answer because of this row, if that is another
            one: a schedule is left out for one of its executions, and they for their schedule.
    """

    table: Table
    id: str
    name: str
    reason: str
    hidden: str = ""

    def __str__(self) -> str:
        """Name the row, its reason and the remedy."""
        row = f"the row {self.id} of {self.table} ({self.name})"
        return f"{row} cannot be read here: {self.reason} {REMEDY}"

    @property
    def error(self) -> UnreadableRow:
        """The error for a caller who asked for this very row."""
        return UnreadableRow(str(self))

    @property
    def missing(self) -> str:
        """The id of the schedule, execution or other row that the answer is without."""
        return self.hidden or self.id

    def hides(self, identity: str) -> "Unreadable":
        """Return the same row as the reason why another one is left out of an answer."""
        return copy_with(self, hidden=identity)


REMEDY = "Upgrade Sempre and tzdata in this process; workers that can read the row serve it."


def unreadable(table: Table, identity: object, name: object, error: Exception) -> Unreadable:
    """Return what is known of a row that raised an error when it was read."""
    return Unreadable(table, str(identity), str(name), _reason(error))


def read_each(
    rows: Sequence[R], read: Callable[[R], T], told: Callable[[R, Exception], Unreadable]
) -> tuple[list[T], list[Unreadable]]:
    """Read rows; one that cannot be read is left out and told of.

    As long as every row can be read, this costs no more than to read them.
    """
    try:
        return list(map(read, rows)), []
    except Exception:  # noqa: BLE001 - which of them it was is found out one by one
        return _read_one_by_one(rows, read, told)


def _read_one_by_one(
    rows: Iterable[R], read: Callable[[R], T], told: Callable[[R, Exception], Unreadable]
) -> tuple[list[T], list[Unreadable]]:
    found: list[T] = []
    left_out: list[Unreadable] = []
    for row in rows:
        try:
            found.append(read(row))
        except Exception as error:  # noqa: BLE001 - whatever a row of a newer release leads to
            left_out.append(told(row, error))
    return found, left_out


def _reason(error: Exception) -> str:
    """Return a sentence about what was not understood."""
    if isinstance(error, KeyError):
        text = f"{error.args[0]!r} is a word that this release does not know"
    elif isinstance(error, SempreError):
        text = str(error)
    else:
        text = f"{type(error).__name__}: {error}"
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return text if text.endswith((".", "?")) else f"{text}."
