"""The columns of executions and schedules: one table for every store.

All other lists of columns are derived from these tables: the lists of SQL statements, the
positions by which rows are read, the fields of a Redis hash, and the field lists of Lua scripts. A
new field of an execution or schedule is one line here and one column in each migration.

Columns are kept apart by what they hold. `fields` are fields of the domain class: a store reads and
writes them by their form alone. `parts` are pieces that a store puts together to one field, such as
a snapshot. `computed` columns are written only, for the indexes and conditions of a database.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, make_dataclass
from datetime import timedelta
from operator import attrgetter, itemgetter
from typing import Any, Generic, Literal, TypeVar

from sempre.domain.states import Kind, State
from sempre.grids.instants import EPOCH

__all__ = [
    "EXECUTIONS",
    "KINDS",
    "SCHEDULES",
    "STATES",
    "Column",
    "Converters",
    "Reader",
    "Table",
    "Writer",
    "word_of",
]

T = TypeVar("T")
MICROSECOND = timedelta(microseconds=1)
KINDS = {kind.value: kind for kind in Kind}
STATES = {state.value: state for state in State}
"""Every kind and state by its word; to look one up is quicker than to make it of the word."""
word_of = attrgetter("_value_")
"""Returns the word of a kind or state, in half the time of its property `value`."""

Form = Literal["text", "prose", "reference", "number", "flag", "instant", "kind", "state"]
"""How a value is stored. Prose is a text that may hold any character, such as an error message; a
reference is an id or None; an instant may be None as well."""


@dataclass(frozen=True)
class Column:
    """A column of a table, and a field of a Redis hash.

    Attributes:
        name: the column's name.
        form: how the value is stored.
        changes: when the column is written again: never, when a schedule is declared again or
            edited, or with every change of an execution or move of a schedule.
        field: the name in the domain class and in a Redis hash, if different from `name`.
    """

    name: str
    form: Form
    changes: Literal["never", "declared", "always"] = "never"
    field: str = ""

    @property
    def attribute(self) -> str:
        """The name of the field in the domain class and in a Redis hash."""
        return self.field or self.name


@dataclass(frozen=True)
class Table:
    """The columns of executions or schedules."""

    fields: tuple[Column, ...]
    parts: tuple[Column, ...]
    computed: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column."""
        return self.fields + self.parts + self.computed


EXECUTIONS = Table(
    fields=(
        Column("id", "text"),
        Column("due_at", "instant", "always"),
        Column("run_at", "instant"),
        Column("created_at", "instant"),
        Column("first_started_at", "instant", "always"),
        Column("started_at", "instant", "always"),
        Column("finished_at", "instant", "always"),
        Column("schedule_id", "reference"),
        Column("kind", "kind"),
        Column("state", "state", "always"),
        Column("reason", "prose", "always"),
        Column("actor", "prose", "always"),
        Column("tzdata", "text", "always"),
        Column("attempt", "number", "always"),
        Column("failures", "number", "always"),
        Column("crashes", "number", "always"),
        Column("fence", "number", "always"),
        Column("session", "text", "always"),
        Column("held_by", "text", "always"),
        Column("retried_at", "instant", "always"),
    ),
    # The snapshot.
    parts=(
        Column("name", "text"),
        Column("revision", "number"),
        Column("rules", "text"),
        Column("args", "text"),
    ),
    computed=(
        Column("job", "text"),
        Column("queue", "text"),
        Column("lane", "text"),
        Column("priority", "number"),
        Column("ended_at", "instant", "always"),
        Column("unique_key", "text"),
        Column("unique_mode", "text"),
        Column("unique_period", "number"),
        Column("limit_key", "text"),
        Column("rate_key", "text"),
    ),
)

SCHEDULES = Table(
    fields=(
        Column("id", "text"),
        Column("name", "text", "declared"),
        Column("created_at", "instant"),
        Column("cursor_at", "instant", "always", field="cursor"),
        Column("next_run_at", "instant", "always"),
        Column("revision", "number", "always"),
        Column("starts", "number", "always"),
        Column("started", "flag", "always"),
        Column("ended", "flag", "always"),
        Column("deleted", "flag", "declared"),
        Column("broken", "prose", "always"),
        Column("declared", "text", "declared"),
    ),
    # The definition and the pause.
    parts=(
        Column("definition", "text", "declared", field="rules"),
        Column("args", "text", "declared"),
        Column("paused", "flag", "declared"),
        Column("paused_until", "instant", "declared"),
        Column("pause_note", "prose", "declared"),
        Column("pause_actor", "prose", "declared"),
    ),
    computed=(
        Column("live_name", "text", "declared"),
        Column("folded_name", "text", "declared"),
        Column("job", "text", "declared"),
        Column("tags", "text", "declared"),
        Column("enabled", "flag", "declared"),
        Column("retention", "number", "declared"),
        Column("keep", "number", "declared"),
        Column("audit_stamp", "text", "always"),
    ),
)

Converters = Mapping[Form, Callable[[Any], Any]]


class Reader(Generic[T]):
    """Reads domain values from rows that begin with given columns.

    A generated dataclass names the values of a row, then becomes the domain class: this takes a
    quarter of the time of a dict made by zip, and every claim reads rows.

    Args:
        kind: the domain class.
        columns: the columns of a row, in their order.
        converters: how a stored value is read, by form; a value of any other form is used
            unchanged, and so is None.
        rest: the fields of the domain class that a caller adds to those of a row.

    Attributes:
        columns: the columns of a row.

    Raises:
        TypeError: the domain class has other fields.
    """

    def __init__(
        self, kind: type[T], columns: Iterable[Column], converters: Converters, rest: Iterable[str]
    ) -> None:
        """Compare the fields with those of the domain class."""
        self.columns = tuple(columns)
        names = [*(each.attribute for each in self.columns), *rest]
        if sorted(names) != sorted(each.name for each in fields(kind)):  # type: ignore[arg-type]
            raise TypeError(f"{kind.__name__} is not made of {', '.join(names)}")
        self._kind: Any = kind
        self._own = slice(len(self.columns))
        self._record = make_dataclass("Record", names)
        self._converted = _converted(self.columns, converters)

    def position(self, name: str) -> int:
        """Return the position of a column in a row."""
        return [each.name for each in self.columns].index(name)

    def read(self, row: Sequence[Any], *rest: Any) -> T:  # noqa: ANN401
        """Return the domain value of a row and of the values of the rest."""
        values = [*row[self._own], *rest]
        for place, convert in self._converted:
            if (value := values[place]) is not None:
                values[place] = convert(value)
        record: Any = self._record(*values)
        record.__class__ = self._kind
        return record  # type: ignore[no-any-return]


class Writer:
    """Writes domain values as columns, by name.

    Instants become microseconds since 1970. The writer does this itself: the call of a converter
    would cost half as much again.

    Args:
        columns: the columns that are fields of the domain value.
        converters: how a value is stored, by form; a value of any other form is stored unchanged.
        rest: the columns whose values a caller adds.
    """

    def __init__(
        self,
        columns: Iterable[Column],
        converters: Converters,
        rest: Iterable[str] = (),
    ) -> None:
        """Find the fields."""
        own = list(columns)
        self._instants = [place for place, each in enumerate(own) if each.form == "instant"]
        self._fields = itemgetter(*(each.attribute for each in own))
        self._record = make_dataclass("Record", [*(each.name for each in own), *rest])
        self._converted = _converted(own, converters)

    def write(self, value: object, *rest: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the columns of a domain value and of the values of the rest."""
        values = [*self._fields(vars(value)), *rest]
        for place in self._instants:
            if (at := values[place]) is not None:
                values[place] = (at - EPOCH) // MICROSECOND
        for place, convert in self._converted:
            values[place] = convert(values[place])
        columns: dict[str, Any] = vars(self._record(*values))
        return columns


def _converted(
    columns: Iterable[Column], converters: Converters
) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return the places of columns whose values are converted, each with its converter."""
    found = ((place, converters.get(each.form)) for place, each in enumerate(columns))
    return [(place, convert) for place, convert in found if convert]
