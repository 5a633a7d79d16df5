"""A sparkline: the last runs of a schedule as bars, drawn as SVG without script or style.

To be replaced by the drawing package once that exists; only `sparkline` is used elsewhere.
"""

from collections.abc import Sequence
from datetime import timedelta

from markupsafe import Markup

from sempre.domain.execution import Execution
from sempre.domain.states import State

__all__ = ["bars", "sparkline"]

STEP, WIDTH, HEIGHT, LEAST = 5, 4, 22, 3
RUNS = 30


def sparkline(history: Sequence[Execution], *, label: str = "") -> Markup:
    """Draw runs, the newest first in `history` and last in the picture; height is duration."""
    rows = list(reversed(history[:RUNS]))
    times = [(row.took or timedelta(0)).total_seconds() for row in rows]
    # Runs of milliseconds are drawn flat: their differences are noise.
    longest = max((1.0, *times))
    classes = [_class_of(row) for row in rows]
    heights = [
        HEIGHT if name == "failed" else max(LEAST, round(HEIGHT * time / longest))
        for name, time in zip(classes, times, strict=True)
    ]
    words = label or f"{len(rows)} runs, {classes.count('failed')} failed"
    return bars([[each] for each in zip(heights, classes, strict=True)], count=RUNS, label=words)


def bars(columns: Sequence[Sequence[tuple[int, str]]], *, count: int, label: str) -> Markup:
    """Draw columns, the last one at the right edge: parts of a height in pixels and a class."""
    width = count * STEP
    start = width - len(columns) * STEP
    drawn = Markup().join(
        _rectangle(start + place * STEP, HEIGHT - sum(height for height, _ in parts[: n + 1]), part)
        for place, parts in enumerate(columns)
        for n, part in enumerate(parts)
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" width="{}" height="{}" role="img" '
        'preserveAspectRatio="none"><title>{}</title>'
        '<rect class="bar-ground" x="0" y="{}" width="{}" height="1"/>{}</svg>'
    ).format(width, HEIGHT + 1, width, HEIGHT + 1, label, HEIGHT, width, drawn)


def _rectangle(x: int, y: int, part: tuple[int, str]) -> Markup:
    height, name = part
    return Markup('<rect class="bar-{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        name, x, y, WIDTH, height
    )


def _class_of(row: Execution) -> str:
    if row.state is State.FAILED or (row.is_live and row.failures):
        return "failed"
    if row.state is State.RUNNING:
        return "running"
    return "ok" if row.state is State.SUCCEEDED else "none"
