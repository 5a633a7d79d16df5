"""Grids as values: stored as JSON and read back, equal by meaning, never changed."""

import copy
import json
from datetime import datetime, timedelta

import pytest

from sempre import Cron, Every, Grid
from sempre.errors import (
    GridError,
    IntervalError,
    InvalidInput,
    SempreError,
    UnknownGrid,
    ZoneError,
)
from tests.unit.grids.clocks import at

GRIDS: list[Grid] = [
    Cron("0 9 * * *"),
    Cron("@daily Europe/Rome"),
    Cron("*/5 30 9 L * 5#2", timezone="Asia/Tokyo"),
    Cron("30 2 * * *", timezone="Europe/Rome", gap="skip", fold="both"),
    Every(90),
    Every("1h30m"),
    Every(timedelta(days=1)),
    Every("1 month", anchor="2026-01-31 09:00", timezone="Europe/Rome"),
    Every("1 day", anchor="2024-11-03 01:30-05:00", timezone="America/New_York", fold="both"),
    Every("1 week", anchor=datetime.fromisoformat("1850-01-01 09:00:00.000001+00:49:56")),
    Every(2, "years", gap="skip", fold="last"),
]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_grid_comes_back_from_json_equal_and_with_the_same_answers(grid: Grid) -> None:
    stored = json.dumps(grid.to_json())

    again = Grid.from_json(json.loads(stored))

    assert again == grid
    assert hash(again) == hash(grid)
    assert type(again) is type(grid)
    assert again.to_json() == grid.to_json()
    assert again.times(at("2024-01-01 00:00Z"), 20) == grid.times(at("2024-01-01 00:00Z"), 20)


def test_the_stored_form_is_plain() -> None:
    assert Cron("@daily Europe/Rome").to_json() == {
        "grid": "cron",
        "text": "0 0 * * *",
        "timezone": "Europe/Rome",
        "gap": "shift",
        "fold": "first",
    }
    assert Every("1 month", anchor="2026-01-31 09:00", timezone="Europe/Rome").to_json() == {
        "grid": "every",
        "interval": 1,
        "unit": "months",
        "anchor": "2026-01-31T09:00:00",
        "timezone": "Europe/Rome",
        "gap": "shift",
        "fold": "first",
    }


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        ({}, GridError),
        ({"grid": None}, GridError),
        ({"grid": 5, "text": "@daily"}, GridError),
        ({"grid": ["cron"]}, GridError),
        ({"grid": "nobody-knows"}, UnknownGrid),
        ({"grid": "Cron", "text": "@daily"}, UnknownGrid),
        ({"grid": "cron", "text": None}, InvalidInput),
        ({"grid": "cron", "text": "@daily", "timezone": "Mars/Base"}, ZoneError),
        ({"grid": "every", "interval": 0, "unit": "days"}, IntervalError),
        ({"grid": "every", "interval": 1, "unit": "moons"}, IntervalError),
    ],
)
def test_a_wrong_stored_form_is_refused(stored: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        Grid.from_json(stored)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "cron",
        5,
        {"grid": "cron"},
        {"grid": "every"},
        {"grid": "cron", "text": "@daily", "zone": "UTC"},
        {"grid": "cron", "text": "@daily", "self": 1},
    ],
)
def test_a_stored_form_without_or_with_too_many_parameters_is_refused(stored: object) -> None:
    with pytest.raises(SempreError):
        Grid.from_json(stored)  # type: ignore[arg-type]


def test_an_unknown_grid_names_those_that_are_known() -> None:
    with pytest.raises(UnknownGrid, match=r'"nobody-knows".*cron,.*every') as unknown:
        Grid.from_json({"grid": "nobody-knows"})

    assert unknown.value.name == "nobody-knows"


# Values


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("attribute", ["timezone", "gap", "fold", "name", "anything"])
def test_an_attribute_cannot_be_set(grid: Grid, attribute: str) -> None:
    before = grid.to_json()

    with pytest.raises(AttributeError):
        setattr(grid, attribute, "UTC")

    assert grid.to_json() == before


@pytest.mark.parametrize("attribute", ["text", "_zone"])
def test_neither_can_the_rule(attribute: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Cron("0 9 * * *"), attribute, "0 10 * * *")
    with pytest.raises(AttributeError):
        setattr(Every("1 day"), "interval", "2 days")  # noqa: B010 - mypy would refuse the plain form


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_an_attribute_cannot_be_deleted(grid: Grid) -> None:
    mine = copy.copy(grid)

    with pytest.raises(AttributeError):
        del mine.timezone  # type: ignore[attr-defined]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_copy_is_equal_and_answers_alike(grid: Grid) -> None:
    t = at("2026-01-01 00:00Z")

    for other in (copy.copy(grid), copy.deepcopy(grid)):
        assert other == grid
        assert other.after(t) == grid.after(t)


def test_asking_does_not_change_a_grid() -> None:
    for grid in GRIDS:
        before = hash(grid), grid.to_json()
        grid.times(at("2026-01-01 00:00Z"), 3)
        grid.after(at("2500-01-01 00:00Z"))

        assert (hash(grid), grid.to_json()) == before


def test_all_grids_differ_from_each_other() -> None:
    assert len(set(GRIDS)) == len(GRIDS)
    assert Every("1h") != Cron("0 * * * *")
    assert Cron("@daily") != "@daily"


@pytest.mark.parametrize("grid", [GRIDS[3], GRIDS[8], GRIDS[10]], ids=str)
def test_a_grid_is_shown_as_the_code_that_builds_it(grid: Grid) -> None:
    assert grid.gap in repr(grid)  # type: ignore[attr-defined]
    assert grid.fold in repr(grid)  # type: ignore[attr-defined]
