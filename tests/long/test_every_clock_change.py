"""Every clock change of every zone from 1990 to 2040, with cron texts and anchors that meet it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from dateutil.relativedelta import relativedelta

from sempre import Cron, Every
from tests.long.tally import SHARDS, Tally, zones_of_shard
from tests.property.grids.oracles import HOUR, AnchorGrid, Change, cron_slots, utc
from tests.property.grids.questions import questions, wrong_answers
from tests.property.grids.strategies import FOLDS, GAPS, known_changes

pytestmark = pytest.mark.long

CRON = Tally("cron at clock changes")
EVERY = Tally("anchors at clock changes")
# What every change is asked about, beside a text of its very own minute and hour.
TEXTS = (
    "30 2 * * *",
    "0 0 * * *",
    "*/15 * * * *",
    "0 */2 * * *",
    "0,20,40 0-4,23 * * *",
    "30 30 1,2 * * *",
    "*/40 59 * * * *",
    "15 23-3 L,1-7 * sun",
    "45 0-3 * 3,4,9-11 sun#1,sunL,fri#-1",
    "5/7 1-2 8-14,L-6 * ?",
)
STEPS = (("days", 1), ("days", 2), ("weeks", 1), ("weeks", 3), ("months", 1), ("years", 1))
ELAPSED = (("hours", 5), ("minutes", 17))


def texts_at(change: Change, number: int) -> Iterator[str]:
    """Yield a text inside the gap or fold, and some others in turn."""
    middle = utc(change.at + min(change.before, change.after) + abs(change.jump) // 2)
    yield f"{middle.minute} {middle.hour} * * *"
    for turn in range(3):
        yield TEXTS[(number * 3 + turn) % len(TEXTS)]


def anchors_at(change: Change, number: int) -> Iterator[tuple[str, int, datetime]]:
    """Yield grids with a point inside the gap or fold, some steps after the anchor."""
    start = utc(change.at + min(change.before, change.after)).replace(tzinfo=None)
    inside = start + timedelta(seconds=abs(change.jump) * (number % 4) // 4)
    for turn in range(3):
        unit, count = STEPS[(number + turn) % len(STEPS)]
        back = relativedelta(**{unit: count * (number % 5)})  # type: ignore[arg-type]
        yield unit, count, inside - back
    unit, count = ELAPSED[number % 2]
    yield unit, count, inside


def changes_of_shard(shard: int, tally: Tally) -> Iterator[tuple[str, int, Change]]:
    """Yield zone, number and clock change; zones that are another one's link are that one."""
    for name, names in zones_of_shard(shard).items():
        tally.add("zone names", names)
        tally.add("zones", [name])
        for number, change in enumerate(known_changes(name, 1990, 2040)):
            tally.add("clock changes", [(name, change.at)])
            yield name, number, change


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("fold", ["first", pytest.param("last"), "both"])
def test_cron_at_every_clock_change(shard: int, fold: str) -> None:
    for name, number, change in changes_of_shard(shard, CRON):
        reach = 12 * HOUR + abs(change.jump)
        start, end = change.at - reach, change.at + reach
        for turn, text in enumerate(texts_at(change, number)):
            gap = GAPS[(number + turn) % 2]
            slots = [utc(s) for s in cron_slots(text, name, start, end, gap=gap, fold=fold)]
            asked = questions(name, slots, utc(start), utc(end))

            grid = Cron(text, timezone=name, gap=gap, fold=fold)
            wrong = wrong_answers(grid, slots, asked, utc(end))
            passed = grid.passed(utc(start), utc(end))

            assert not wrong, (text, name, gap, fold, wrong[:3])
            assert (passed.count if passed else 0) == len(slots), (text, name, gap, fold)
            CRON.add("texts", [text])
            CRON.add("grids", [(text, name, gap, fold)])
            CRON.count("instants", len(asked))
    CRON.report()


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("fold", FOLDS)
def test_anchors_at_every_clock_change(shard: int, fold: str) -> None:
    for name, number, change in changes_of_shard(shard, EVERY):
        start, end = utc(change.at - 27 * HOUR), utc(change.at + 27 * HOUR)
        for turn, (unit, count, anchor) in enumerate(anchors_at(change, number)):
            gap = GAPS[(number + turn) % 2]
            expected = AnchorGrid(count, unit, anchor, name, gap, fold)
            slots = expected.slots(start, end)
            asked = questions(name, slots, start, end)

            grid = Every(count, unit, anchor=anchor, timezone=name, gap=gap, fold=fold)
            wrong = wrong_answers(grid, slots, asked, end)

            assert not wrong, (expected, wrong[:3])
            EVERY.add("grids", [expected])
            EVERY.count("instants", len(asked))
    EVERY.report()
