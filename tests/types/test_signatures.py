"""The type checker sees the signatures of users and of domain values: mistakes are found."""

import re
from pathlib import Path

import pytest
from mypy import api

CASES = Path(__file__).parent / "cases"
MISTAKE = re.compile(r"# error: (?P<code>[a-z-]+)")
FOUND = re.compile(r"\.py:(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]")


def checked(path: Path) -> str:
    said, trouble, _ = api.run(["--strict", str(path)])
    assert not trouble
    return said


def test_what_users_write_is_accepted_with_the_types_they_expect() -> None:
    said = checked(CASES / "good.py")
    assert said.startswith("Success"), said


@pytest.mark.parametrize("name", ["bad", "bad_copies"])
def test_every_mistake_is_found_on_its_line_and_nothing_else(name: str, tmp_path: Path) -> None:
    # Kept as text, so that the project's own checks pass it by.
    text = (CASES / f"{name}.txt").read_text()
    (tmp_path / f"{name}.py").write_text(text)
    lines = text.splitlines()
    expected = {
        (number, match["code"])
        for number, line in enumerate(lines, start=1)
        if (match := MISTAKE.search(line))
    }
    said = checked(tmp_path / f"{name}.py")
    found = {(int(each["line"]), each["code"]) for each in FOUND.finditer(said)}
    assert found == expected, said
