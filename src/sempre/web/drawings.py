"""Drawings in pages: `sempre.drawing` as markup, and the bars of the overview."""

from collections.abc import Sequence
from datetime import timedelta

from markupsafe import Markup

from sempre import drawing
from sempre.domain.execution import Execution
from sempre.domain.states import State

__all__ = ["bars", "embedded", "sparkline", "state_of"]

STEP, WIDTH, HEIGHT = 5, 4, 22
RUNS = 30


def embedded(svg: str) -> Markup:
    """Return a drawing as markup: `sempre.drawing` has escaped every text in it."""
    return Markup(svg)  # noqa: S704 - the drawing is escaped, and has no script and no link


def sparkline(history: Sequence[Execution], *, label: str = "Last runs") -> Markup:
    """Draw runs, the newest first in `history` and last in the picture; height is duration."""
    shown = [
        drawing.Bar((row.took or timedelta(0)).total_seconds(), state_of(row))
        for row in reversed(history[:RUNS])
    ]
    return embedded(drawing.sparkline(shown, title=label, most=RUNS))


def state_of(row: Execution) -> str:
    """Return the state that a drawing shows: a run that waits for its retry has failed."""
    return str(State.FAILED if row.is_live and row.failures else row.state)


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
