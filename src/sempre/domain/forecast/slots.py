"""The slots of a recurrence in a window, as trains: evenly spaced seconds."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise

from sempre.domain.forecast.recurrence import Recurrence, Window
from sempre.domain.planning.plan import TICK
from sempre.domain.planning.steps import slots_until
from sempre.grids.instants import seconds_of

__all__ = ["Run", "Slots", "Train", "runs_of", "slots_of"]

Train = tuple[int, int, int]
"""The first second of the window, the step and the count."""

Run = tuple[int, int, int, int]
"""A train of runs, and the seconds that each run takes."""

# Slots before the window whose runs reach into it: the shortest of these that is long enough.
LEADS = tuple(timedelta(minutes=each) for each in (5, 60, 360, 1440, 10_080, 100_800))


class Slots:
    """The slots of a recurrence in a window.

    Attributes:
        trains: all slots, in any order.
        interval: the least number of seconds between two slots; None for fewer than two.
    """

    __slots__ = ("interval", "trains")

    def __init__(self, trains: Sequence[Train]) -> None:
        """Find the interval; several trains that are evenly spaced together become one."""
        self.trains = list(trains)
        self.interval: int | None = None
        if len(self.trains) > 1:
            seconds = self.seconds()
            gaps = {after - before for before, after in pairwise(seconds)}
            self.interval = min(gaps)
            if len(gaps) == 1:
                self.trains = [(seconds[0], self.interval, len(seconds))]
        elif self.trains and self.trains[0][2] > 1:
            self.interval = self.trains[0][1]

    def seconds(self) -> list[int]:
        """Return every slot in order."""
        found = (
            range(first, first + step * count, step) if count > 1 else (first,)
            for first, step, count in self.trains
        )
        return sorted(second for each in found for second in each)

    def count_between(self, begin: int, end: int) -> int:
        """Return the number of slots from one second up to but without another."""
        found = 0
        for first, step, count in self.trains:
            if first < end and first + step * count > begin:
                low = max(0, -((first - begin) // step))
                high = min(count, -((first - end) // step))
                found += max(0, high - low)
        return found


def slots_of(recurrence: Recurrence, window: Window) -> Slots:
    """Return the slots of a recurrence, with those before the window whose runs reach into it.

    Raises:
        SempreError: a grid of the user's own is broken, or its class is not known here.
    """
    longest = recurrence.durations.p95 + recurrence.jitter
    lead = next((each for each in LEADS if each >= longest), LEADS[-1])
    after, until = window.start - lead - TICK, window.end - TICK
    if recurrence.since is not None:
        after = max(after, recurrence.since - TICK)
    if recurrence.until is not None:
        until = min(until, recurrence.until)
    if until <= after:
        return Slots([])
    if recurrence.grid.relative:
        cursor = recurrence.cursor or window.start
        slots = (slot for slot in slots_until(recurrence.grid, cursor, until) if slot > after)
        found = Slots([(window.place(slot), 1, 1) for slot in slots])
    else:
        begin = seconds_of(window.start)
        found = Slots(
            [
                (seconds_of(each.first) - begin, _whole(each.step), each.count)
                for each in recurrence.grid.progressions(after, until)
            ]
        )
    return found if recurrence.left is None else _limited(recurrence, window, found)


@lru_cache(maxsize=1024)
def _whole(step: timedelta) -> int:
    return max(1, step // timedelta(seconds=1))


def _limited(recurrence: Recurrence, window: Window, found: Slots) -> Slots:
    """Return the slots before the schedule reaches its limit of starts."""
    left, since = recurrence.left or 0, recurrence.since or window.start
    if since < window.start and not recurrence.grid.relative:
        passed = recurrence.grid.passed(since - TICK, window.start - TICK)
        left -= passed.count if passed else 0
    # Slots before the window, whose runs reach into it, were counted above.
    early = found.count_between(-LEADS[-1] // timedelta(seconds=1), 0)
    if found.count_between(0, window.seconds) <= max(0, left):
        return found
    return Slots([(second, 1, 1) for second in found.seconds()[: early + max(0, left)]])


def runs_of(slots: Slots, seconds: int, overlap: str) -> Iterator[Run]:
    """Yield the runs of slots that take `seconds` each, as the overlap policy allows them."""
    if overlap == "allow" or slots.interval is None or seconds <= slots.interval:
        yield from ((*train, seconds) for train in slots.trains)
    elif len(slots.trains) == 1:
        yield _even(slots.trains[0], seconds, overlap)
    else:
        yield from _uneven(slots.seconds(), seconds, overlap)


def _even(train: Train, seconds: int, overlap: str) -> Run:
    """Return the runs of evenly spaced slots that come sooner than runs end."""
    first, step, count = train
    if overlap == "replace":
        return first, step, count, step
    if overlap == "wait":
        return first, seconds, count, seconds
    every = -(-seconds // step)
    return first, step * every, -(-count // every), seconds


def _uneven(slots: Sequence[int], seconds: int, overlap: str) -> Iterator[Run]:
    free_at = slots[0]
    for slot, following in pairwise((*slots, slots[-1] + seconds)):
        if overlap == "replace":
            yield slot, 1, 1, min(seconds, following - slot)
        elif overlap == "wait":
            free_at = max(free_at, slot) + seconds
            yield free_at - seconds, 1, 1, seconds
        elif slot >= free_at:
            free_at = slot + seconds
            yield slot, 1, 1, seconds
