"""The type checker sees the user's own signatures: good code passes, mistakes are found."""

import re
from pathlib import Path

from mypy import api

CASES = Path(__file__).parent / "cases"
MISTAKE = re.compile(r"# error: (?P<code>[a-z-]+)")
FOUND = re.compile(r"bad\.py:(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]")


def checked(path: Path) -> str:
    said, trouble, _ = api.run(["--strict", str(path)])
    assert not trouble
    return said


def test_what_users_write_is_accepted_with_the_types_they_expect() -> None:
    said = checked(CASES / "good.py")
    assert said.startswith("Success"), said


def test_every_mistake_is_found_on_its_line_and_nothing_else(tmp_path: Path) -> None:
    # Kept as text, so that the project's own checks pass it by.
    text = (CASES / "bad.txt").read_text()
    (tmp_path / "bad.py").write_text(text)
    lines = text.splitlines()
    expected = {
        (number, match["code"])
        for number, line in enumerate(lines, start=1)
        if (match := MISTAKE.search(line))
    }
    said = checked(tmp_path / "bad.py")
    found = {(int(each["line"]), each["code"]) for each in FOUND.finditer(said)}
    assert found == expected, said
