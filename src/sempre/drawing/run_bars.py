"""The sparkline: the last runs of a schedule as small bars, height by duration, class by state."""

from collections.abc import Sequence
from dataclasses import dataclass

from sempre.drawing.canvas import Canvas
from sempre.drawing.frame import Table
from sempre.drawing.scales import length_text

__all__ = ["Bar", "bars_table", "sparkline"]

PITCH, BAR, HEIGHT = 5, 4, 20
LEAST = 2.0


@dataclass(frozen=True)
class Bar:
    """One run.

    Attributes:
        seconds: how long the run took; 0 for a slot that did not run.
        state: the state of the execution.
        title: the tooltip.
    """

    seconds: float
    state: str
    title: str = ""


def sparkline(
    bars: Sequence[Bar], *, title: str = "Last runs", most: int = 30, embedded: bool = True
) -> str:
    """Return the last `most` runs, oldest first, as SVG; failed runs also carry a mark."""
    shown = bars[-most:] if most else bars
    canvas = Canvas(PITCH * max(most, len(shown), 1), HEIGHT)
    # Runs of milliseconds are drawn flat: their differences are noise.
    longest = max((1.0, *(each.seconds for each in shown)))
    # The newest run is always at the right edge.
    left = canvas.width - PITCH * len(shown)
    for number, bar in enumerate(shown):
        height = max(LEAST, (HEIGHT - 4) * bar.seconds / longest)
        x = left + PITCH * number
        kind = f"run {bar.state}"
        canvas.rect((x, HEIGHT - height), (BAR, height), kind, title=bar.title or bar.state)
        if bar.state == "failed":
            canvas.rect((x, 0), (BAR, LEAST), kind)
    return canvas.svg("sparkline", title, _described(shown), embedded=embedded)


def bars_table(bars: Sequence[Bar]) -> Table:
    """Return the runs as rows."""
    rows = tuple((bar.title, bar.state, length_text(bar.seconds)) for bar in bars)
    return Table(("run", "state", "took"), rows)


def _described(bars: Sequence[Bar]) -> str:
    failed = sum(bar.state == "failed" for bar in bars)
    return f"{len(bars)} runs, {failed} failed." if bars else "No runs yet."
