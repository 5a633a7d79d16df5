"""Grids: pure rules that yield instants, and values that can be stored.

This module has the promise of every grid, and listing, counting and the JSON form, which follow
from that promise. `Every` and `Cron` have faster versions of some.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, ClassVar

from sempre.errors import BrokenGrid, GridError, InstantError, SempreError, UnknownGrid
from sempre.errors.texts import as_shown
from sempre.grids.clock_changes import ClockEffect
from sempre.grids.instants import END_OF_CALENDAR, as_instant, check_aware

__all__ = ["Grid", "Passed", "Progression", "SetOnce", "following"]

ONE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Passed:
    """Consecutive slots: the first, the last and their number."""

    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Progression:
    """Evenly spaced slots: first, first + step, ..., as many as `count`."""

    first: datetime
    step: timedelta
    count: int


class SetOnce:
    """Makes objects immutable: each attribute can be set once, by the constructor."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute that has no value yet; AttributeError if it has one."""
        if hasattr(self, name):
            message = f"{type(self).__name__} is a value and does not change; build another one"
            raise AttributeError(message)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """Raise AttributeError: a grid is immutable."""
        message = f"{type(self).__name__} is a value and does not change; build another one"
        raise AttributeError(message)


class Grid(ABC):
    """A rule that yields instants; immutable, without a cursor: same question, same answer.

    Subclass it and implement `after` for a rule of your own. To keep such a grid in a durable
    store, give the class a name and return what its constructor needs from `parameters`:

    >>> from datetime import datetime, timedelta, timezone
    >>> class Tides(Grid, name="tides"):
    ...     relative = True  # the next slot depends on the one before
    ...     def __init__(self, *, hours: float = 12.42) -> None:
    ...         self.hours = hours
    ...     def after(self, t: datetime) -> datetime | None:
    ...         return t + timedelta(hours=self.hours)
    ...     def parameters(self) -> dict[str, object]:
    ...         return {"hours": self.hours}
    >>> Grid.from_json(Tides(hours=12).to_json()) == Tides(hours=12)
    True

    A process that has no class of that name leaves such schedules alone and reports them. An
    answer that is not later than `t` is never acted on: it raises `BrokenGrid`.
    """

    __slots__ = ()
    _classes: ClassVar[dict[str, type["Grid"]]] = {}
    name: ClassVar[str | None] = None
    relative: ClassVar[bool] = False
    """Whether the next slot depends on the instant asked from, as in `t + interval`.

    Such a grid is asked only from its own slots, one after the other, never from other instants.
    """

    def __init_subclass__(cls, *, name: str | None = None, **options: object) -> None:
        """Register a subclass under the name that its stored form carries."""
        super().__init_subclass__(**options)
        cls.name = name
        if name is None:
            return
        if not isinstance(name, str) or not name or not name.isprintable():
            raise GridError("name", name, allowed="a text of printable characters")
        taken = Grid._classes.get(name)
        if taken is not None and (taken.__module__, taken.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise GridError("name", name, allowed=f"a name other than that of {taken!r}")
        Grid._classes[name] = cls

    @abstractmethod
    def after(self, t: datetime) -> datetime | None:
        """Return the first slot strictly later than `t`, or None if there is no other."""

    def times(self, after: datetime, count: int) -> list[datetime]:
        """Return the next `count` slots strictly later than `after`; fewer if the grid ends."""
        if isinstance(count, bool) or not isinstance(count, int):
            raise GridError("count", count, allowed="a whole number")
        return list(islice(self._slots(after), max(count, 0)))

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        """Return every slot strictly later than `after` and not later than `until`."""
        return list(self._slots_until(after, as_instant("until", until)))

    def passed(self, after: datetime, until: datetime) -> Passed | None:
        """Return first, last and count of the slots that `between` would list; None for none.

        `Cron` goes by days and `Every` in hours or shorter by arithmetic, not slot by slot, so the
        long downtime of a frequent schedule costs little.
        """
        return self._passed(after, min(as_instant("until", until), END_OF_CALENDAR))

    def progressions(self, after: datetime, until: datetime) -> Iterator[Progression]:
        """Yield the slots that `between` would list, as evenly spaced runs of slots, in any order.

        A `Cron` has few runs, however many slots; an `Every` in hours or shorter has one.
        """
        return self._progressions(after, min(as_instant("until", until), END_OF_CALENDAR))

    def explain(self) -> str:
        """Say in plain English when this grid fires."""
        return f"by the rule {self.name or type(self).__name__}"

    def notes(self) -> tuple[str, ...]:
        """Return what a person may not expect of this grid, one sentence each."""
        return ()

    def at_clock_changes(self, start: datetime, end: datetime) -> list[ClockEffect]:  # noqa: ARG002 - grids of a user's own have no zone
        """Return what the clock changes between two instants do to slots, in order."""
        return []

    def parameters(self) -> dict[str, Any]:
        """Return, as JSON values, the keyword arguments that build an equal grid."""
        return {}

    def in_zone(self, timezone: str) -> "Grid":  # noqa: ARG002 - grids of a user's own have none
        """Return the grid in a time zone, if it can have a zone and states none; else itself."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the stored form, which `Grid.from_json` turns into an equal grid again."""
        if self.name is None:
            hint = f'Write class {type(self).__name__}(Grid, name="...").'
            raise GridError("grid", self, allowed="a grid whose class has a name", hint=hint)
        parameters = self.parameters()
        if not parameters and getattr(self, "__dict__", None):
            hint = "Return what the constructor needs from parameters(), or it would be lost."
            raise GridError("grid", self, allowed="a grid that tells its parameters", hint=hint)
        if "grid" in parameters or not _is_json(parameters):
            allowed = 'JSON values by name, none of them called "grid"'
            raise GridError(f"parameters of {self.name}", parameters, allowed=allowed)
        return {"grid": self.name, **parameters}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "Grid":
        """Return the grid of a stored form; UnknownGrid if this process has no such class."""
        parameters = dict(stored) if isinstance(stored, Mapping) else {}
        name = parameters.pop("grid", None)
        if not isinstance(name, str):
            allowed = 'an object with a "grid" that names the class'
            raise GridError("grid", stored, allowed=allowed)
        if name not in Grid._classes:
            raise UnknownGrid(name, known=Grid._classes)
        try:
            return Grid._classes[name](**parameters)
        except TypeError as error:
            raise GridError("grid", stored, allowed=f"the parameters of {name}: {error}") from None

    def identity(self) -> tuple[object, ...]:
        """Return the value that equal grids share: class and parameters, or else attributes."""
        state = self.parameters() or getattr(self, "__dict__", {})
        return (type(self), repr(sorted(state.items())))

    def __eq__(self, other: object) -> bool:
        """Whether both grids are the same rule and so yield equal instants."""
        return isinstance(other, Grid) and self.identity() == other.identity()

    def __hash__(self) -> int:
        """Return equal hashes for equal grids."""
        return hash(self.identity())

    def __repr__(self) -> str:
        """Write the grid as code, with its parameters if it has any."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({given})"

    def _passed(self, after: datetime, until: datetime) -> Passed | None:
        first, last, count = None, None, 0
        for slot in self._slots_until(after, until):
            first, last, count = first or slot, slot, count + 1
        return Passed(first, last, count) if first and last else None

    def _progressions(self, after: datetime, until: datetime) -> Iterator[Progression]:
        for slot in self._slots_until(after, until):
            yield Progression(slot, ONE, 1)

    def _slots(self, after: datetime) -> Iterator[datetime]:
        slot: datetime | None = check_aware("after", after)
        while slot is not None and (slot := following(self, slot)):
            yield slot

    def _slots_until(self, after: datetime, until: datetime) -> Iterator[datetime]:
        for slot in self._slots(after):
            if slot > until:
                return
            yield slot


def _is_json(value: object) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def following(grid: Grid, t: datetime) -> datetime | None:
    """Return `grid.after(t)` in UTC, or raise BrokenGrid if that is not a later, aware instant."""
    try:
        slot = grid.after(t)
    except SempreError:
        raise
    except Exception as error:
        raise BrokenGrid(
            f"the grid {grid!r}, asked for the slot after {as_shown(t)}, raised {error!r}"
        ) from error
    if slot is None or (type(slot) is datetime and slot.tzinfo is UTC and slot > t):
        return slot
    if not isinstance(slot, datetime) or slot.utcoffset() is None or slot <= t:
        raise BrokenGrid(_answered(grid, t, slot))
    try:
        return as_instant("slot", slot)
    except InstantError:
        raise BrokenGrid(_answered(grid, t, slot)) from None


def _answered(grid: Grid, t: datetime, slot: object) -> str:
    asked = f"the grid {grid!r}, asked for the slot after {as_shown(t)}"
    return f"{asked}, answered {as_shown(slot)}: not a later instant with a zone."
