"""The Gantt chart: past runs and planned slots of many schedules, with the load beneath."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.drawing.canvas import Canvas, shortened
from sempre.drawing.frame import Box, Table, draw_heading, draw_times
from sempre.drawing.scales import Scale, TimeScale, length_text, number_text

__all__ = ["Lane", "Planned", "Ran", "gantt", "gantt_table"]

PITCH, BAR = 18, 10
TOP, FOOT, LOAD = 62, 40, 44
LETTER = 6.6
LEAST = 2.0
MOST_LETTERS = 28
MOST_LANES = 200


@dataclass(frozen=True)
class Ran:
    """A run; without an end it is in flight."""

    start: datetime
    end: datetime | None
    state: str
    title: str = ""


@dataclass(frozen=True)
class Planned:
    """A slot to come, and how long its run is expected to take."""

    at: datetime
    length: timedelta = timedelta(0)
    title: str = ""


@dataclass(frozen=True)
class Lane:
    """The runs and slots of one schedule."""

    name: str
    ran: Sequence[Ran] = ()
    planned: Sequence[Planned] = ()


def gantt(
    lanes: Sequence[Lane],
    window: tuple[datetime, datetime],
    now: datetime,
    *,
    title: str = "Timeline",
    timezone: str = "UTC",
    load: Sequence[float] = (),
    width: int = 960,
    embedded: bool = True,
) -> str:
    """Return a timeline as SVG; of more than 200 lanes the first 200 are drawn.

    Args:
        lanes: one row each, from above.
        window: the first and the last instant.
        now: drawn as a line, if it lies in the window.
        title: the heading.
        timezone: the zone of the time axis.
        load: runs in flight in equal steps of the window, drawn beneath.
        width: in pixels; a narrow page asks for a narrow drawing.
        embedded: whether a page carries the stylesheet.
    """
    shown = lanes[:MOST_LANES]
    height = TOP + PITCH * max(1, len(shown)) + (LOAD if load else 0) + FOOT
    canvas = Canvas(width, height)
    more = f"; {len(lanes) - len(shown)} more schedules" if len(lanes) > len(shown) else ""
    draw_heading(canvas, title, f"filled: runs; dashed: planned, by median duration{more}")
    letters = min(MOST_LETTERS, max((len(lane.name) for lane in shown), default=4), width // 30)
    box = Box(letters * LETTER + 16, TOP, width - 12, TOP + PITCH * max(1, len(shown)))
    times = TimeScale(*window, box.left, box.right, timezone)
    for number, lane in enumerate(shown):
        top = box.top + PITCH * number
        _draw_name(canvas, lane.name, times, top, letters)
        _draw_lane(canvas, lane, times, top, now)
    low = Box(box.left, box.top, box.right, box.bottom + (LOAD if load else 0))
    if load:
        _draw_load(canvas, load, Box(box.left, box.bottom, box.right, low.bottom))
    draw_times(canvas, times, low)
    if window[0] <= now <= window[1]:
        x = times.place(now)
        canvas.line((x, TOP - 4), (x, low.bottom), "now", title="now")
        canvas.text((x, TOP - 6), "now", "faint middle")
    return canvas.svg("gantt", title, _described(lanes), embedded=embedded)


def gantt_table(lanes: Sequence[Lane]) -> Table:
    """Return the runs and planned slots as rows."""
    return Table(("schedule", "at (UTC)", "took", "state"), tuple(_rows(lanes)))


def _rows(lanes: Sequence[Lane]) -> Iterator[tuple[str, ...]]:
    for lane in lanes:
        for run in lane.ran:
            took = length_text(run.end - run.start) if run.end else ""
            yield lane.name, run.start.isoformat(" ", "seconds"), took, run.state
        for slot in lane.planned:
            expected = length_text(slot.length)
            yield lane.name, slot.at.isoformat(" ", "seconds"), expected, "planned"


def _draw_name(canvas: Canvas, name: str, times: TimeScale, top: float, letters: int) -> None:
    canvas.line((times.left, top + PITCH), (times.right, top + PITCH), "rule")
    canvas.text((times.left - 8, top + PITCH - 5), shortened(name, letters), "end", title=name)


def _draw_lane(canvas: Canvas, lane: Lane, times: TimeScale, top: float, now: datetime) -> None:
    y = top + (PITCH - BAR) / 2
    for run in lane.ran:
        left, right = times.place(run.start), times.place(run.end or now)
        size = max(LEAST, right - left), BAR
        title = run.title or f"{lane.name}: {run.state}"
        canvas.rect((left, y), size, f"run {run.state}", title=title)
        if run.state == "failed":
            canvas.rect((left, y - 3), (size[0], 2), "run failed")
    for slot in lane.planned:
        _draw_planned(canvas, slot, times, y, title=slot.title or f"{lane.name}: planned")


def _draw_planned(canvas: Canvas, slot: Planned, times: TimeScale, y: float, *, title: str) -> None:
    """Draw a slot as a tick, or as a dashed bar if its duration is wide enough to be seen."""
    left, right = times.place(slot.at), times.place(slot.at + slot.length)
    if right - left > 2 * LEAST:
        canvas.rect((left, y), (right - left, BAR), "planned", title=title)
    else:
        canvas.line((left, y), (left, y + BAR), "tick", title=title)


def _draw_load(canvas: Canvas, load: Sequence[float], box: Box) -> None:
    scale = Scale(max(1.0, *load), box.bottom, box.top + 6)
    width = (box.right - box.left) / len(load)
    points: list[tuple[float, float]] = [(box.left, box.bottom)]
    for number, level in enumerate(load):
        x, y = box.left + number * width, scale.place(level)
        points += [(x, y), (x + width, y)]
    canvas.area([*points, (box.right, box.bottom)], "p95", title="runs in flight")
    canvas.text((box.left - 6, box.top + 14), number_text(max(load)), "faint end")
    canvas.text((box.left - 6, box.bottom), "load", "faint end")


def _described(lanes: Sequence[Lane]) -> str:
    ran, planned = sum(len(each.ran) for each in lanes), sum(len(each.planned) for each in lanes)
    return f"{len(lanes)} schedules, {ran} runs and {planned} planned slots."
