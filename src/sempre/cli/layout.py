"""The layout of tables: columns two spaces apart, fitted to the width of a terminal."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from unicodedata import combining, east_asian_width

__all__ = [
    "GAP",
    "LEAST",
    "fitted_widths",
    "natural_widths",
    "row_width",
    "shortened",
    "text_width",
    "unique_size",
]

GAP = "  "
ELLIPSIS = "…"
LEAST = 8
"""The least width of a column that is shortened, and the least length of a shown prefix."""


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


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


def natural_widths(
    columns: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[int] = ()
) -> list[int]:
    """Return the widths of columns that hold every cell, and are at least these widths."""
    needed = [max(map(text_width, cells)) for cells in zip(columns, *rows, strict=True)]
    return list(map(max, needed, least)) if least else needed


def fitted_widths(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return widths of columns with which a row fits into a width, as far as possible.

    The widest column that is wider than its least width is shortened first.
    """
    found = list(widths)
    while row_width(found) > width:
        room = [place for place, size in enumerate(found) if size > least[place]]
        if not room:
            break
        found[max(room, key=lambda place: found[place])] -= 1
    return found


def row_width(widths: Sequence[int]) -> int:
    """Return the width of a row whose columns have these widths."""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def unique_size(ids: Iterable[str], *, least: int = LEAST) -> int:
    """Return the least length at which no two of these ids begin alike."""
    known = sorted(set(ids))
    common = (_common(one, other) for one, other in pairwise(known))
    return max(least, *(size + 1 for size in common), 0)


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _character_width(character: str) -> int:
    if combining(character):
        return 0
    return 1 + (east_asian_width(character) in "WF")
