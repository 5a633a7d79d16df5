"""Unreadable rows: reported, left unchanged, and served by processes that can read them.

A row of a newer release may have a field, kind, state or policy that this release does not know;
a row may be damaged. One such row must not hide the other rows of an answer.
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
    "actions",
    "run_logs",
]
"""The kind of a row, by one word on every store."""

LONGEST = 300


@dataclass(frozen=True)
class Unreadable:
    """A row that this process cannot read.

    Attributes:
        table: the kind of the row.
        id: the id of the row, or of the row that it belongs to.
        name: the schedule, job, switch or worker that the row is about.
        reason: what this process does not understand.
        hidden: the id of another row that the answer leaves out because of this one: a schedule is
            left out because of one of its executions, and executions because of their schedule.
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
        """The error for a caller that asked for this row."""
        return UnreadableRow(str(self))

    @property
    def missing(self) -> str:
        """The id of the row that the answer leaves out."""
        return self.hidden or self.id

    def hides(self, identity: str) -> "Unreadable":
        """Return this row as the reason why another row is left out of an answer."""
        return copy_with(self, hidden=identity)


REMEDY = "Upgrade Sempre and tzdata in this process; workers that can read the row serve it."


def unreadable(table: Table, identity: object, name: object, error: Exception) -> Unreadable:
    """Return the description of a row that raised an error when it was read."""
    return Unreadable(table, str(identity), str(name), _reason(error))


def read_each(
    rows: Sequence[R], read: Callable[[R], T], describe: Callable[[R, Exception], Unreadable]
) -> tuple[list[T], list[Unreadable]]:
    """Read rows; a row that cannot be read is left out and described.

    If every row can be read, the check costs nothing.
    """
    try:
        return list(map(read, rows)), []
    except Exception:  # noqa: BLE001 - the row that raised is found by reading one by one
        return _read_one_by_one(rows, read, describe)


def _read_one_by_one(
    rows: Iterable[R], read: Callable[[R], T], describe: Callable[[R, Exception], Unreadable]
) -> tuple[list[T], list[Unreadable]]:
    found: list[T] = []
    left_out: list[Unreadable] = []
    for row in rows:
        try:
            found.append(read(row))
        except Exception as error:  # noqa: BLE001 - whatever a row of a newer release leads to
            left_out.append(describe(row, error))
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
