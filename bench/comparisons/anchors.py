"""The next point of an anchor grid, in nanoseconds, whose anchor lies in the year 1900.

Beside it the same grid with an anchor of yesterday: what is counted from the anchor in one step
costs the same, however long ago that was.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from bench import grids
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target
from bench.servers import Place
from sempre.grids import Every

__all__ = ["anchors"]

ZONE = grids.NEW_YORK
FIGURES = tuple(Figure(unit, "ns", is_rate=False) for unit in grids.UNITS)
YESTERDAY = datetime(2025, 3, 4, 9, tzinfo=ZoneInfo(ZONE))
# Off every grid: APScheduler counts an occurrence at the very instant asked about.
BEGIN = grids.START + timedelta(seconds=17)
SAME = "Sempre, anchor of yesterday"
Questions = list[datetime]


def anchors(_place: Place) -> Comparison:
    """Every unit, in a zone whose clocks change."""
    ours = Contestant("Sempre, anchor of 1900", partial(_run, _ours), 500)
    others = [
        Contestant("APScheduler, anchor of 1900", partial(_run, _apscheduler), 500),
        Contestant(SAME, partial(_run, _recent), 500, "limit"),
    ]
    flat = round(1 / grids.FLATTEST, 2)
    targets = [Target("T2", SAME, figure.name, flat) for figure in FIGURES]
    targets += [Target("T2", "", figure.name, at_most=grids.SLOWEST) for figure in FIGURES]
    note = f"The point after so many instants, in {ZONE}; days and longer keep the wall clock."
    title = "Next point of an anchor grid"
    return Comparison(title, FIGURES, ours, others, targets, note, rounds=15)


def _run(asked: Callable[[str, Questions], grids.Ask], count: int) -> Numbers:
    questions = [BEGIN + timedelta(hours=17 * number) for number in range(count)]
    return {unit: _nanoseconds(unit, asked(unit, questions), questions) for unit in grids.UNITS}


def _nanoseconds(unit: str, ask: grids.Ask, questions: Questions) -> float:
    told = grids.agreement(_ours(unit, questions)(), ask(), ZONE)
    if "ANOTHER" in told:
        raise Failed(f"every {unit}: {told}")
    return grids.timed(ask, len(questions))


def _ours(unit: str, questions: Questions) -> grids.Ask:
    return grids.asked(_grid(unit, _long_ago(unit)), questions)


def _recent(unit: str, questions: Questions) -> grids.Ask:
    return grids.asked(_grid(unit, YESTERDAY), questions)


def _apscheduler(unit: str, questions: Questions) -> grids.Ask:
    anchor = _long_ago(unit)
    return grids.trigger_asked(_grid(unit, anchor), questions, anchor)


def _grid(unit: str, anchor: datetime) -> Every:
    return Every(grids.UNITS[unit][0], unit, anchor=anchor, timezone=ZONE)


def _long_ago(unit: str) -> datetime:
    """Return an anchor of 1900 whose grid goes through yesterday's."""
    if unit == "weeks":
        return YESTERDAY - timedelta(weeks=grids.UNITS[unit][0] * 3260)
    return YESTERDAY.replace(year=1900)
