"""Measure the source: how long its files and functions are, as median, 90th percentile and longest.

`tests/architecture/test_sizes.py` holds the limits; this script shows the distribution.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["Function", "functions", "line_count", "main"]

SOURCE = Path(__file__).resolve().parent.parent / "src"


@dataclass(frozen=True)
class Function:
    """A function's length without its docstring, and its parameters that have a position."""

    name: str
    line: int
    length: int
    positional: int


def line_count(text: str) -> int:
    """Count the lines of a file."""
    return len(text.splitlines())


def functions(text: str) -> Iterator[Function]:
    """Measure every function of a source text, nested ones and methods included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            # Only a first parameter can be the receiver.
            positional = len(names) - (names[:1] in (["self"], ["cls"]))
            yield Function(node.name, node.lineno, _length(node), positional)


def main() -> int:
    """Print the distribution of file and function lengths in src."""
    texts = {path.relative_to(SOURCE): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
    files = [(line_count(text), str(path)) for path, text in texts.items()]
    lengths = [
        (function.length, f"{path}:{function.line} {function.name}")
        for path, text in texts.items()
        for function in functions(text)
    ]
    print(f"{sum(length for length, _ in files)} lines in {len(files)} files")
    _describe("files", files)
    _describe("functions", lengths)
    return 0


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return length
    docstring = node.body[0]
    return length - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def _describe(what: str, measured: list[tuple[int, str]]) -> None:
    if not measured:
        return
    ordered = sorted(measured)
    lengths = [length for length, _ in ordered]
    p90 = lengths[(len(lengths) * 9) // 10]
    longest, where = ordered[-1]
    print(f"{what:9}  median {median(lengths):g}  p90 {p90}  max {longest} ({where})")


if __name__ == "__main__":
    sys.exit(main())
