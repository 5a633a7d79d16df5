"""The difference of two futures: slots that appear and slots that vanish.

Futures on one grid differ in stretches, which are counted by arithmetic. Of futures on two grids
the shorter one is listed. Two long ones are compared slot by slot up to a number of slots, and the
answer says up to which instant.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from sempre.domain.preview.futures import MOST, Future

__all__ = ["LISTED", "Difference", "SlotList", "compare"]

LISTED = 10
"""How many slots a list names, unless told."""


@dataclass(frozen=True)
class SlotList:
    """Slots: their number, and the first ones."""

    count: int = 0
    first: tuple[datetime, ...] = ()

    @property
    def left_off(self) -> int:
        """How many slots are counted and not named."""
        return self.count - len(self.first)


@dataclass(frozen=True)
class Difference:
    """The slots that appear and vanish between two futures.

    Attributes:
        compared_until: the last instant that was compared, if the futures are too long for all of
            the window; None if everything was compared.
    """

    appearing: SlotList = SlotList()
    vanishing: SlotList = SlotList()
    compared_until: datetime | None = None


def compare(before: Future, after: Future, *, listed: int = LISTED) -> Difference:
    """Return which slots appear and vanish, each with at most `listed` names."""
    if before == after:
        return Difference()
    if before.grid == after.grid and before.is_plain and after.is_plain:
        return Difference(_only(after, before, listed), _only(before, after, listed))
    short, long = sorted((before, after), key=lambda each: each.count)
    if short.count <= MOST and long.is_plain:
        common = {slot for slot in short if slot in long}
        return Difference(_other(after, common, listed), _other(before, common, listed))
    return _compare_lists(before, after, listed)


def _only(one: Future, other: Future, listed: int) -> SlotList:
    """Return the slots of one future that another on the same grid does not have."""
    parts = one.stretch.without(other.stretch)
    covered = [slot for slot in one.taken if any(slot in part for part in parts)]
    freed = {slot for slot in other.taken - one.taken if slot in other.stretch}
    freed = {slot for slot in freed if one.has_slot(slot)}
    extra = [*(set(one.waiting) - set(other.waiting)), *freed]
    count = sum(map(one.count_in, parts)) - sum(map(one.has_slot, covered)) + len(extra)
    lists = (islice(_free(one, one.slots_in(part)), listed) for part in parts)
    return SlotList(count, _first(chain(extra, *lists), listed))


def _free(one: Future, slots: Iterable[datetime]) -> Iterator[datetime]:
    return (slot for slot in slots if slot not in one.taken)


def _other(one: Future, common: set[datetime], listed: int) -> SlotList:
    """Return the slots of a future that are not among the common ones."""
    slots = (slot for slot in one if slot not in common)
    return SlotList(one.count - len(common), tuple(islice(slots, listed)))


def _compare_lists(before: Future, after: Future, listed: int) -> Difference:
    """Compare futures slot by slot, up to where the shorter of two long lists ends."""
    lists = [list(islice(each, MOST)) for each in (before, after)]
    ends = [slots[-1] for slots in lists if len(slots) == MOST]
    until = min(ends, default=None)
    old, new = ({slot for slot in slots if until is None or slot <= until} for slots in lists)
    appearing, vanishing = new - old, old - new
    return Difference(
        SlotList(len(appearing), _first(appearing, listed)),
        SlotList(len(vanishing), _first(vanishing, listed)),
        until,
    )


def _first(slots: Iterable[datetime], listed: int) -> tuple[datetime, ...]:
    return tuple(sorted(slots)[:listed])
