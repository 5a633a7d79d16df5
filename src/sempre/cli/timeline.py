"""The timeline of a simulation: starts, peaks, overlaps and clock changes.

Pure: computed from executions and schedules.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sempre.app.times import format_duration, zone_of
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason, State
from sempre.grids.clock_changes import ClockChange, clock_changes
from sempre.grids.grid import Grid

__all__ = ["NOT_RUN", "Busiest", "Event", "Overlap", "Timeline"]

NOT_RUN = (State.SKIPPED, State.MISSED)
"""The states of slots that came and did not start."""


@dataclass(frozen=True)
class Event:
    """One slot that was started, skipped or missed."""

    at: datetime
    row: Execution

    @classmethod
    def of(cls, row: Execution) -> "Event":
        """Return the event of an execution, at its start or when it was due."""
        return cls(row.first_started_at or row.due_at, row)

    @property
    def is_start(self) -> bool:
        """Whether the slot started."""
        return self.row.first_started_at is not None

    @property
    def late(self) -> timedelta:
        """The time from due to start."""
        return self.at - self.row.due_at

    @property
    def note(self) -> str:
        """The lateness, and the reason of a slot that did not succeed; empty for the usual."""
        ended = f"{self.row.state}: {self.row.reason}" if self.row.reason else ""
        late = f"{format_duration(self.late)} late" if self.is_start and self.late else ""
        return ", ".join(filter(None, (late, ended)))


@dataclass(frozen=True)
class Busiest:
    """The busiest instant, and the schedules that start then."""

    at: datetime
    count: int
    names: tuple[str, ...] = ()


@dataclass
class Overlap:
    """The slots of a schedule that came while an earlier run was in flight."""

    name: str
    skipped: int = 0
    waited: int = 0
    longest: timedelta = timedelta(0)
    beside: int = 0

    def note(self, event: Event, runs_until: datetime) -> None:
        """Count a slot; earlier runs are in flight until `runs_until`."""
        if not event.is_start:
            self.skipped += event.row.reason == Reason.OVERLAP
            return
        self.waited += event.late > timedelta(0)
        self.longest = max(self.longest, event.late)
        self.beside += runs_until > event.at

    @property
    def is_any(self) -> bool:
        """Whether any slot overlapped an earlier run."""
        return bool(self.skipped or self.waited or self.beside)

    def __str__(self) -> str:
        """Return the counts in words."""
        skipped = f"{self.skipped} skipped" if self.skipped else ""
        waited = (
            f"{self.waited} waited, up to {format_duration(self.longest)}" if self.waited else ""
        )
        beside = f"{self.beside} ran beside an earlier one" if self.beside else ""
        return f"{self.name}: {', '.join(filter(None, (skipped, waited, beside)))}"


@dataclass(frozen=True)
class Timeline:
    """All events between two instants, in order."""

    start: datetime
    end: datetime
    events: Sequence[Event]
    schedules: Sequence[Schedule] = field(default_factory=tuple)

    def without(self, is_hidden: Callable[[str], bool]) -> "Timeline":
        """Return the timeline without the schedules of some jobs."""
        events = [each for each in self.events if not is_hidden(each.row.snapshot.job)]
        schedules = [each for each in self.schedules if not is_hidden(each.definition.job)]
        return replace(self, events=events, schedules=schedules)

    @property
    def starts(self) -> list[Event]:
        """The slots that started."""
        return [event for event in self.events if event.is_start]

    @property
    def changes(self) -> list[ClockChange]:
        """The clock changes in the zones of all schedules."""
        zones = sorted({zone_of(each.definition.grid) for each in self.schedules})
        found = (change for name in zones for change in clock_changes(name, self.start, self.end))
        return sorted(found, key=lambda change: (change.at, change.zone))

    @property
    def notes(self) -> list[str]:
        """The notes of grids about the days of these clock changes."""
        changes = self.changes
        return [
            f"{each.name}: {note}"
            for each in self.schedules
            for note in each.definition.grid.notes()
            if _is_about(note, each.definition.grid, changes)
        ]

    @property
    def peak(self) -> Busiest | None:
        """The minute with the most starts."""
        minutes = Counter(event.at.replace(second=0, microsecond=0) for event in self.starts)
        if not minutes:
            return None
        at, count = min(minutes.items(), key=lambda each: (-each[1], each[0]))
        names = (e.row.snapshot.name for e in self.starts if at <= e.at < at + timedelta(minutes=1))
        return Busiest(at, count, tuple(sorted(set(names))))

    @property
    def most_at_once(self) -> Busiest | None:
        """The instant with the most runs in flight; None without two at once."""
        now = most = 0
        when = self.start
        for at, step in sorted(self._steps()):
            now += step
            if now > most:
                most, when = now, at
        return Busiest(when, most) if most > 1 else None

    @property
    def overlaps(self) -> list[Overlap]:
        """The schedules whose slots overlap earlier runs, by name."""
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
        """Yield +1 at the start and -1 at the end of each run; sorted, an end precedes a start."""
        for event in self.starts:
            ends = event.row.finished_at or self.end
            if ends > event.at:
                yield event.at, 1
                yield ends, -1


def _is_about(note: str, grid: Grid, changes: Iterable[ClockChange]) -> bool:
    """Return whether a note of a grid is about one of these clock changes."""
    words = ("clock changes", *(f"goes {each.direction}" for each in _of(grid, changes)))
    return any(_of(grid, changes)) and any(word in note for word in words)


def _of(grid: Grid, changes: Iterable[ClockChange]) -> list[ClockChange]:
    return [change for change in changes if change.zone == zone_of(grid)]
