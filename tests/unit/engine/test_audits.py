"""Marks of what was looked at: by stretches of ids, never more than are known, never too late."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre import Every
from sempre.domain.arguments import Json
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.engine.audits import LAST, Audits, marked

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
IDS = [f"{number:03}" for number in range(1000)]


def schedule(identity: str, *, created_at: datetime = NOON) -> Schedule:
    grid = define(job="bill", grid=Every("1h"))
    return Schedule(
        id=identity, name=identity, definition=grid, created_at=created_at, cursor=created_at
    )


def minute(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


def looked_at(marks: list[Json], *identities: str) -> list[datetime | None]:
    audits = Audits({"audits": marks})
    return [audits.last(schedule(each)) for each in identities]


def test_before_the_first_pass_nothing_was_looked_at() -> None:
    assert Audits({}).last(schedule("001")) is None
    assert Audits({"audits": "of another version"}).last(schedule("001")) is None


def test_a_pass_covers_the_stretch_that_it_looked_at() -> None:
    marks = marked([], after="", upto="500", at=minute(1))

    assert looked_at(marks, "000", "500", "501") == [minute(1), minute(1), None]


def test_a_round_of_several_passes_covers_everything_each_with_its_own_instant() -> None:
    marks = marked([], after="", upto="500", at=minute(1))
    marks = marked(marks, after="500", upto=LAST, at=minute(6))

    assert looked_at(marks, "500", "501", "999") == [minute(1), minute(6), minute(6)]


def test_the_next_round_replaces_what_it_has_looked_at_and_nothing_else() -> None:
    marks = marked([], after="", upto="500", at=minute(1))
    marks = marked(marks, after="500", upto=LAST, at=minute(6))

    marks = marked(marks, after="", upto="700", at=minute(11))

    assert looked_at(marks, "500", "700", "701") == [minute(11), minute(11), minute(6)]


def test_a_schedule_that_is_younger_than_the_mark_was_not_looked_at() -> None:
    audits = Audits({"audits": marked([], after="", upto=LAST, at=minute(1))})

    assert audits.last(schedule("900", created_at=minute(2))) is None
    assert audits.last(schedule("900", created_at=minute(1))) == minute(1)


def test_a_round_that_an_older_version_began_tells_nothing_of_its_beginning() -> None:
    marks = marked(None, after="500", upto=LAST, at=minute(1))

    assert looked_at(marks, "500", "501") == [None, minute(1)]


def test_marks_are_bounded_and_the_earlier_instant_is_kept() -> None:
    marks: list[Json] = []
    for number, (after, upto) in enumerate(zip(["", *IDS], IDS, strict=False)):
        marks = marked(marks, after=after, upto=upto, at=minute(number))

    assert len(marks) <= 300
    for number, at in enumerate(looked_at(marks, *IDS)):
        assert at is not None
        assert at <= minute(number)


@given(st.lists(st.integers(0, 99), max_size=40), st.booleans())
def test_any_passes_are_told_as_they_were(ends: list[int], wraps: bool) -> None:  # noqa: FBT001
    """Each goes on where the one before it ended, and begins anew after the end."""
    truth: dict[str, datetime] = {}
    marks: list[Json] = []
    after, minutes = "", count(1)
    for end in [*ends, 99] if wraps else ends:
        upto = f"{end:03}"
        if upto <= after:
            after = ""
        at = minute(next(minutes))
        marks = marked(marks, after=after, upto=upto, at=at)
        truth |= dict.fromkeys((each for each in IDS[:100] if after < each <= upto), at)
        after = upto

    assert looked_at(marks, *IDS[:100]) == [truth.get(each) for each in IDS[:100]]


@pytest.mark.parametrize("at", [NOON, NOON + timedelta(microseconds=1)])
def test_an_instant_is_kept_to_the_microsecond(at: datetime) -> None:
    assert looked_at(marked([], after="", upto=LAST, at=at), "001") == [at]
