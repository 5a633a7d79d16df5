"""Proofs: tests that a table names, and whether they exist and are run."""

import ast
import importlib
from functools import cache
from pathlib import Path

from tests.contract.conftest import KNOWN

__all__ = ["ROOT", "assertions_of", "check_proof"]

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = "src/sempre/testing/contracts/"
SET_ASIDE = ("skip", "skipif", "xfail")


def check_proof(proof: str) -> None:
    """Fail unless a test such as `tests/x.py::test_y` exists and is run; KeyError if it is not."""
    path, _, name = proof.partition("::")
    assert name.startswith("test_")
    assert not set(_marks_in(path)[name]) & set(SET_ASIDE)
    if path.startswith(CONTRACTS):
        suite = f"sempre.testing.contracts.{path.removeprefix(CONTRACTS).partition('/')[0]}"
        assert suite in _suites_that_are_run()
        assert name in importlib.import_module(suite).__all__
        assert not [module for module, known in KNOWN.items() if name in known]
    else:
        assert Path(path).parts[0] == "tests"


@cache
def assertions_of(proof: str) -> tuple[str, ...]:
    """Return the texts of a test's own assertions: `assert`, and `with pytest.raises`."""
    path, _, name = proof.partition("::")
    test = _functions_in(path)[name]
    asserted = [node.test for node in ast.walk(test) if isinstance(node, ast.Assert)]
    items = (node.items for node in ast.walk(test) if isinstance(node, ast.With | ast.AsyncWith))
    contexts = [item.context_expr for each in items for item in each]
    return (
        *map(ast.unparse, asserted),
        *(text for text in map(ast.unparse, contexts) if text.startswith("pytest.raises")),
    )


@cache
def _marks_in(path: str) -> dict[str, list[str]]:
    """Return the functions of a file by name, with the last words of their decorators."""
    functions = _functions_in(path).values()
    return {each.name: [_last_word(mark) for mark in each.decorator_list] for each in functions}


@cache
def _functions_in(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / path).read_text())
    return {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def _last_word(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).rpartition(".")[2]


@cache
def _suites_that_are_run() -> frozenset[str]:
    """Return the contract suites that a test module imports as a whole, by dotted name."""
    found = set()
    for path in (ROOT / "tests" / "contract").glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                found.add(node.module or "")
    return frozenset(found)
