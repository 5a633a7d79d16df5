"""Fields: each fact of a thing is declared once, for JSON, tables, single records and pages."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from sempre.app.times import json_instant
from sempre.config import Settings
from sempre.engine.core import Engine
from sempre.grids.grid import Grid
from sempre.ports.messages import Reading
from sempre.ports.store import Store

__all__ = ["Field", "Fields", "Presenter", "StoreReader", "json_value"]

T = TypeVar("T")
V = TypeVar("V")


class StoreReader(Protocol):
    """Reads a store for a command or a page, and knows the present of the last reading."""

    @property
    def engine(self) -> Engine:
        """The engine of the store."""
        ...

    @property
    def store(self) -> Store:
        """The store."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        ...

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        ...

    def read(self, reading: Reading[V]) -> V:
        """Return the value of a reading, and keep its time as the present."""
        ...


class Presenter(Protocol):
    """How a command or a page writes texts for people."""

    @property
    def redact(self) -> tuple[str, ...]:
        """Names whose values are masked, from the settings."""
        ...

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        ...

    def shown(self, instant: datetime) -> str:
        """Return an instant as text, labelled with its zone."""
        ...

    def shown_in_table(self, instant: datetime) -> str:
        """Return an instant as text in the one zone of all tables."""
        ...


@dataclass(frozen=True)
class Field(Generic[T]):
    """One fact of a thing.

    Attributes:
        key: its name in `--json`; empty if it is absent there.
        value: returns the value.
        column: its heading in a table; None if it is absent there.
        label: its name in the record of one thing; empty if it is absent there.
        mask: returns the value without the secrets under these names.
        text: returns the text for people; by default the value in words, nothing for None and 0.
        below: whether it moves to a second line in a narrow terminal.
        flexible: the width to which it is shortened in a narrow terminal; 0 if it is not.
        optional: whether it is left out in a narrow terminal.
        is_id: whether a terminal shows the shortest prefix that is unique in its table.
    """

    key: str
    value: Callable[[T], Any]
    _: KW_ONLY
    column: str | None = None
    label: str = ""
    mask: Callable[[Any, Sequence[str]], Any] | None = None
    text: Callable[[T, Presenter], str] | None = None
    below: bool = False
    flexible: int = 0
    optional: bool = False
    is_id: bool = False

    def masked(self, thing: T, redact: Sequence[str]) -> object:
        """Return the value without secrets."""
        value = self.value(thing)
        return value if self.mask is None else self.mask(value, redact)


class Fields(Generic[T]):
    """All facts of a thing.

    Args:
        grid: returns the grid of a thing, in whose zone its times are shown.
        redact: returns the names whose values are masked in a thing, besides those of the settings.
    """

    def __init__(
        self,
        *fields: Field[T],
        grid: Callable[[T], Grid | None] = lambda _thing: None,
        redact: Callable[[T], Sequence[str]] = lambda _thing: (),
    ) -> None:
        """Take the fields in their order."""
        self.fields = fields
        self.grid = grid
        self.redact = redact

    def json(self, thing: T, redact: Sequence[str] = ()) -> dict[str, object]:
        """Return a thing as `--json` shows it."""
        names = (*redact, *self.redact(thing))
        return {each.key: json_value(each.masked(thing, names)) for each in self.fields if each.key}


def json_value(value: object) -> object:
    """Return a value as `--json` shows it: instants in ISO 8601, lengths of time in seconds."""
    if isinstance(value, datetime):
        return json_instant(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
