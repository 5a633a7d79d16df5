"""What a simulation found: starts in order, and what a person should look at in them.

Pure: from executions and schedules to starts, peaks, overlaps and clock changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sempre.cli.times import length, zone_of
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State
from sempre.grids.grid import Grid
from sempre.grids.instants import instant_of, seconds_of
from sempre.grids.zones import zone

__all__ = ["NOT_RUN", "Busiest", "ClockChange", "Event", "Overlap", "Timeline", "clock_changes"]

MILLION = 1_000_000
DAY = timedelta(days=1)
NOT_RUN = (State.SKIPPED, State.MISSED)
"""The states of slots that came and were not started."""


@dataclass(frozen=True)
class Event:
    """One slot that was started, skipped or missed."""

    at: datetime
    row: Execution

    @classmethod
    def of(cls, row: Execution) -> "Event":
        """Return when something became of an execution: its start, or when it was due."""
        return cls(row.first_started_at or row.due_at, row)

    @property
    def is_start(self) -> bool:
        """Whether it was started."""
        return self.row.first_started_at is not None

    @property
    def late(self) -> timedelta:
        """How long after it was due it started."""
        return self.at - self.row.due_at

    @property
    def note(self) -> str:
        """What is remarkable about it, or an empty text."""
        ended = f"{self.row.state}: {self.row.reason}" if self.row.reason else ""
        late = f"{length(self.late)} late" if self.is_start and self.late else ""
        return ", ".join(filter(None, (late, ended)))


@dataclass(frozen=True)
class ClockChange:
    """A change of the clocks of a zone; by more than nothing if they go forward."""

    zone: str
    at: datetime
    by: timedelta

    @property
    def direction(self) -> str:
        """Where the clock goes."""
        return "forward" if self.by > timedelta(0) else "back"

    def is_day_of(self, instant: datetime) -> bool:
        """Tell whether an instant lies on the day of the change, by the clocks of its zone."""
        return _day(self.zone, instant) == _day(self.zone, self.at)


@dataclass(frozen=True)
class Busiest:
    """The instant at which most happens, and of which schedules."""

    at: datetime
    count: int
    names: tuple[str, ...] = ()


@dataclass
class Overlap:
    """What became of slots of a schedule that came while an earlier run went on."""

    name: str
    skipped: int = 0
    waited: int = 0
    longest: timedelta = timedelta(0)
    beside: int = 0

    def note(self, event: Event, runs_until: datetime) -> None:
        """Count a slot that came when earlier runs went on until an instant."""
        if not event.is_start:
            self.skipped += event.row.reason == Reason.OVERLAP
            return
        self.waited += event.late > timedelta(0)
        self.longest = max(self.longest, event.late)
        self.beside += runs_until > event.at

    @property
    def is_any(self) -> bool:
        """Whether there was any overlap at all."""
        return bool(self.skipped or self.waited or self.beside)

    def __str__(self) -> str:
        """Say it in a few words."""
        skipped = f"{self.skipped} skipped" if self.skipped else ""
        waited = f"{self.waited} waited, up to {length(self.longest)}" if self.waited else ""
        beside = f"{self.beside} ran beside an earlier one" if self.beside else ""
        return f"{self.name}: {', '.join(filter(None, (skipped, waited, beside)))}"


@dataclass(frozen=True)
class Timeline:
    """All that happened between two instants, in order."""

    start: datetime
    end: datetime
    events: Sequence[Event]
    schedules: Sequence[Schedule] = field(default_factory=tuple)

    @property
    def starts(self) -> list[Event]:
        """What was started."""
        return [event for event in self.events if event.is_start]

    @property
    def changes(self) -> list[ClockChange]:
        """The clock changes of every zone that a schedule goes by."""
        zones = sorted({zone_of(each.definition.grid) for each in self.schedules})
        found = (change for name in zones for change in clock_changes(name, self.start, self.end))
        return sorted(found, key=lambda change: (change.at, change.zone))

    @property
    def notes(self) -> list[str]:
        """What schedules do on the days of those clock changes that others do not expect."""
        changes = self.changes
        return [
            f"{each.name}: {note}"
            for each in self.schedules
            for note in each.definition.grid.notes()
            if _is_about(note, each.definition.grid, changes)
        ]

    @property
    def peak(self) -> Busiest | None:
        """The minute with most starts."""
        minutes = Counter(event.at.replace(second=0, microsecond=0) for event in self.starts)
        if not minutes:
            return None
        at, count = min(minutes.items(), key=lambda each: (-each[1], each[0]))
        names = (e.row.snapshot.name for e in self.starts if at <= e.at < at + timedelta(minutes=1))
        return Busiest(at, count, tuple(sorted(set(names))))

    @property
    def most_at_once(self) -> Busiest | None:
        """When most runs went on at the same time; None if none did beside another."""
        now = most = 0
        when = self.start
        for at, step in sorted(self._steps()):
            now += step
            if now > most:
                most, when = now, at
        return Busiest(when, most) if most > 1 else None

    @property
    def overlaps(self) -> list[Overlap]:
        """The schedules of which slots came while an earlier run went on, by name."""
        found: dict[str, Overlap] = {}
        until: dict[str, datetime] = {}
        for event in self.events:
            name = event.row.snapshot.name
            runs_until = until.get(name, self.start)
            found.setdefault(name, Overlap(name)).note(event, runs_until)
            if event.is_start:
                until[name] = max(runs_until, event.row.finished_at or self.end)
        return [found[name] for name in sorted(found) if found[name].is_any]

    def _steps(self) -> Iterator[tuple[datetime, int]]:
        """Yield where a run begins and ends; an end comes before a start at the same instant."""
        for event in self.starts:
            ends = event.row.finished_at or self.end
            if ends > event.at:
                yield event.at, 1
                yield ends, -1


def clock_changes(zone_name: str, start: datetime, end: datetime) -> list[ClockChange]:
    """Return when the clocks of a zone change between two instants, and by how much."""
    line = zone(zone_name).timeline(reach=seconds_of(end) + 1)
    first, last = line.span_at(seconds_of(start)) + 1, line.span_at(seconds_of(end))
    return [
        ClockChange(
            zone_name,
            instant_of(line.starts[at] * MILLION),
            timedelta(seconds=line.offsets[at] - line.offsets[at - 1]),
        )
        for at in range(first, last + 1)
    ]


def _is_about(note: str, grid: Grid, changes: Iterable[ClockChange]) -> bool:
    """Tell whether a note of a grid speaks of one of these clock changes."""
    words = ("clock changes", *(f"goes {each.direction}" for each in _of(grid, changes)))
    return any(_of(grid, changes)) and any(word in note for word in words)


def _of(grid: Grid, changes: Iterable[ClockChange]) -> list[ClockChange]:
    return [change for change in changes if change.zone == zone_of(grid)]


def _day(zone_name: str, instant: datetime) -> int:
    second = seconds_of(instant)
    return (second + zone(zone_name).offset_at(second)) // int(DAY.total_seconds())
