"""The theme: one stylesheet for all drawings, light and dark by the setting of the reader.

A page serves `STYLE` as a file. States differ by colour, and failures and missed slots by shape
too: a drawing stays readable in black and white.
"""

from collections.abc import Mapping

__all__ = ["STATES", "STYLE", "style_with"]

STATES = ("succeeded", "failed", "running", "skipped", "missed", "cancelled", "superseded")
"""States of executions that have a colour; other classes get the colour of skipped ones."""

LIGHT = {
    "ink": "#1f2933",
    "faint": "#5b6773",
    "ground": "#ffffff",
    "line": "#d9dee4",
    "empty": "#eef1f4",
    "first": "#1f6feb",
    "second": "#9ec2f7",
    "good": "#2f8f4e",
    "bad": "#cf3333",
    "busy": "#1f6feb",
    "idle": "#9aa5b1",
    "warm": "#b76e00",
}
DARK = {
    "ink": "#e6edf3",
    "faint": "#9da7b3",
    "ground": "#0d1117",
    "line": "#30363d",
    "empty": "#1c232b",
    "first": "#58a6ff",
    "second": "#1f4a80",
    "good": "#4cb56f",
    "bad": "#ff6b64",
    "busy": "#58a6ff",
    "idle": "#6e7781",
    "warm": "#e0a33a",
}
SHAPES = """
.chart { max-width: 100%; height: auto; }
.chart text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
.chart .heading { font-size: 15px; font-weight: 600; }
.chart .middle { text-anchor: middle; }
.chart .end { text-anchor: end; }
.chart line, .chart polyline { fill: none; stroke-width: 1; }
.chart .curve { stroke-width: 1.5; stroke-linejoin: round; }
.chart .limit { stroke-width: 1.5; stroke-dasharray: 6 4; }
.chart .planned { fill: none; stroke-dasharray: 3 2; }
.chart .now { stroke-width: 1.5; }
.chart .hatch { stroke-width: 1.2; }
"""
COLOURS = """
.chart text {{ fill: {ink}; }}
.chart .faint {{ fill: {faint}; }}
.chart .ground {{ fill: {ground}; }}
.chart .axis, .chart .rule {{ stroke: {line}; }}
.chart .band {{ fill: {empty}; }}
.chart .p95 {{ fill: {second}; }}
.chart .p50 {{ fill: {first}; }}
.chart .curve {{ fill: none; stroke: {first}; }}
.chart .dot {{ fill: {first}; }}
.chart .limit, .chart .now {{ stroke: {bad}; }}
.chart .level {{ stroke: {warm}; stroke-dasharray: 5 3; }}
.chart .planned, .chart .tick {{ stroke: {faint}; }}
.chart .run {{ fill: {idle}; }}
.chart .succeeded {{ fill: {good}; }}
.chart .failed {{ fill: {bad}; }}
.chart .running {{ fill: {busy}; }}
.chart .missed, .chart .cancelled {{ fill: {warm}; }}
.chart .skipped, .chart .superseded {{ fill: {idle}; }}
.chart .hatch {{ stroke: {ink}; }}
.chart .failures-0 {{ fill: {good}; }}
.chart .failures-1 {{ fill: {warm}; fill-opacity: 0.55; }}
.chart .failures-2 {{ fill: {warm}; }}
.chart .failures-3 {{ fill: {bad}; }}
.chart .empty {{ fill: {empty}; }}
"""


def style_with(colours: Mapping[str, str]) -> str:
    """Return the stylesheet in other colours: a page gives its own variables.

    Args:
        colours: a CSS colour for each name that `LIGHT` has.
    """
    return SHAPES + COLOURS.format(**colours)


STYLE = (
    SHAPES
    + COLOURS.format(**LIGHT)
    + "@media (prefers-color-scheme: dark) {"
    + COLOURS.format(**DARK)
    + "}\n"
)
"""The stylesheet of every drawing."""
