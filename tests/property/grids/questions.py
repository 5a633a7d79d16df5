"""Instants worth asking about, and what a list of slots made elsewhere says the answers are."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sempre import Grid
from tests.property.grids.oracles import HOUR, changes, second_of, utc

MICROSECOND = timedelta(microseconds=1)


def questions(
    name: str, slots: Sequence[datetime], start: datetime, end: datetime
) -> list[datetime]:
    """Return instants from `start` to `end`: around clock changes, on slots and beside them."""
    asked = {start, end}
    for change in changes(name, second_of(start), second_of(end)):
        jump = timedelta(seconds=abs(change.jump))
        moves = (-jump, -jump / 2, -jump / 7, timedelta(0), jump / 7, jump / 2, jump)
        asked.update(utc(change.at) + move for move in moves)
    asked.update([*slots[:8], *slots[-4:]])
    beside = {t + way * MICROSECOND for t in asked for way in (-1, 0, 1)}
    return sorted(t for t in beside if start <= t <= end)


def wrong_answers(
    grid: Grid, slots: Sequence[datetime], asked: Iterable[datetime], end: datetime
) -> list[str]:
    """Ask a grid and compare with slots listed without a gap until `end`; tell what differs."""
    wrong = []
    for t in asked:
        at = bisect_right(slots, t)
        expected = slots[at] if at < len(slots) else None
        answer = grid.after(t)
        beyond = answer is None or answer > end
        if answer != expected and not (expected is None and beyond):
            wrong.append(f"after {t}: {answer} instead of {expected}")
    return wrong


def window(t: datetime, hours: int) -> tuple[int, int]:
    """Return the seconds that lie so many hours before and after an instant."""
    return second_of(t) - hours * HOUR, second_of(t) + hours * HOUR
