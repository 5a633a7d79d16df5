"""Only an instant can be asked about: naive, absurd and broken ones are refused by name."""

from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import Any

import pytest

from sempre import Cron, Every, Grid
from sempre.errors import InstantError
from tests.unit.grids.clocks import at
from tests.unit.grids.refusals import refusal, tells

NOW = at("2026-01-01 00:00Z")
LONG = 1_000_000


class Broken(tzinfo):
    """A zone of someone else's making that does not keep its promise."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __repr__(self) -> str:
        return f"Broken({self.answer!r})"

    def tzname(self, _: datetime | None) -> str | None:
        return None

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def utcoffset(self, _: datetime | None) -> timedelta | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


ABSURD: list[Any] = [
    *(None, 5, 1.5, True, "2026-01-01T00:00Z", b"", [], timedelta(1), time(9), date(2026, 1, 1)),
    *(datetime.fromisoformat(day) for day in ("2026-01-01", "9999-12-31", "0001-01-01")),
]
GRIDS: list[Grid] = [Cron("0 9 * * *"), Cron("* * * * * *"), Every("1h"), Every("1 day")]


@pytest.mark.parametrize("t", ABSURD, ids=repr)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_only_an_instant_can_be_asked_about(grid: Grid, t: Any) -> None:  # noqa: ANN401
    for ask in (
        lambda: grid.after(t),
        lambda: grid.times(t, 1),
        lambda: grid.between(t, NOW),
        lambda: grid.passed(t, NOW),
    ):
        error = refusal(ask)

        assert isinstance(error, InstantError)
        assert tells(error, t)


@pytest.mark.parametrize("until", ABSURD, ids=repr)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_only_an_instant_can_be_the_end(grid: Grid, until: Any) -> None:  # noqa: ANN401
    for ask in (lambda: grid.between(NOW, until), lambda: grid.passed(NOW, until)):
        error = refusal(ask)

        assert isinstance(error, InstantError)
        assert error.field == "until"
        assert tells(error, until)


@pytest.mark.parametrize("answer", [5, timedelta(days=3), RuntimeError("no")], ids=repr)
def test_an_instant_of_a_broken_zone_is_refused(answer: object) -> None:
    t = datetime(2026, 1, 1, tzinfo=Broken(answer))

    for ask in (
        lambda: GRIDS[0].after(t),
        lambda: GRIDS[-1].after(t),
        lambda: GRIDS[0].times(t, 1),
        lambda: GRIDS[0].between(NOW, t),
        lambda: Every("1 day", anchor=t),
    ):
        assert isinstance(refusal(ask), InstantError)


@pytest.mark.parametrize("count", [None, "3", 1.5, [], float("nan")], ids=repr)
def test_only_a_whole_number_can_be_a_count(count: Any) -> None:  # noqa: ANN401 - any at all
    refusal(lambda: Cron("0 9 * * *").times(NOW, count))


def test_the_ends_of_the_calendar_in_far_zones_do_no_harm() -> None:
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))
    first = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))

    for grid in GRIDS:
        assert grid.after(last) is None
        assert isinstance(refusal(lambda: grid.after(first)), InstantError)  # noqa: B023
        assert isinstance(refusal(lambda: grid.between(NOW, last)), InstantError)  # noqa: B023


@pytest.mark.parametrize(
    "anchor",
    [
        *("", "now", "tomorrow", "2026-13-01", "2026-02-30", "2026-01-01 25:00", "1799-12-31"),
        *(
            "\uff12\uff10\uff12\uff16-01-01",
            "2026-01-01\x00",
            "2026-01-01T09:00 Europe/Rome",
            "\ud800",
            "x" * LONG,
        ),
        *("9999-12-31T23:59-14:00", "0001-01-01", "2026-W60-1", "1" * LONG),
        *(5, 1.5, True, b"2026-01-01", [], time(9), timedelta(1), date.min),
    ],
    ids=lambda anchor: repr(anchor)[:30],
)
def test_what_is_no_anchor_is_refused(anchor: Any) -> None:  # noqa: ANN401 - any at all
    error = refusal(lambda: Every("1 day", anchor=anchor))

    assert isinstance(error, InstantError)
    assert error.field == "anchor"
