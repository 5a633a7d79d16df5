"""The frame of a chart: its heading, axes and the zone of its times."""

from collections.abc import Sequence
from dataclasses import dataclass

from sempre.drawing.canvas import Canvas
from sempre.drawing.scales import Scale, TimeScale

__all__ = ["Box", "Table", "draw_heading", "draw_legend", "draw_times", "draw_values"]

LABEL = 4
SQUARE = 10
LETTER = 6.4


@dataclass(frozen=True)
class Box:
    """The rectangle of a chart in which values are drawn."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Table:
    """The content of a drawing as rows, for readers who cannot see it."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def draw_heading(canvas: Canvas, title: str, note: str = "") -> None:
    """Write the heading of a chart, and a note below it."""
    canvas.text((8, 20), title, "heading")
    if note:
        canvas.text((8, 38), note, "faint")


def draw_legend(canvas: Canvas, entries: Sequence[tuple[str, str]]) -> None:
    """Draw what classes mean, below the heading: a small square and a text for each."""
    x = 8.0
    for kind, text in entries:
        canvas.rect((x, 29), (SQUARE, SQUARE), kind)
        canvas.text((x + SQUARE + 4, 38), text, "faint")
        x += SQUARE + 16 + LETTER * len(text)


def draw_times(canvas: Canvas, scale: TimeScale, box: Box) -> None:
    """Draw the time axis below a box: midnights are marked, and the zone is named once."""
    canvas.line((box.left, box.bottom), (box.right, box.bottom), "axis")
    for tick in scale.ticks():
        x = scale.place(tick.at)
        canvas.line((x, box.top if tick.is_midnight else box.bottom), (x, box.bottom + 4), "rule")
        canvas.text((x, box.bottom + 17), tick.label, "faint middle")
    canvas.text((box.right, box.bottom + 33), f"times: {scale.timezone}", "faint end")


def draw_values(canvas: Canvas, scale: Scale, box: Box, labels: list[tuple[float, str]]) -> None:
    """Draw the axis of values left of a box, with a rule for each label."""
    for value, label in labels:
        y = scale.place(value)
        canvas.line((box.left, y), (box.right, y), "rule")
        canvas.text((box.left - 6, y + LABEL), label, "faint end")
