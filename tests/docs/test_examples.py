"""Every example in the documentation runs, and prints what the documentation says it prints.

The `python` blocks of a Markdown file run top to bottom in one namespace. An `output` block holds
exactly what the block before it prints. A block after `<!-- not executed: reason -->` only has to
compile. The examples in docstrings are doctests.
"""

import contextlib
import doctest
import importlib
import io
import re
import sqlite3
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from opentelemetry import trace
from opentelemetry.util._once import Once

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted((ROOT / "src" / "sempre").rglob("*.py"))
FENCE = re.compile(r"^\s*(?:```|~~~)\s*py", re.MULTILINE)
BLOCK = re.compile(
    r"(?P<aside><!--\s*not executed:\s*\S[^>]*-->\s*)?"
    r"^```(?P<language>python|output)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is the one its text starts on."""

    language: str
    text: str
    line: int
    executed: bool


def blocks(page: str) -> Iterator[Block]:
    for found in BLOCK.finditer(page):
        line = page.count("\n", 0, found.start("text")) + 1
        yield Block(found["language"], found["text"], line, executed=not found["aside"])


def run(page: str, name: str) -> None:
    """Run a page's examples; fail with the file and line of the first that goes wrong."""
    example = sys.modules["example"] = ModuleType("example")
    found = list(blocks(page))
    printed = ""
    if len(FENCE.findall(page)) != sum(block.language == "python" for block in found):
        pytest.fail(f"{name}: a Python block is not fenced by plain ```python lines", pytrace=False)
    for block in found:
        if block.language == "output":
            if block.text != printed:
                pytest.fail(f"{name}:{block.line}: the example prints\n{printed}", pytrace=False)
            continue
        try:
            printed = execute(block, name, example)
        except Exception as error:
            pytest.fail(f"{name}:{line_of(error, name, block)}: {error!r}", pytrace=False)
    if left := left_open(example):
        pytest.fail(f"{name}: the page leaves {', '.join(left)} open", pytrace=False)


def left_open(example: ModuleType) -> list[str]:
    """Close the connections that a page leaves open, and return their names.

    From Python 3.13 on they warn whenever they are collected, and would fail some later test.
    """
    found = {name: value for name, value in vars(example).items() if is_open(value)}
    for connection in found.values():
        connection.close()
    return list(found)


def is_open(value: object) -> bool:
    try:
        return isinstance(value, sqlite3.Connection) and value.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def execute(block: Block, name: str, example: ModuleType) -> str:
    """Run a block in the example's namespace and return what it printed."""
    # The padding gives tracebacks the line numbers of the page.
    code = compile("\n" * (block.line - 1) + block.text, name, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if block.executed:
            exec(code, vars(example))
    return out.getvalue()


def line_of(error: Exception, name: str, block: Block) -> int:
    """Return the page's line at which a block failed."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno or block.line
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == name]
    return next(filter(None, reversed(lines)), block.line)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "example", ModuleType("example"))
    # The API lets a process set a provider once; a page that sets one sets it for itself.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_work(path: Path) -> None:
    run(path.read_text(), path.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_a_docstring_work(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    module = importlib.import_module(name.removesuffix(".__init__"))

    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)

    assert not failed, capsys.readouterr().out


FAILING = [
    ("one\n\n```python\nx = 1\n\nassert x == 2\n```\n", "page.md:6: AssertionError"),
    ("```python\n1 / 0\n```\n", "page.md:2: ZeroDivisionError"),
    ("```python\nprint(1)\n```\n\n```output\n2\n```\n", "page.md:6: the example prints\n1"),
    ("<!-- not executed: it is wrong -->\n```python\nx =\n```\n", "page.md:3: SyntaxError"),
    ("<!-- not executed: -->\n```python\n1 / 0\n```\n", "page.md:3: ZeroDivisionError"),
    ("- list\n\n  ```python\n  1 / 0\n  ```\n", "page.md: a Python block"),
    ("```py\n1 / 0\n```\n", "page.md: a Python block"),
    (
        "```python\nimport sqlite3\n\nrows = sqlite3.connect('rows.db')\n```\n",
        "page.md: the page leaves rows open",
    ),
]


@pytest.mark.parametrize(("page", "message"), FAILING)
def test_an_example_that_does_not_work_fails_with_its_line(page: str, message: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=re.escape(message)):
        run(page, "page.md")


@pytest.mark.parametrize(
    "page",
    [
        "```python\nx = 1\n```\ntext\n```python\nassert x == 1\n```\n",
        "```python\nprint(1)\n```\n\n```output\n1\n```\n",
        "<!-- not executed: it needs a server -->\n\n```python\n1 / 0\n```\n",
        "```console\n$ false\n```\n",
    ],
)
def test_an_example_that_works_passes(page: str) -> None:
    run(page, "page.md")
