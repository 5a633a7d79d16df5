"""docs/reference/cli.md says what is so: every command is there, and every example is replayed.

A `console` block holds commands after `$` and what they print. Numbers, times, days and ids may
differ, as may the width of columns. A block after `<!-- not replayed: reason -->` is left alone.
"""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from sempre.cli.main import SECTIONS, cli
from tests.architecture.source import ROOT
from tests.unit.cli.commands import sempre

PAGE = (ROOT / "docs" / "reference" / "cli.md").read_text()
BLOCK = re.compile(
    r"(?P<aside><!-- not replayed: [^>]+-->\n)?^```console\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMON = {"--json", "--utc", "--wide", "--store", "--broker", "-A", "--app", "-m", "--why"}
MASKS = (
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]{2}( \d{4})?", "<day>"),
    (r"\b\d\d:\d\d(:\d\d(\.\d+)?)?", "<time>"),  # a time on a whole minute shows no seconds
    (r"\b\d+(\.\d+)? ?(ms|s|m|h|d)\b", "<length>"),
    (r"\d+", "0"),
    (r"\s+", " "),
)


def masked(text: str) -> str:
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text.strip()


def examples() -> Iterator[tuple[str, str]]:
    """Yield each command of the page that is replayed, and what it should print."""
    for block in BLOCK.finditer(PAGE):
        if not block["aside"]:
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                yield command, expected


def commands() -> Iterator[tuple[str, click.Command]]:
    for entries in SECTIONS.values():
        for entry in entries:
            found = cli.get_command(click.Context(cli), entry.name)
            assert found is not None
            if isinstance(found, click.Group):
                yield from ((f"{entry.name} {name}", each) for name, each in found.commands.items())
            else:
                yield entry.name, found


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The store of the page's own example, after one run that succeeded and one that failed."""
    monkeypatch.setenv("LOGNAME", "ann")
    match = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert match is not None
    (tmp_path / "documented_jobs.py").write_text(match[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    app = import_module("documented_jobs").app
    app.sync()
    for name in ("refresh_cache", "update_stats"):
        app.schedule(name).trigger()
    with app.running(burst=True, sync=False) as running:
        running.wait_until_exhausted()
    app.watchdog.perform()
    yield "sqlite:///jobs.db"
    app.close()


def test_every_example_prints_what_the_page_says(store: str) -> None:
    code = 0
    for command, expected in examples():
        if command == "echo $?":
            assert f"{code}\n" == expected, command
            continue
        where = {"SEMPRE_STORE": store, "SEMPRE_APP": "documented_jobs"}
        result = sempre(*shlex.split(command)[1:], **where)
        code = result.exit_code
        # Of a long answer the page may show the beginning.
        assert masked(result.output).startswith(masked(expected)), (
            f"$ {command}\nprints\n{result.output}\nand the page says\n{expected}"
        )


def test_the_page_has_examples() -> None:
    assert len(list(examples())) > 20


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=str)
def test_every_command_and_option_has_its_place_on_the_page(
    name: str, command: click.Command
) -> None:
    parts = re.split(rf"^## {name}$", PAGE, flags=re.MULTILINE)
    assert len(parts) == 2, f"no section for {name}"
    section = re.split(r"^## ", parts[1], flags=re.MULTILINE)[0]
    if name == "worker":
        section += re.split(r"^## dev$", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]

    options = {name for each in command.params for name in each.opts if name.startswith("-")}

    missing = {option for option in options - COMMON if option not in section}
    assert not missing
