"""Time zones as timelines: the stretches of constant offset between two clock changes.

On a timeline every wall time belongs to at most one span, so that finding the instant of a wall
time, or the wall time of an instant, is one binary search. Zones come from the installed tzdata
package, never from the operating system: workers with the same package compute equal slots.
"""

from bisect import bisect_right
from datetime import MAXYEAR
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol, get_args

from sempre.errors import InvalidInput, PolicyError, ZoneError, nearest
from sempre.grids.tzif import Compiled, read_tzif

__all__ = [
    "FIRST_REACH",
    "UNSTATED",
    "Fold",
    "Gap",
    "HasPolicies",
    "Timeline",
    "Unstated",
    "Zone",
    "check_fold",
    "check_gap",
    "shown_policies",
    "tzdata_version",
    "zone",
    "zone_names",
]

Gap = Literal["shift", "skip"]
"""What becomes of a wall time that the clock skips: run after the gap, or not at all."""

Fold = Literal["first", "last", "both"]
"""Which showing counts of a wall time that the clock shows twice."""

ALWAYS = 2**62
YEAR = 31_556_952
# Spans are computed up to here at first, and further when a later time is needed.
FIRST_REACH = 2_524_608_000  # 2050
# No cron text waits longer for its next match: 29 February on a given weekday takes 40 years.
LONGEST_WAIT = 50 * YEAR
CENTURY = 100 * YEAR


class HasPolicies(Protocol):
    """A grid on the wall clock of a zone."""

    gap: Gap
    fold: Fold


class Timeline(NamedTuple):
    """The spans of one zone under one fold policy, in order, as columns.

    Span i lasts from the UTC second `starts[i]`, has `offsets[i]`, and owns the wall seconds
    from `opens[i]` up to but without `closes[i]`. With "first" or "last" no wall second has two
    owners; one with none lies in a gap. Listed until well past `reach`, so that the next match
    after any second below it can be looked up, be it decades later; beyond the wall second
    `listed` nothing is known.
    """

    starts: list[int]
    offsets: list[int]
    opens: list[int]
    closes: list[int]
    reach: int
    listed: int

    def span_at(self, second: int) -> int:
        """Return the index of the span that this UTC second lies in."""
        return bisect_right(self.starts, second) - 1

    def offset_of(self, wall: int) -> int:
        """Return the offset of the span that owns a wall second, or of the one before its gap."""
        return self.offsets[bisect_right(self.opens, wall) - 1]

    def shows(self, wall: int) -> bool:
        """Whether the clock ever shows this wall second."""
        return wall < self.closes[bisect_right(self.opens, wall) - 1]


class Zone:
    """One zone of tzdata. Immutable, apart from a cache of its timelines."""

    __slots__ = ("_compiled", "_timelines", "name")

    def __init__(self, name: str, compiled: Compiled) -> None:
        """Wrap what the file of `name` says."""
        self.name = name
        self._compiled = compiled
        self._timelines: dict[Fold, Timeline] = {}

    def timeline(self, fold: Fold = "first", *, reach: int = FIRST_REACH) -> Timeline:
        """Return the timeline under a fold policy, for questions about seconds below `reach`."""
        known = self._timelines.get(fold)
        if known is None or known.reach <= reach:
            # Further than needed: the next steps then find the timeline computed already.
            known = _lay_out(self._compiled, fold, reach if known is None else reach + CENTURY)
            self._timelines[fold] = known
        return known

    def offset_at(self, second: int) -> int:
        """Return the seconds east of UTC that this zone's clocks show at a UTC second."""
        line = self.timeline(reach=max(FIRST_REACH, second))
        return line.offsets[line.span_at(second)]


def zone(name: str) -> Zone:
    """Return a zone by its IANA name; ZoneError, with the nearest names, if there is none."""
    if not isinstance(name, str) or name not in zone_names():
        hint = nearest(name, zone_names()) if isinstance(name, str) else ""
        raise ZoneError("timezone", name, allowed="a name of the IANA database", hint=hint)
    # A plain text: what is kept by its name must not be kept as unstated.
    return _load(str(name))


@cache
def zone_names() -> frozenset[str]:
    """Return every name that the installed tzdata knows."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("ascii").split())


@cache
def tzdata_version() -> str:
    """Return the version of the installed tzdata, such as 2026.6; later ones sort later."""
    from tzdata import __version__  # noqa: PLC0415 - read only when a row is stamped

    return str(__version__)


class Unstated(str):
    """The zone name of a grid that states no zone: the zone of the application applies."""

    __slots__ = ()


UNSTATED = Unstated("UTC")
"""The zone of a grid that states none."""


def check_gap(value: str) -> Gap:
    """Return a gap policy, or raise PolicyError."""
    return _check("gap", value, get_args(Gap))  # type: ignore[return-value]


def check_fold(value: str) -> Fold:
    """Return a fold policy, or raise PolicyError."""
    return _check("fold", value, get_args(Fold))  # type: ignore[return-value]


def shown_policies(grid: "HasPolicies") -> str:
    """Return gap and fold as keywords in code; an empty text if both have their default."""
    if (grid.gap, grid.fold) == ("shift", "first"):
        return ""
    return f", gap={grid.gap!r}, fold={grid.fold!r}"


def _check(field: str, value: str, allowed: tuple[str, ...]) -> str:
    if value in allowed:
        return value
    hint = nearest(value, allowed) if isinstance(value, str) else ""
    error: InvalidInput = PolicyError(field, value, allowed=", ".join(allowed), hint=hint)
    raise error


@cache
def _load(name: str) -> Zone:
    # As a path below the package, not as a package of its own: not every folder there is one.
    file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    return Zone(name, read_tzif(file.read_bytes()))


def _lay_out(compiled: Compiled, fold: Fold, reach: int) -> Timeline:
    starts, offsets, listed = [-ALWAYS], [compiled.first], ALWAYS
    changes = list(compiled.changes)
    if compiled.rule:
        last = changes[-1][0] if changes else 0
        ends = min(1974 + (max(reach, last) + LONGEST_WAIT) // YEAR, MAXYEAR + 1)
        years = range(1969 + last // YEAR, ends)
        later = (change for year in years for change in compiled.rule.changes(year))
        changes += [change for change in later if change[0] > last]
        listed = ALWAYS if ends > MAXYEAR else changes[-1][0] - YEAR
    for start, offset in changes:
        # Only the name or the daylight flag changed: to the wall clock nothing happened.
        if offset != offsets[-1]:
            starts.append(start)
            offsets.append(offset)
    return Timeline(
        starts, offsets, *_owned_walls(starts, offsets, fold), listed - LONGEST_WAIT, listed
    )


def _owned_walls(starts: list[int], offsets: list[int], fold: Fold) -> tuple[list[int], list[int]]:
    opens, closes = [-ALWAYS], []
    for (before, after), start in zip(pairwise(offsets), starts[1:], strict=True):
        stops_at, goes_on_at = start + before, start + after
        opens.append(max(stops_at, goes_on_at) if fold == "first" else goes_on_at)
        closes.append(min(stops_at, goes_on_at) if fold == "last" else stops_at)
    closes.append(ALWAYS)
    return opens, closes
