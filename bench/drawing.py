"""Draws bars as SVG: rows of contestants, a column of bars for each figure.

Text stays text, colours follow the reader's light or dark mode on a ground of their own, and a
description says everything that the bars do. Nothing is asked of a plotting library.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal
from xml.etree import ElementTree as ET

from bench.reporting import shown

__all__ = ["Chart", "Panel", "Row", "draw"]

Kind = Literal["ours", "peer", "limit"]

WIDTH, MARGIN, GAP = 960, 24, 28
TOP, HEAD, FOOT = 66, 40, 34
PITCH, BAR = 28, 16
# A guess of how wide a letter of 13 pixels is: fonts differ, so it is a generous one.
LETTER, BOLD = 7.2, 8.2
# At the end of the longest bar its value needs some room.
ROOM = 58
WIDE, STUBBY = 20, 1.6
MOST_TICKS = 4
# Without variables of CSS, which many viewers of SVG do not know.
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
text { fill: #1f2933; }
.title { font-size: 18px; font-weight: 600; }
.faint { fill: #5b6773; font-size: 12px; }
.strong, .ours-name { font-weight: 600; }
.limit-name { font-style: italic; }
.ground { fill: #ffffff; }
.line { stroke: #d9dee4; }
.ours { fill: #1f6feb; }
.peer { fill: #9aa5b1; }
.limit { fill: none; stroke: #5b6773; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .faint { fill: #9da7b3; }
  .ground { fill: #0d1117; }
  .line { stroke: #30363d; }
  .ours { fill: #58a6ff; }
  .peer { fill: #6e7781; }
  .limit { stroke: #9da7b3; }
}
"""


@dataclass(frozen=True)
class Panel:
    """A column of bars: what it shows, in which unit, and whether longer is better."""

    name: str
    unit: str
    is_rate: bool = True


@dataclass(frozen=True)
class Row:
    """A contestant with a value for each panel; without one, `missing` says why.

    Attributes:
        kind: ours stands out; a limit is only an outline.
        remark: written after each value, such as that it failed later.
    """

    name: str
    kind: Kind
    values: Sequence[float | None]
    missing: str = "-"
    remark: str = ""


@dataclass(frozen=True)
class Chart:
    """A whole picture."""

    title: str
    subtitle: str
    panels: Sequence[Panel]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Scale:
    """Where values lie between the left edge of a panel and the end of its longest bar."""

    low: float
    high: float
    length: float
    is_log: bool

    def place(self, value: float) -> float:
        """Return how many pixels a value is from the left edge."""
        if self.is_log:
            share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        else:
            share = value / self.high
        return share * self.length

    def ticks(self) -> list[float]:
        """Return the values at which to draw a line."""
        if self.is_log:
            decades = range(round(log10(self.low)), floor(log10(self.high)) + 1)
            return [10.0**decade for decade in decades[:: ceil(len(decades) / (MOST_TICKS + 1))]]
        step = _step(self.high)
        return [number * step for number in range(floor(self.high / step) + 1)]


def _step(high: float) -> float:
    """Return the distance of round numbers of which a few reach up to the highest."""
    power = 10.0 ** floor(log10(high / MOST_TICKS))
    return next(power * each for each in (1, 2, 5, 10) if power * each * MOST_TICKS >= high)


def scale_of(values: Sequence[float], length: float) -> Scale:
    """Return a scale for some values: by their logarithm if they are far apart."""
    known = [value for value in values if value > 0] or [1.0]
    high, low = max(known), min(known)
    if high < low * WIDE:
        return Scale(0, high, length, is_log=False)
    first = 10.0 ** floor(log10(low))
    # The shortest bar should still be one.
    return Scale(first if low >= first * STUBBY else first / 10, high, length, is_log=True)


def draw(chart: Chart) -> str:
    """Return a chart as the text of an SVG file."""
    height = TOP + HEAD + PITCH * len(chart.rows) + FOOT
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "role": "img",
            "aria-labelledby": "title description",
        },
    )
    ET.SubElement(svg, "title", id="title").text = chart.title
    ET.SubElement(svg, "desc", id="description").text = described(chart)
    ET.SubElement(svg, "style").text = STYLE
    _add(svg, "rect", kind="ground", width=WIDTH, height=height, rx=8)
    _text(svg, MARGIN, 34, chart.title, kind="title")
    _text(svg, MARGIN, 54, chart.subtitle, kind="faint")
    names = max(len(row.name) * (BOLD if row.kind == "ours" else LETTER) for row in chart.rows)
    for number, row in enumerate(chart.rows):
        _text(svg, MARGIN, _middle(number) + 4, row.name, kind=f"{row.kind}-name")
    _draw_panels(svg, chart, MARGIN + names + 16)
    ET.indent(svg)
    return ET.tostring(svg, encoding="unicode") + "\n"


def described(chart: Chart) -> str:
    """Return everything that a chart shows, in words."""
    lines = [chart.subtitle]
    for row in chart.rows:
        cells = zip(chart.panels, row.values, strict=True)
        told = [f"{panel.name} {_with_unit(row, value, panel.unit)}" for panel, value in cells]
        lines.append(f"{row.name}: {', '.join(told)}.")
    return " ".join(lines)


def _draw_panels(svg: ET.Element, chart: Chart, left: float) -> None:
    count = len(chart.panels)
    width = (WIDTH - MARGIN - left - GAP * (count - 1)) / count
    for number, panel in enumerate(chart.panels):
        known = [value for row in chart.rows if (value := row.values[number]) is not None]
        scale = scale_of(known, width - ROOM)
        x = left + number * (width + GAP)
        _text(svg, x, TOP + 14, panel.name, kind="strong")
        _text(svg, x, TOP + 30, _explained(panel, scale), kind="faint")
        _draw_axis(svg, scale, x, len(chart.rows))
        for place, row in enumerate(chart.rows):
            _draw_bar(svg, row, row.values[number], scale, x=x, middle=_middle(place))


def _explained(panel: Panel, scale: Scale) -> str:
    better = "more is better" if panel.is_rate else "less is better"
    return ", ".join(filter(None, [panel.unit, better, "log scale" if scale.is_log else ""]))


def _draw_axis(svg: ET.Element, scale: Scale, x: float, rows: int) -> None:
    bottom = TOP + HEAD + PITCH * rows
    for tick in scale.ticks():
        at = x + scale.place(tick)
        _add(svg, "line", kind="line", x1=at, x2=at, y1=TOP + HEAD, y2=bottom)
        _text(svg, at, bottom + 16, _short(tick), kind="faint", anchor="middle")


def _draw_bar(
    svg: ET.Element, row: Row, value: float | None, scale: Scale, *, x: float, middle: float
) -> None:
    length = 0.0 if value is None else max(scale.place(value), 1)
    if value is not None:
        where = {"x": x, "y": middle - BAR / 2, "width": length, "height": BAR, "rx": 2}
        _add(svg, "rect", kind=row.kind, **where)
    kind = "faint" if value is None else f"{row.kind}-name"
    _text(svg, x + length + 6, middle + 4, _value(row, value), kind=kind)


def _value(row: Row, value: float | None) -> str:
    return row.missing if value is None else f"{shown(value)}{row.remark}"


def _with_unit(row: Row, value: float | None, unit: str) -> str:
    return _value(row, value) if value is None else f"{_value(row, value)} {unit}".rstrip()


def _middle(place: int) -> float:
    return TOP + HEAD + PITCH * (place + 0.5)


def _short(number: float) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def _text(
    svg: ET.Element, x: float, y: float, text: str, *, kind: str, anchor: str = "start"
) -> None:
    _add(svg, "text", kind=kind, x=x, y=y, anchor=anchor).text = text


def _add(svg: ET.Element, tag: str, *, kind: str, **places: float | str) -> ET.Element:
    return ET.SubElement(svg, tag, {"class": kind, **dict(_attributes(places))})


def _attributes(places: dict[str, float | str]) -> Iterator[tuple[str, str]]:
    for name, value in places.items():
        if name == "anchor":
            if value != "start":
                yield "text-anchor", str(value)
        else:
            yield name, str(value) if isinstance(value, str) else f"{value:.5g}"
