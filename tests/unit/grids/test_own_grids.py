"""Grids that users write: registered by name, stored, and never trusted."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sempre import Cron, Grid
from sempre.errors import BrokenGrid, GridError, InstantError, SempreError, UnknownGrid
from tests.unit.grids.clocks import at

NOW = at("2026-01-01 00:00Z")
LATER = at("2026-02-01 00:00Z")


class Tides(Grid, name="test-tides"):
    def __init__(self, *, hours: float = 12.5) -> None:
        self.hours = hours

    def after(self, t: datetime) -> datetime | None:
        return t + timedelta(hours=self.hours)

    def parameters(self) -> dict[str, object]:
        return {"hours": self.hours}


class Answering(Grid):
    """Gives one answer, whatever it is asked, and counts how often it was."""

    def __init__(self, answer: Callable[[datetime], object]) -> None:
        self.answer = answer
        self.asked = 0

    def after(self, t: datetime) -> datetime | None:
        self.asked += 1
        assert self.asked < 1000, "asked in a loop"
        return self.answer(t)  # type: ignore[return-value]


def endless(t: datetime) -> datetime:
    return endless(t)


BROKEN: dict[str, Callable[[datetime], object]] = {
    "the same instant": lambda t: t,
    "an earlier one": lambda t: t - timedelta(seconds=1),
    "long ago": lambda _: datetime(1999, 1, 1, tzinfo=UTC),
    "naive": lambda t: t.replace(tzinfo=None) + timedelta(days=1),
    "the same in another zone": lambda t: t.astimezone(timezone(timedelta(hours=5))),
    "a text": lambda _: "2026-01-01T00:00Z",
    "a number": lambda _: 1_800_000_000,
    "a date": lambda t: t.date() + timedelta(days=1),
    "an error": lambda _: 1 / 0,
    "recursion": endless,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_answer_raises_at_once_and_never_loops(kind: str) -> None:
    def questions(grid: Grid) -> list[Callable[[], object]]:
        return [
            lambda: grid.times(NOW, 3),
            lambda: grid.between(NOW, LATER),
            lambda: grid.passed(NOW, LATER),
        ]

    for number in range(3):
        grid = Answering(BROKEN[kind])
        with pytest.raises(BrokenGrid, match="Answering"):
            questions(grid)[number]()
        assert grid.asked == 1


def test_an_answer_that_breaks_later_is_found_when_it_comes() -> None:
    grid = Answering(lambda t: t + timedelta(days=1) if t < at("2026-01-03 00:00Z") else t)

    with pytest.raises(BrokenGrid, match="2026-01-03"):
        grid.between(NOW, LATER)
    assert grid.times(NOW, 1) == [at("2026-01-02 00:00Z")]


def test_no_more_is_asked_than_needed() -> None:
    grid = Answering(lambda t: t + timedelta(days=1) if t < at("2026-01-03 00:00Z") else t)

    assert grid.times(NOW, 0) == []
    assert grid.asked == 0
    assert len(grid.times(NOW, 2)) == 2
    assert grid.asked == 2


def test_answers_come_in_utc() -> None:
    grid = Answering(lambda t: (t + timedelta(hours=1)).astimezone(timezone(timedelta(hours=5))))

    assert [slot.isoformat() for slot in grid.times(NOW, 2)] == [
        "2026-01-01T01:00:00+00:00",
        "2026-01-01T02:00:00+00:00",
    ]


def test_a_grid_that_ends_answers_none() -> None:
    grid = Answering(lambda t: at("2026-01-02 00:00Z") if t < at("2026-01-02 00:00Z") else None)

    assert grid.times(NOW, 5) == [at("2026-01-02 00:00Z")]
    assert grid.between(NOW, LATER) == [at("2026-01-02 00:00Z")]
    passed = grid.passed(NOW, LATER)
    assert passed is not None
    assert passed.count == 1


def test_lists_and_counts_follow_from_after_alone() -> None:
    grid = Tides(hours=12)

    slots = grid.between(NOW, at("2026-01-03 00:00Z"))
    passed = grid.passed(NOW, at("2026-01-03 00:00Z"))

    assert slots == grid.times(NOW, 4)
    assert passed is not None
    assert (passed.first, passed.last, passed.count) == (slots[0], slots[-1], 4)
    assert "test-tides" in grid.explain()


@pytest.mark.parametrize("t", [datetime.fromisoformat("2026-01-01"), None, "2026-01-01", 5])
def test_a_wrong_question_is_refused_before_an_own_grid_is_asked(t: datetime) -> None:
    grid = Answering(lambda _: LATER)

    with pytest.raises(InstantError):
        grid.times(t, 1)


def test_an_answer_past_the_calendar_is_broken() -> None:
    beyond = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5)))

    with pytest.raises(BrokenGrid):
        Answering(lambda _: beyond).times(NOW, 1)


# Names


def test_an_own_grid_is_stored_by_its_name_and_parameters() -> None:
    stored = Tides(hours=12).to_json()

    assert stored == {"grid": "test-tides", "hours": 12}
    assert Grid.from_json(stored) == Tides(hours=12)
    assert Grid.from_json(stored) != Tides(hours=13)
    assert hash(Grid.from_json(stored)) == hash(Tides(hours=12))


def test_a_grid_without_a_name_cannot_be_stored() -> None:
    with pytest.raises(GridError, match=r'Answering\(Grid, name="\.\.\."\)'):
        Answering(lambda _: None).to_json()


def test_a_name_can_be_taken_once() -> None:
    with pytest.raises(GridError, match="test-tides"):

        class Impostor(Tides, name="test-tides"):
            pass

    with pytest.raises(GridError, match="cron"):

        class OtherCron(Cron, name="cron"):
            pass

    assert type(Grid.from_json({"grid": "test-tides"})) is Tides
    assert type(Grid.from_json({"grid": "cron", "text": "@daily"})) is Cron


def test_a_subclass_does_not_inherit_the_name() -> None:
    class Quiet(Tides):
        pass

    assert Quiet.name is None
    with pytest.raises(GridError):
        Quiet().to_json()


def test_a_name_that_nobody_took_is_unknown() -> None:
    with pytest.raises(UnknownGrid, match="test-moon"):
        Grid.from_json({"grid": "test-moon"})


@pytest.mark.parametrize("name", ["", 5, b"moon"])
def test_a_name_that_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, name: object) -> None:
    known = dict(Grid._classes)  # noqa: SLF001 - what is registered here must not stay
    monkeypatch.setattr(Grid, "_classes", known)

    with pytest.raises(SempreError):
        type("Nameless", (Tides,), {}, name=name)


@pytest.mark.parametrize("parameters", [{"grid": "cron"}, {"since": NOW}, {1: 2}, {"x": {1, 2}}])
def test_parameters_that_cannot_be_stored_are_refused(parameters: dict[str, object]) -> None:
    class Odd(Tides, name="test-odd"):
        def parameters(self) -> dict[str, object]:
            return parameters

    with pytest.raises(GridError):
        Odd().to_json()


def test_a_subclass_that_fires_otherwise_is_not_equal() -> None:
    class Later(Cron):
        def after(self, t: datetime) -> datetime | None:
            slot = super().after(t)
            return slot and slot + timedelta(minutes=5)

    assert Later("@daily") == Later("0 0 * * *")
    assert Later("@daily") != Cron("@daily")
