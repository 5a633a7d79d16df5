"""The layout of tables: columns two spaces apart, fitted to the width of a terminal."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple
from unicodedata import combining, east_asian_width

__all__ = [
    "GAP",
    "LEAST",
    "Arrangement",
    "Column",
    "arranged",
    "fitted_widths",
    "natural_widths",
    "shortened",
    "text_width",
    "unique_size",
]

GAP = "  "
ELLIPSIS = "…"
LEAST = 8
"""The least width of a column that is shortened, and the least length of a shown prefix."""


class Column(NamedTuple):
    """A column of a table, and what becomes of it in a narrow terminal.

    Attributes:
        flexible: the width to which it is shortened first; 0 if it is not.
        below: whether it moves to a second line of each row.
        optional: whether it is left out if the row is still too wide.
        is_id: whether it is never shortened: a person types what it shows.
    """

    heading: str
    flexible: int = 0
    below: bool = False
    optional: bool = False
    is_id: bool = False


class Arrangement(NamedTuple):
    """The columns of the first line, with their widths, and those of the second line."""

    widths: dict[int, int]
    below: list[int]


def arranged(columns: Sequence[Column], widths: Sequence[int], width: int | None) -> Arrangement:
    """Fit columns of these widths into a line: each step is taken if the one before is too wide.

    Flexible columns are shortened; columns move to the second line; optional columns are left out;
    flexible columns are shortened to 8 characters; all other columns are shortened.
    """
    places = range(len(columns))
    first = [place for place in places if not columns[place].below]
    needed = [place for place in first if not columns[place].optional]
    flexible = [each.flexible or size for each, size in zip(columns, widths, strict=True)]
    short = [LEAST if each.flexible else size for each, size in zip(columns, widths, strict=True)]
    shortest = [size if each.is_id else LEAST for each, size in zip(columns, widths, strict=True)]
    for kept, least in ((places, flexible), (first, flexible), (needed, flexible), (needed, short)):
        found = _fitted(kept, widths, least, width)
        if width is None or _row_width(list(found.values())) <= width:
            return Arrangement(found, [place for place in places if place not in {*first, *kept}])
    found = _fitted(needed, widths, shortest, width)
    return Arrangement(found, [place for place in places if place not in first])


def _fitted(
    kept: Iterable[int], widths: Sequence[int], least: Sequence[int], width: int | None
) -> dict[int, int]:
    places = list(kept)
    sizes = [widths[place] for place in places]
    if width is not None:
        sizes = fitted_widths(sizes, [least[place] for place in places], width)
    return dict(zip(places, sizes, strict=True))


def natural_widths(
    headings: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[int] = ()
) -> list[int]:
    """Return the widths of columns that hold every cell, and are at least these widths."""
    needed = [max(map(text_width, cells)) for cells in zip(headings, *rows, strict=True)]
    return list(map(max, needed, least)) if least else needed


def fitted_widths(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return widths of columns with which a row fits into a width, as far as possible.

    The widest column that is wider than its least width is shortened first.
    """
    found = list(widths)
    while _row_width(found) > width:
        room = [place for place, size in enumerate(found) if size > least[place]]
        if not room:
            break
        found[max(room, key=lambda place: found[place])] -= 1
    return found


def shortened(text: str, width: int) -> str:
    """Return a text within a width; an ellipsis stands for the end that is left out."""
    if text_width(text) <= width:
        return text
    kept, used = [], 1
    for each in text:
        used += _character_width(each)
        if used > width:
            break
        kept.append(each)
    return "".join(kept).rstrip() + ELLIPSIS


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def unique_size(ids: Iterable[str], *, least: int = LEAST) -> int:
    """Return the least length at which no two of these ids begin alike."""
    known = sorted(set(ids))
    common = (_shared_length(one, other) for one, other in pairwise(known))
    return max(least, *(size + 1 for size in common), 0)


def _row_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _shared_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _character_width(character: str) -> int:
    if combining(character):
        return 0
    return 1 + (east_asian_width(character) in "WF")
