"""Drawings as SVG text: pure functions of plain values, coloured by classes.

A drawing has a title, the role `img`, no script, no style attribute and no link, so that a page
with a strict content security policy can embed it. Each has a table with the same content.
"""

from sempre.drawing.day_map import Day, calendar, calendar_table
from sempre.drawing.frame import Table
from sempre.drawing.load_chart import LoadCurve, load
from sempre.drawing.run_bars import Bar, bars_table, sparkline
from sempre.drawing.theme import STYLE, style_with
from sempre.drawing.timeline import Lane, Planned, Ran, gantt, gantt_table
from sempre.drawing.trend_line import Point, trend, trend_table

__all__ = [
    "STYLE",
    "Bar",
    "Day",
    "Lane",
    "LoadCurve",
    "Planned",
    "Point",
    "Ran",
    "Table",
    "bars_table",
    "calendar",
    "calendar_table",
    "gantt",
    "gantt_table",
    "load",
    "sparkline",
    "style_with",
    "trend",
    "trend_table",
]
