"""The canvas: shapes and texts that become one SVG, without script, style attributes or links.

Colours come from classes: `theme.STYLE` has the rules, which a standalone file carries and a page
serves as its own stylesheet. Every text is escaped here and nowhere else.
"""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from sempre.drawing.theme import STYLE

__all__ = ["Canvas", "class_of", "shortened"]

NAMESPACE = "http://www.w3.org/2000/svg"
# Characters that XML 1.0 forbids, also as a reference.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# Up to here the six digits of the format g show a tenth of a pixel.
EXACT = 10_000
Place = tuple[float, float]


class Canvas:
    """Collects the elements of a drawing.

    Args:
        width: in pixels of the drawing; a page may scale it.
        height: in pixels of the drawing.
    """

    def __init__(self, width: float, height: float) -> None:
        """Begin with an empty drawing."""
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def svg(self, kind: str, title: str, description: str = "", *, embedded: bool = True) -> str:
        """Return the drawing as SVG text, with a title that screen readers speak.

        Args:
            kind: the class of the whole drawing, beside `chart`.
            title: what the drawing shows.
            description: what a reader of the drawing learns, in words.
            embedded: True for a part of an HTML page, which has its own stylesheet and background;
                False for a file of its own.
        """
        width, height = _number(self.width), _number(self.height)
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        head = f'<svg class="chart {class_of(kind)}" {size} role="img" aria-label={_quoted(title)}'
        parts = [f"<title>{_text(title)}</title>"]
        parts += [f"<desc>{_text(description)}</desc>"] if description else []
        if embedded:
            return "".join([f"{head}>", *parts, *self._parts, "</svg>"])
        ground = f'<rect class="ground" width="{width}" height="{height}"/>'
        standalone = [f"<style>{_text(STYLE)}</style>", ground]
        return "".join(
            [f'{head} xmlns="{NAMESPACE}">', *parts, *standalone, *self._parts, "</svg>\n"]
        )

    def rect(self, place: Place, size: Place, kind: str, *, title: str = "") -> None:
        """Add a rectangle by its upper left corner, with a tooltip."""
        self._add("rect", kind, title, x=place[0], y=place[1], width=size[0], height=size[1])

    def line(self, start: Place, end: Place, kind: str, *, title: str = "") -> None:
        """Add a straight line."""
        self._add("line", kind, title, x1=start[0], y1=start[1], x2=end[0], y2=end[1])

    def polyline(self, points: Sequence[Place], kind: str, *, title: str = "") -> None:
        """Add a line through points."""
        self._shape("polyline", points, kind, title)

    def area(self, points: Sequence[Place], kind: str, *, title: str = "") -> None:
        """Add a filled shape with these corners."""
        self._shape("polygon", points, kind, title)

    def text(self, place: Place, text: str, kind: str, *, title: str = "") -> None:
        """Add a text; the classes `middle` and `end` align it at its place."""
        x, y = map(_number, place)
        inside = _text(text) + _tooltip(title)
        self._parts.append(f'<text class="{class_of(kind)}" x="{x}" y="{y}">{inside}</text>')

    def _shape(self, tag: str, points: Sequence[Place], kind: str, title: str) -> None:
        if points:
            places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
            head = f'<{tag} class="{class_of(kind)}" points="{places}"'
            self._parts.append(_closed(tag, head, title))

    def _add(self, tag: str, kind: str, title: str, **places: float) -> None:
        where = " ".join(f'{name}="{_number(value)}"' for name, value in places.items())
        self._parts.append(_closed(tag, f'<{tag} class="{class_of(kind)}" {where}', title))


def class_of(text: str) -> str:
    """Return words as classes: letters, digits and hyphens, whatever a name contains."""
    return " ".join(re.sub("[^a-z0-9-]+", "-", word.lower()) for word in text.split())


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters; an ellipsis stands for the rest."""
    return text if len(text) <= most else text[: max(0, most - 1)] + ELLIPSIS


def _closed(tag: str, head: str, title: str) -> str:
    return f"{head}>{_tooltip(title)}</{tag}>" if title else f"{head}/>"


def _tooltip(title: str) -> str:
    return f"<title>{_text(title)}</title>" if title else ""


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub(REPLACEMENT, text))


def _quoted(text: str) -> str:
    return quoteattr(FORBIDDEN.sub(REPLACEMENT, text))


def _number(value: float) -> str:
    """Write a coordinate to a tenth of a pixel; more digits only make the file longer."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < EXACT else f"{value:.0f}"
