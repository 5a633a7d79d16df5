"""Files, functions and parameter lists stay small, and names say something."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import PACKAGE, Definition
from tools.sizes import functions, line_count

FILE_LINES = 350
LONGER_FILES = {"stores/sql/store.py": 450}
FUNCTION_LINES = 45
PARAMETERS = 5
EMPTY_WORDS = {"manager", "helper", "util", "common", "misc"}


def size_violations(path: str, text: str) -> Iterator[str]:
    limit = LONGER_FILES.get(path, FILE_LINES)
    if (lines := line_count(text)) > limit:
        yield f"{path} has {lines} lines; at most {limit}"
    for function in functions(text):
        where = f"{path}:{function.line} {function.name}"
        if function.length > FUNCTION_LINES:
            yield f"{where} has {function.length} lines; at most {FUNCTION_LINES}"
        if function.positional > PARAMETERS:
            yield f"{where} has {function.positional} positional parameters; at most {PARAMETERS}"


def name_violations(path: str, text: str) -> Iterator[str]:
    for part in path.removesuffix(".py").split("/"):
        if says_nothing(part):
            yield f"{path}: {part} says nothing"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Definition) and says_nothing(node.name):
            yield f"{path}:{node.lineno} {node.name} says nothing"


def says_nothing(name: str) -> bool:
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    empty = any(word.lower().removesuffix("s") in EMPTY_WORDS for word in words)
    return empty or name.lstrip("_").startswith("do_")


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text()


def test_files_functions_and_parameter_lists_are_small() -> None:
    found = [violation for source in sources() for violation in size_violations(*source)]

    assert not found, "\n".join(found)


def test_names_say_something() -> None:
    found = [violation for source in sources() for violation in name_violations(*source)]

    assert not found, "\n".join(found)


def test_a_file_may_not_pass_its_limit() -> None:
    assert not list(size_violations("app.py", "x = 1\n" * 350))
    assert list(size_violations("app.py", "x = 1\n" * 351))
    assert not list(size_violations("stores/sql/store.py", "x = 1\n" * 450))
    assert list(size_violations("stores/sql/store.py", "x = 1\n" * 451))


def test_a_function_may_not_pass_its_limit_but_its_docstring_is_free() -> None:
    docstring = '    """Promise.' + "\n" * 60 + '    """\n'

    assert not list(size_violations("app.py", "def f():\n" + docstring + "    x = 1\n" * 44))
    assert list(size_violations("app.py", "def f():\n" + docstring + "    x = 1\n" * 45))
    assert list(size_violations("app.py", "class A:\n  async def f():\n" + "    x = 1\n" * 45))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("def f(a, b, c, d, e): ...", 0),
        ("def f(a, b, c, d, e, f): ...", 1),
        ("def f(a, /, b, c, d, e, f): ...", 1),
        ("def f(self, a, b, c, d, e): ...", 0),
        ("def f(a, *, b, c, d, e, f, g): ...", 0),
    ],
)
def test_parameters_beyond_the_fifth_must_be_keyword_only(text: str, count: int) -> None:
    assert len(list(size_violations("app.py", text))) == count


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("utils.py", ""),
        ("common/grids.py", ""),
        ("app.py", "class JobManager: ..."),
        ("app.py", "def parse_helper(): ..."),
        ("app.py", "class A:\n    def _do_claim(self): ..."),
    ],
)
def test_a_name_that_says_nothing_is_found(path: str, text: str) -> None:
    assert len(list(name_violations(path, text))) == 1


def test_a_name_that_says_something_is_allowed() -> None:
    text = "class Miscount: ...\ndef done(): ...\ndef uncommon(): ...\ndef domain_of(): ..."

    assert not list(name_violations("engine/pairing.py", text))
