"""Rows that cannot be read: which they are, why, and that the others come as ever."""

import json

import pytest

from sempre.domain.definition import define
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.snapshot import Snapshot
from sempre.domain.switch import Switch
from sempre.domain.unreadable import Unreadable, read_each, unreadable
from sempre.errors import PolicyError, UnknownGrid, UnreadableRow
from sempre.grids import Cron
from sempre.grids.instants import EPOCH
from sempre.grids.unknown_grid import ForeignGrid

NIGHTLY = define(job="bill", grid=Cron("0 2 * * *"), tags=["money"], limit=3, timeout="5m")


def told(row: int, error: Exception) -> Unreadable:
    return unreadable("executions", row, "bill", error)


def spoiled(**rules: object) -> str:
    return json.dumps(json.loads(write_rules(NIGHTLY)) | rules)


def test_what_can_be_read_comes_in_order_and_the_others_are_told_of() -> None:
    found, left_out = read_each([1, 0, 2, 0], lambda row: 10 // row, told)

    assert found == [10, 5]
    assert [each.id for each in left_out] == ["0", "0"]


def test_each_row_is_read_once_while_all_can_be_read() -> None:
    asked: list[int] = []

    assert read_each([3, 1, 2], lambda row: asked.append(row) or row, told)[0] == [3, 1, 2]  # type: ignore[func-returns-value]

    assert asked == [3, 1, 2]


@pytest.mark.parametrize(
    "rules",
    [
        {"colour": "blue"},
        {"overlap": "merge"},
        {"on_unknown": "ask"},
        {"retry": [1, 2]},
        {"retry": {"most": 3}},
        {"timeout": "5m"},
        {"priority": "high"},
        {"priority": True},
        {"enabled": 1},
        {"limit": 1.5},
        {"tags": "money"},
        {"tags": [1]},
        {"grid": "lunar"},
    ],
)
def test_a_field_or_a_value_of_a_newer_release_is_a_reason_not_to_read(rules: object) -> None:
    assert isinstance(rules, dict)
    with pytest.raises(PolicyError, match=f"^{next(iter(rules))}: "):
        read_definition(spoiled(**rules))


def test_what_was_written_is_read_again_whatever_it_leaves_unsaid() -> None:
    snapshot = Snapshot(name="", job="bill")

    assert read_snapshot(write_rules(snapshot)) == snapshot
    assert read_definition(write_rules(NIGHTLY)) == NIGHTLY
    with pytest.raises(PolicyError, match="owner"):
        read_snapshot('{"job":"bill","owner":"shop"}')


@pytest.mark.parametrize(
    ("change", "word"),
    [({"timezone": "Mars/Base"}, "Mars/Base"), ({"gap": "leap"}, "leap"), ({"phase": 3}, "phase")],
)
def test_a_grid_that_cannot_be_built_is_kept_and_says_why(
    change: dict[str, object], word: str
) -> None:
    stored = NIGHTLY.grid.to_json() | change

    grid = read_definition(spoiled(grid=stored)).grid

    assert isinstance(grid, ForeignGrid)
    assert grid.to_json() == stored
    with pytest.raises(UnknownGrid, match=f"{word}.*pip install --upgrade sempre tzdata"):
        grid.after(EPOCH)


def test_a_word_that_is_not_known_is_named() -> None:
    [row] = read_each([0], lambda _: dict[str, int]()["parked"], told)[1]

    assert "'parked' is a word that this release does not know." in str(row)
    assert isinstance(row.error, UnreadableRow)


def test_a_very_long_reason_is_cut() -> None:
    assert len(told(1, ValueError("x" * 10_000)).reason) < 400


def test_a_switch_of_an_unknown_mode_holds() -> None:
    newer = Switch("new", "job:bill", "throttle")  # type: ignore[arg-type]

    assert newer.holds
    assert not Switch("old", "job:bill", "reject").holds
