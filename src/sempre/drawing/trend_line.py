"""The trend: durations or lateness over time, with lines for p50 and p95."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.drawing.canvas import Canvas
from sempre.drawing.frame import Box, Table, draw_heading, draw_times, draw_values
from sempre.drawing.scales import Scale, TimeScale, length_text

__all__ = ["Point", "trend", "trend_table"]

HEIGHT = 200
BESIDE = 52
DOT = 4
# Beyond this number the line alone is drawn.
MOST_DOTS = 150


@dataclass(frozen=True)
class Point:
    """A length of time at an instant, in seconds."""

    at: datetime
    seconds: float
    state: str = "succeeded"
    title: str = ""


def trend(
    points: Sequence[Point],
    *,
    title: str = "Duration",
    timezone: str = "UTC",
    levels: Sequence[tuple[str, float]] = (),
    width: int = 640,
    embedded: bool = True,
) -> str:
    """Return a line of lengths of time as SVG.

    Args:
        points: in order of time.
        title: the heading.
        timezone: the zone of the time axis.
        levels: named lines across the chart in seconds, such as ("p95", 12.5).
        width: in pixels.
        embedded: whether a page carries the stylesheet.
    """
    canvas = Canvas(width, HEIGHT)
    note = ", ".join(f"{name} {length_text(seconds)}" for name, seconds in levels)
    draw_heading(canvas, title, note)
    box = Box(BESIDE, 52, width - 12, HEIGHT - 44)
    if points:
        start, end = points[0].at, max(points[-1].at, points[0].at + timedelta(minutes=1))
        times = TimeScale(start, end, box.left, box.right, timezone)
        highest = max(0.001, *(each.seconds for each in points), *(each for _, each in levels))
        values = Scale(highest, box.bottom, box.top)
        draw_values(canvas, values, box, [(each, length_text(each)) for each in values.ticks()])
        draw_times(canvas, times, box)
        for name, seconds in levels:
            y = values.place(seconds)
            label = f"{name} {length_text(seconds)}"
            canvas.line((box.left, y), (box.right, y), "level", title=label)
        _draw_points(canvas, points, times, values)
    else:
        canvas.text((width / 2, HEIGHT / 2), "no runs yet", "faint middle")
    return canvas.svg("trend", title, _described(points, note), embedded=embedded)


def trend_table(points: Sequence[Point]) -> Table:
    """Return the points as rows."""
    rows = tuple(
        (each.at.isoformat(" ", "seconds"), length_text(each.seconds), each.state)
        for each in points
    )
    return Table(("at (UTC)", "length", "state"), rows)


def _draw_points(canvas: Canvas, points: Sequence[Point], times: TimeScale, values: Scale) -> None:
    places = [(times.place(each.at), values.place(each.seconds)) for each in points]
    canvas.polyline(places, "curve")
    shown = points if len(points) <= MOST_DOTS else [p for p in points if p.state == "failed"]
    for each in shown:
        x, y = times.place(each.at) - DOT / 2, values.place(each.seconds) - DOT / 2
        title = each.title or f"{each.at.isoformat(' ', 'seconds')}: {length_text(each.seconds)}"
        canvas.rect((x, y), (DOT, DOT), f"dot {each.state}", title=title)


def _described(points: Sequence[Point], note: str) -> str:
    if not points:
        return "No runs yet."
    longest = max(each.seconds for each in points)
    return ", ".join(filter(None, [f"{len(points)} runs", f"longest {length_text(longest)}", note]))
