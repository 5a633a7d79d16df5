"""Fields: each fact of a thing is declared once, for `--json`, tables and single records."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sempre.cli.context import CommandContext

__all__ = ["Field", "print_table", "record_of", "to_json"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Field(Generic[T]):
    """One fact of a thing.

    Attributes:
        key: its name in `--json`; empty if it is absent there.
        column: its heading in a table; None if it is absent there.
        label: its name in the record of one thing; empty if it is absent there.
        value: returns the JSON value, given the names whose values are masked.
        text: returns the text for people; by default the JSON value, with nothing for None and 0.
        below: whether it moves to a second line in a narrow terminal.
    """

    key: str = ""
    column: str | None = None
    label: str = ""
    value: Callable[[T, Sequence[str]], object] = lambda _thing, _redact: None
    text: Callable[[T, CommandContext], str] | None = None
    below: bool = False

    def shown(self, thing: T, context: CommandContext) -> str:
        """Return the text for people."""
        if self.text is not None:
            return self.text(thing, context)
        return str(self.value(thing, context.redact) or "")


def to_json(fields: Iterable[Field[T]], thing: T, redact: Sequence[str] = ()) -> dict[str, object]:
    """Return a thing as `--json` shows it, with the values under the names in `redact` masked."""
    return {each.key: each.value(thing, redact) for each in fields if each.key}


def record_of(
    fields: Iterable[Field[T]], thing: T, context: CommandContext
) -> list[tuple[str, str]]:
    """Return the labels and texts of one thing."""
    return [(each.label, each.shown(thing, context)) for each in fields if each.label]


def print_table(
    context: CommandContext,
    fields: Iterable[Field[T]],
    things: Iterable[T],
    *,
    without: Collection[str] = (),
    further: Iterable[Sequence[str]] = (),
) -> None:
    """Print things as a table, without the columns of these headings, and further rows."""
    shown = [each for each in fields if each.column is not None and each.column not in without]
    rows = [[each.shown(thing, context) for each in shown] for thing in things]
    rows += [[*row, *[""] * (len(shown) - len(row))] for row in further]
    below = [each.column or "" for each in shown if each.below]
    context.output.table([each.column or "" for each in shown], rows, below=below)
