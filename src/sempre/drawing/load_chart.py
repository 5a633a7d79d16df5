"""The load chart: runs in flight over time, as bands by p50 and p95, with starts beneath."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sempre.drawing.canvas import Canvas
from sempre.drawing.frame import Box, Table, draw_heading, draw_legend, draw_times, draw_values
from sempre.drawing.scales import Scale, TimeScale, number_text

__all__ = ["LoadCurve", "load"]

HEIGHT = 300
BESIDE = 44
# One step of the curve for each two pixels.
PIXELS = 2
STARTS = 36
LEGEND = (("p50", "runs in flight, p50"), ("p95", "p95"), ("run", "starts"))


@dataclass(frozen=True)
class LoadCurve:
    """Expected load in equal steps of time.

    Attributes:
        step: the time from one value to the next.
        p50: runs in flight by median durations.
        p95: runs in flight by p95 durations.
        starts: starts in each step.
        capacity: the runs that workers can have in flight; None draws no line.
    """

    start: datetime
    step: timedelta
    p50: Sequence[float]
    p95: Sequence[float]
    starts: Sequence[float] = ()
    timezone: str = "UTC"
    capacity: float | None = None

    @property
    def end(self) -> datetime:
        """The first instant after the curve."""
        return self.start + self.step * len(self.p95)

    def table(self, most: int = 48) -> Table:
        """Return the curve as rows of at most `most` buckets."""
        curve = self.bucketed(most)
        starts = curve.starts or [0.0] * len(curve.p95)
        rows = tuple(
            (
                (curve.start + number * curve.step).isoformat(" ", "minutes"),
                f"{starts[number]:g}",
                f"{curve.p50[number]:g}",
                f"{curve.p95[number]:g}",
            )
            for number in range(len(curve.p95))
        )
        return Table(("from (UTC)", "starts", "running p50", "running p95"), rows)

    def bucketed(self, most: int) -> "LoadCurve":
        """Return the curve in at most `most` steps: the highest load, and the sum of starts."""
        size = ceil(len(self.p95) / most)
        if size <= 1:
            return self
        places = range(0, len(self.p95), size)
        return LoadCurve(
            self.start,
            self.step * size,
            [max(self.p50[place : place + size]) for place in places],
            [max(self.p95[place : place + size]) for place in places],
            [round(sum(self.starts[place : place + size]), 3) for place in places]
            if self.starts
            else (),
            self.timezone,
            self.capacity,
        )


def load(
    curve: LoadCurve,
    *,
    title: str = "Expected load",
    width: int = 960,
    embedded: bool = True,
) -> str:
    """Return the chart of a load curve as SVG."""
    canvas = Canvas(width, HEIGHT)
    highest = max([*curve.p95, curve.capacity or 0, 1])
    draw_heading(canvas, title)
    draw_legend(canvas, LEGEND)
    box = Box(BESIDE, 52, width - 12, HEIGHT - 52 - STARTS)
    times = TimeScale(curve.start, curve.end, box.left, box.right, curve.timezone)
    values = Scale(highest, box.bottom, box.top)
    draw_values(canvas, values, box, [(each, number_text(each)) for each in values.ticks()])
    shown = curve.bucketed(max(1, int((box.right - box.left) / PIXELS)))
    for kind, levels in (("p95", shown.p95), ("p50", shown.p50)):
        canvas.area(_steps(shown, levels, times, values), kind)
    if curve.capacity is not None:
        y = values.place(curve.capacity)
        canvas.line((box.left, y), (box.right, y), "limit", title="capacity of the workers")
        canvas.text((box.right, y - 4), f"capacity {number_text(curve.capacity)}", "faint end")
    low = Box(box.left, box.bottom, box.right, box.bottom + STARTS)
    _draw_starts(canvas, shown, times, low)
    draw_times(canvas, times, low)
    return canvas.svg("load", title, _described(curve), embedded=embedded)


def _steps(
    curve: LoadCurve, levels: Sequence[float], times: TimeScale, values: Scale
) -> list[tuple[float, float]]:
    """Return the corners of a filled curve with steps, without those on a straight line."""
    points = [(times.place(curve.start), values.place(0))]
    for number, level in enumerate(levels):
        y = values.place(level)
        if y != points[-1][1]:
            x = times.place(curve.start + number * curve.step)
            points += [(x, points[-1][1]), (x, y)]
    right = times.place(curve.end)
    return [*points, (right, points[-1][1]), (right, values.place(0))]


def _draw_starts(canvas: Canvas, curve: LoadCurve, times: TimeScale, box: Box) -> None:
    """Draw the starts of each step downward, below the load."""
    if not any(curve.starts):
        return
    canvas.line((box.left, box.top), (box.right, box.top), "axis")
    scale = Scale(max(curve.starts), box.top + 2, box.bottom - 6)
    down = _steps(curve, curve.starts, times, scale)
    canvas.area(down, "run")


def _described(curve: LoadCurve) -> str:
    """Return the highest load in words."""
    if not curve.p95:
        return "No load."
    place = max(range(len(curve.p95)), key=lambda number: curve.p95[number])
    at = (curve.start + place * curve.step).isoformat(" ", "minutes")
    most = f"{max(curve.p50):g} runs in flight by p50, {curve.p95[place]:g} by p95"
    total = f" {round(sum(curve.starts)):,} starts in all." if curve.starts else ""
    return f"At most {most}, first at {at}.{total}"
