"""The repository gives nothing away about the machine it was written on, and tests never sleep."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, dotted

# Written in pieces, so that this file does not match itself.
HOMES = "root|home|work|Users"
REGISTRIES = "|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.(?:org|com)"])
FORBIDDEN = re.compile(rf"(?<![\w.~$}}-])/(?:{HOMES})/|\b(?:{REGISTRIES})\b")


def leaks(text: str) -> list[str]:
    """Lines that name a home or work directory, or the host of a package registry."""
    return [line.strip() for line in text.splitlines() if FORBIDDEN.search(line)]


def sleeps(text: str) -> Iterator[int]:
    """Lines that call anything named sleep."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and (dotted(node.func) or "").split(".")[-1] == "sleep":
            yield node.lineno


def files_under_version_control() -> list[Path]:
    # safe.directory: in a container the checkout often belongs to another user.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run(
        [*command, "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_home_directory_or_a_package_registry() -> None:
    files = files_under_version_control()
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in files
        for line in leaks(path.read_text(errors="replace"))
    ]

    assert ROOT / "pyproject.toml" in files
    assert not found, "\n".join(found)


def test_no_test_sleeps() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in sleeps(path.read_text())
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "open('/" + "home/me/jobs.db')",
        "path = /" + "root/.cache",
        "see file:///" + "work/shared",
        "https://" + "pypi" + ".org/simple",
        "https://files.python" + "hosted.org/x",
    ],
)
def test_a_line_that_names_this_machine_or_a_registry_is_found(text: str) -> None:
    assert leaks(f"first line\n{text}\n") == [text]


@pytest.mark.parametrize("text", ["docs/home/index.md", "./work/x", "/usr/lib/x", "pip install x"])
def test_an_ordinary_path_is_allowed(text: str) -> None:
    assert leaks(text) == []


@pytest.mark.parametrize("text", ["sleep(1)", "time.sleep(1)", "await asyncio.sleep(0)"])
def test_a_call_of_sleep_is_found(text: str) -> None:
    assert list(sleeps(f"async def f():\n    {text}")) == [2]


def test_the_word_sleep_alone_is_allowed() -> None:
    assert not list(sleeps("clock.slept(1)\nsleep = 'sleep(1)'"))
