"""The architecture page names files that exist, and draws the table of transitions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.domain.states import TRANSITIONS
from tests.architecture.test_layers import LAYERS
from tests.proofs import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|sql|lua|md|toml|txt))`")
MEMBER = re.compile(r"`((?:[\w-]+/)*[\w-]+\.py)` `([\w.]+)")
WAY = re.compile(r"^    (\w+) --> (\w+)", re.MULTILINE)
LAYER = re.compile(r"^    (\w+)\[\"([^\"]+)\"\]", re.MULTILINE)


def paths(page: str) -> list[str]:
    return sorted(set(PATH.findall(page)))


def places(path: str) -> Iterator[Path]:
    """Yield the places that a path of the page may mean."""
    yield from (ROOT / path, ROOT / "src" / "sempre" / path)


def exists(path: str) -> bool:
    return any(place.exists() for place in places(path))


def members(page: str) -> list[tuple[str, str]]:
    """Return each function or class that stands right behind its file."""
    return sorted(set(MEMBER.findall(page)))


def defines(path: str, name: str) -> bool:
    [place] = [each for each in places(path) if each.exists()]
    text = place.read_text(encoding="utf-8")
    return all(re.search(rf"\b(?:def|class) {part}\b", text) for part in name.split("."))


@pytest.mark.parametrize("path", paths(PAGE))
def test_a_file_of_the_page_exists(path: str) -> None:
    assert exists(path)


@pytest.mark.parametrize(("path", "name"), members(PAGE))
def test_a_function_of_the_page_is_in_its_file(path: str, name: str) -> None:
    assert defines(path, name)


def test_the_page_names_enough_to_find_the_way() -> None:
    assert len(paths(PAGE)) > 60
    assert len(members(PAGE)) > 12


def test_the_drawn_states_are_the_table_of_transitions() -> None:
    drawn = {(before, after) for before, after in WAY.findall(PAGE) if before in TRANSITIONS}

    table = {(before.value, after.value) for before in TRANSITIONS for after in TRANSITIONS[before]}
    assert drawn == table


def test_every_layer_is_drawn() -> None:
    drawn = {unit for _, units in LAYER.findall(PAGE) for unit in re.findall(r"\w+", units)}

    assert drawn >= set().union(*LAYERS) - {"web", "__main__"}


def test_a_file_that_does_not_exist_is_noticed() -> None:
    assert paths("see `engine/crystal_ball.py` and `tea.md`") == [
        "engine/crystal_ball.py",
        "tea.md",
    ]
    assert not exists("engine/crystal_ball.py")


def test_a_function_that_does_not_exist_is_noticed() -> None:
    [(path, name)] = members("`engine/worker.py` `Worker.levitate`")

    assert not defines(path, name)
