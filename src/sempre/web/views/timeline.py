"""The timeline: past runs and planned slots of schedules around now, with their load.

A page has at most 50 schedules, the last runs of each, and a bounded number of planned slots; it
costs three queries, whatever the store holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from sempre.app.presentation.slots import upcoming
from sempre.app.times import format_duration
from sempre.domain.execution import Execution
from sempre.domain.forecast import durations_of
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch, stopping_schedule
from sempre.drawing import Lane, Planned, Ran, gantt
from sempre.errors import SempreError
from sempre.ports.messages import ScheduleQuery, View
from sempre.web.answers import PageAnswer
from sempre.web.drawings import embedded, state_of
from sempre.web.visit import Visit

__all__ = ["LaneView", "Timeline", "levels_of", "read_timeline", "timeline_page"]

LANES = 50
RUNS = 40
PLANNED = 60
STEPS = 160
WIDE, NARROW = 1180, 380
KEPT = 5.0
"""Seconds for which visits share a reading."""
ZOOMS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
}
USUAL = "24h"
SHORTEST = timedelta(seconds=1)
# Ends without a start that are no news: their slots are counted by other executions.
UNSHOWN = (State.SUPERSEDED, State.CANCELLED)


@dataclass(frozen=True)
class LaneView:
    """A schedule on the timeline.

    Attributes:
        expected: the median duration of its last runs; None without one.
        is_cut: whether the window has older runs than those that are drawn.
        error: why its planned slots are unknown here; empty if they are known.
    """

    name: str
    ran: Sequence[Ran]
    planned: Sequence[datetime]
    expected: timedelta | None
    is_cut: bool = False
    error: str = ""

    @property
    def failed(self) -> int:
        """The number of failed runs in the window."""
        return sum(each.state == "failed" for each in self.ran)

    def drawn(self) -> Lane:
        """Return the lane to draw."""
        length = self.expected or timedelta(0)
        return Lane(self.name, self.ran, [Planned(at, length) for at in self.planned])


@dataclass(frozen=True)
class Timeline:
    """Schedules by name in a window around now.

    Attributes:
        after: where the next page begins; empty at the end.
    """

    lanes: list[LaneView]
    start: datetime
    end: datetime
    now: datetime
    after: str = ""

    @property
    def ran(self) -> int:
        """The number of runs that are drawn."""
        return sum(len(each.ran) for each in self.lanes)

    @property
    def planned(self) -> int:
        """The number of planned slots that are drawn."""
        return sum(len(each.planned) for each in self.lanes)

    @property
    def complete(self) -> tuple[datetime, datetime]:
        """The part of the window in which every run and slot is drawn."""
        since = [each.ran[0].start for each in self.lanes if each.is_cut and each.ran]
        until = [each.planned[-1] for each in self.lanes if len(each.planned) == PLANNED]
        return max([self.start, *since]), min([self.end, *until])

    def svg(self, title: str, timezone: str, width: int) -> str:
        """Return the drawing."""
        return gantt(
            [each.drawn() for each in self.lanes],
            (self.start, self.end),
            self.now,
            title=title,
            timezone=timezone,
            load=levels_of(self),
            width=width,
        )


def timeline_page(visit: Visit) -> PageAnswer:
    """Return the timeline."""
    zoom = visit.choice("zoom", tuple(ZOOMS), USUAL)
    filters = {name: visit.asked(name) for name in ("q", "tag", "job")}
    key = ("timeline", zoom, *filters.values(), visit.asked("after"))
    view = visit.shared.value(repr(key), lambda: read_timeline(visit, ZOOMS[zoom]), seconds=KEPT)
    title = f"{zoom} around now"
    values = {
        "view": view,
        "wide": embedded(view.svg(title, visit.zone, WIDE)),
        "narrow": embedded(view.svg(title, visit.zone, NARROW)),
        "zoom": zoom,
        "zooms": tuple(ZOOMS),
        "filters": filters,
        "runs": RUNS,
        "slots": PLANNED,
    }
    return PageAnswer("timeline.html", "Timeline", values, topics=("runs", "schedules"))


def read_timeline(visit: Visit, length: timedelta) -> Timeline:
    """Read the schedules that the query of the URL asks for, in a window around now."""
    reader, store = visit.reader, visit.store
    query = ScheduleQuery(
        text=visit.asked("q"),
        tag=visit.asked("tag") or None,
        job=visit.asked("job") or None,
        limit=LANES,
        after=visit.asked("after"),
    )
    page = reader.read(store.schedules(query))
    switches = reader.read(store.switches())
    ids = [each.id for each in page.items]
    latest = reader.read(store.latest(ids, limit=RUNS)) if ids else {}
    now = reader.now
    window = now - length / 2, now + length / 2
    lanes = [
        _lane(View(each, latest.get(each.id, ())), window, now, switches) for each in page.items
    ]
    return Timeline(lanes, *window, now, page.after)


def levels_of(timeline: Timeline) -> list[float]:
    """Return the most runs in flight in each of equal steps of the window."""
    events: list[tuple[datetime, int]] = []
    for lane in timeline.lanes:
        past = [(each.start, each.end or timeline.now) for each in lane.ran]
        expected = lane.expected or SHORTEST
        for start, end in [*past, *((at, at + expected) for at in lane.planned)]:
            # An end at the instant of a start comes first: such runs do not overlap.
            events += [(start, 1), (max(end, start + SHORTEST), -1)]
    if not events:
        return []
    step = (timeline.end - timeline.start) / STEPS
    levels = [0] * STEPS
    level, place = 0, 0
    for at, change in sorted(events):
        now_place = min(STEPS - 1, max(0, int((at - timeline.start) / step)))
        for between in range(place + 1, now_place + 1):
            levels[between] = level
        place, level = now_place, level + change
        levels[place] = max(levels[place], level)
    return [float(each) for each in levels]


def _lane(
    view: View, window: tuple[datetime, datetime], now: datetime, switches: Sequence[Switch]
) -> LaneView:
    start, end = window
    rows = sorted(view.rows, key=lambda row: row.run_at)
    durations = durations_of([row.took for row in rows if row.took is not None], "schedule")
    ran = [each for each in _runs(rows, now) if (each.end or now) >= start and each.start <= end]
    planned, error = _planned(view, now, end, switches)
    return LaneView(
        view.schedule.name,
        ran,
        planned,
        durations.p50 if durations else None,
        is_cut=len(rows) == RUNS and rows[0].run_at > start,
        error=error,
    )


def _runs(rows: Sequence[Execution], now: datetime) -> Iterator[Ran]:
    for row in rows:
        state = state_of(row)
        if row.started_at is not None:
            end = None if row.state is State.RUNNING else row.finished_at or row.started_at
            took = format_duration((end or now) - row.started_at)
            yield Ran(row.started_at, end, state, f"{row.snapshot.name}: {state}, {took}")
        elif not row.is_live and row.state not in UNSHOWN and row.run_at <= now:
            yield Ran(row.run_at, row.run_at, state)


def _planned(
    view: View, now: datetime, end: datetime, switches: Sequence[Switch]
) -> tuple[list[datetime], str]:
    stop = stopping_schedule(switches, view.schedule)
    begin = _begin(view.schedule, now, stop)
    if begin is None:
        return [], f"stopped by the switch {stop.name}" if stop else ""
    try:
        slots = upcoming(view, after=begin, count=PLANNED, overdue=False)
        return list(takewhile(lambda slot: slot <= end, slots)), ""
    except SempreError as error:
        return [], str(error)


def _begin(schedule: Schedule, now: datetime, stop: Switch | None) -> datetime | None:
    """Return the instant after which slots run; None if a switch stops them without an end."""
    if stop is None or schedule.broken:
        return now
    return None if stop.until is None else max(now, stop.until)
