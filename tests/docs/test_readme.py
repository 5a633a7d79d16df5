"""The README as a newcomer types it: its first program, then every console line."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.cli.programs import clean_environment, program

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def typed() -> Iterator[str]:
    """Yield what the README tells to type, without comments."""
    for block in BLOCK.findall(README):
        for line in block.splitlines():
            if line.startswith("$ "):
                yield line.removeprefix("$ ").partition("  #")[0].strip()


def first_program() -> str:
    found = re.search(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_every_console_line_works_as_typed(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(first_program())
    environment = clean_environment()
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"

    with ExitStack() as background:
        for line in typed():
            words = shlex.split(line)
            if words[0] == "export":
                environment |= dict(word.split("=", 1) for word in words[1:])
            elif words[0] in ("make", "pip"):
                check_tool(words, environment)
            elif words[:2] == ["sempre", "worker"]:
                ours = {name: each for name, each in environment.items() if "SEMPRE" in name}
                worker = background.enter_context(program(tmp_path, *words[1:], **ours))
                worker.wait_for("working on ")
            else:
                done = subprocess.run(
                    words,
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"


def check_tool(words: list[str], environment: dict[str, str]) -> None:
    """Ask a tool whether it would do as typed: `make` for the target, `pip` for the name.

    To install for real would change the environment of the tests.
    """
    if words[0] == "make":
        words = [words[0], "--dry-run", *words[1:]]
    else:
        assert words[1] == "install"
        wanted = [word.replace(".", "sempre", 1) for word in words[2:]]
        words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", *wanted]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"$ {shlex.join(words)}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("words", ["pip install", "sempre worker", "sempre list", "sempre pause"])
def test_the_readme_tells_the_first_steps(words: str) -> None:
    assert any(line.startswith(words) for line in typed())
