"""The calendar: days by week, coloured by the share of failures; missed slots are hatched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sempre.drawing.canvas import Canvas
from sempre.drawing.frame import Table

__all__ = ["Day", "calendar", "calendar_table"]

CELL, PITCH = 11, 13
LEFT, TOP = 30, 20
WEEK = 7
SHARES = (0.0, 0.1, 0.5)
NAMES = {0: "Mon", 2: "Wed", 4: "Fri"}
ROOM = 3


@dataclass(frozen=True)
class Day:
    """The executions of one day.

    Attributes:
        runs: executions that succeeded or failed.
        failed: those that failed.
        missed: slots that did not run.
    """

    day: date
    runs: int = 0
    failed: int = 0
    missed: int = 0

    @property
    def kind(self) -> str:
        """The class: by the share of failures, from 0 (none) to 3 (more than half)."""
        if not self.runs:
            return "empty"
        share = self.failed / self.runs
        return f"failures-{sum(share > each for each in SHARES)}"

    @property
    def title(self) -> str:
        """The day in words."""
        counts = f"{self.runs} runs, {self.failed} failed, {self.missed} missed"
        return f"{self.day.isoformat()}: {counts}"


def calendar(days: Sequence[Day], *, title: str = "Runs by day", embedded: bool = True) -> str:
    """Return a heat map of the days as SVG; days without an entry are empty cells."""
    known = {each.day: each for each in days}
    first = min(known, default=date(2001, 1, 1))
    last = max(known, default=first)
    monday = first - timedelta(days=first.weekday())
    weeks = (last - monday).days // WEEK + 1
    canvas = Canvas(LEFT + PITCH * weeks + 4, TOP + PITCH * WEEK + 4)
    for weekday, name in NAMES.items():
        canvas.text((LEFT - 4, TOP + PITCH * weekday + CELL - 1), name, "faint end")
    _draw_months(canvas, monday, weeks)
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        column, row = divmod((day - monday).days, WEEK)
        place = LEFT + PITCH * column, TOP + PITCH * row
        _draw_day(canvas, known.get(day) or Day(day), place)
    return canvas.svg("calendar", title, _described(days), embedded=embedded)


def calendar_table(days: Sequence[Day]) -> Table:
    """Return the days with executions or missed slots as rows."""
    rows = tuple(
        (each.day.isoformat(), str(each.runs), str(each.failed), str(each.missed))
        for each in days
        if each.runs or each.missed
    )
    return Table(("day", "runs", "failed", "missed"), rows)


def _draw_months(canvas: Canvas, monday: date, weeks: int) -> None:
    """Write the name of each month above the week in which it begins."""
    written = -ROOM
    for week in range(weeks):
        end = monday + timedelta(days=week * WEEK + WEEK - 1)
        if end.day <= WEEK and week - written >= ROOM:
            canvas.text((LEFT + PITCH * week, TOP - 6), f"{end:%b}", "faint")
            written = week


def _draw_day(canvas: Canvas, day: Day, place: tuple[float, float]) -> None:
    canvas.rect(place, (CELL, CELL), day.kind, title=day.title)
    if day.missed:
        x, y = place
        canvas.line((x, y + CELL), (x + CELL, y), "hatch", title=day.title)
        canvas.line((x, y + CELL / 2), (x + CELL / 2, y), "hatch")
        canvas.line((x + CELL / 2, y + CELL), (x + CELL, y + CELL / 2), "hatch")


def _described(days: Sequence[Day]) -> str:
    runs, failed = sum(each.runs for each in days), sum(each.failed for each in days)
    missed = sum(each.missed for each in days)
    return f"{runs:,} runs on {len(days):,} days, {failed:,} failed, {missed:,} slots missed."
