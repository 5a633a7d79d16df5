"""What a module offers is written in its `__all__`, and every module says what it owns.

A theme of contracts offers its `test_` functions, which its suite collects by their names.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.architecture.source import Definition, Module, modules

CONTRACTS = "sempre.testing.contracts."


def violations(module: Module) -> Iterator[str]:
    if not ast.get_docstring(module.tree):
        yield f"{module.name} has no docstring"
    if is_theme(module):
        yield from theme_violations(module)
        return
    exported = exports(module)
    if exported is None:
        yield f"{module.name} has no __all__ of plain strings"
        return
    bound = set(bindings(module.tree.body))
    for name in exported:
        if name not in bound:
            yield f"{module.name} exports {name}, which it does not have"
    for node in module.tree.body:
        if isinstance(node, Definition) and is_public(node.name) and node.name not in exported:
            yield f"{module.name} defines {node.name}, public but not in __all__"


def theme_violations(module: Module) -> Iterator[str]:
    if "__all__" in bindings(module.tree.body):
        yield f"{module.name} has an __all__, though its suite collects contracts by their names"
    for node in module.tree.body:
        if isinstance(node, Definition) and is_public(node.name) and not is_contract(node):
            yield f"{module.name} defines {node.name}, which is public and no contract"


def is_theme(module: Module) -> bool:
    """Tell whether a module is one of those whose contracts a suite collects."""
    is_of_a_suite = module.name.startswith(CONTRACTS) and not module.is_package
    return is_of_a_suite and any(map(is_contract, module.tree.body))


def is_contract(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def is_public(name: str) -> bool:
    return not name.startswith("_")


def exports(module: Module) -> list[str] | None:
    """Return the names in `__all__`; None unless it is one literal of strings."""
    for node in module.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=value)
            ):
                return literal(value)
    return None


def literal(value: ast.expr | None) -> list[str] | None:
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    names = [item.value for item in value.elts if isinstance(item, ast.Constant)]
    strings = [name for name in names if isinstance(name, str)]
    return strings if len(strings) == len(value.elts) else None


def bindings(body: list[ast.stmt]) -> Iterator[str]:
    """Every name bound at the top level, also under `if` and `try`."""
    for node in body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name for alias in aliases)
            case ast.If() | ast.Try():
                children = ast.iter_child_nodes(node)
                yield from bindings([child for child in children if isinstance(child, ast.stmt)])
            case _:
                names = [child for child in ast.walk(node) if isinstance(child, ast.Name)]
                yield from (name.id for name in names if isinstance(name.ctx, ast.Store))


def test_every_module_states_what_it_owns_and_exports() -> None:
    found = [violation for module in modules() for violation in violations(module)]

    assert not found, "\n".join(found)


def test_every_public_name_of_the_package_is_importable_and_documented() -> None:
    sempre = importlib.import_module("sempre")

    assert sempre.__all__
    for name in sempre.__all__:
        value = getattr(sempre, name)
        assert not is_undocumented(value), f"sempre.{name} has no docstring"


def is_undocumented(value: object) -> bool:
    """Tell a class or function without a docstring; the one a dataclass generates is none."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    text = value.__doc__ or ""
    return not text or text.startswith(f"{value.__name__}(")


GOOD = '"""Owns things."""\n'


@pytest.mark.parametrize(
    "text",
    [
        "__all__ = []",
        GOOD,
        GOOD + "__all__ = [name for name in dir()]",
        GOOD + "__all__ = ['f', *others]",
        GOOD + "__all__ = ['absent']",
        GOOD + "__all__ = []\ndef f(): ...",
        GOOD + "__all__ = []\nclass A: ...",
    ],
)
def test_a_module_that_leaves_its_exports_unsaid_is_found(text: str) -> None:
    assert len(list(violations(Module.parse(text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "__all__ = ['f', 'A', 'X', 'Y']\nfrom a import X\nY: int = 3\ndef f(): ...\nclass A: ...",
        "__all__ = []\ndef _private(): ...",
        "__all__: tuple[str, ...] = ('f', 'g')\nif x:\n    from a import f\nelse:\n    g = 1",
        "__all__: list[str] = []",
    ],
)
def test_a_module_that_states_its_exports_is_allowed(text: str) -> None:
    assert list(violations(Module.parse(GOOD + text))) == []


def parse_theme(text: str) -> Module:
    return Module.parse(GOOD + "def test_a(store): ...\n" + text, f"{CONTRACTS}store.themes")


@pytest.mark.parametrize("text", ["__all__ = ['test_a']", "def helper(): ...", "class Helper: ..."])
def test_a_theme_that_offers_more_than_contracts_is_found(text: str) -> None:
    assert len(list(violations(parse_theme(text)))) == 1


def test_a_theme_of_contracts_and_private_names_is_allowed() -> None:
    assert list(violations(parse_theme("def _helper(): ...\nLIMIT = 7"))) == []


def test_a_generated_or_missing_docstring_is_not_documentation() -> None:
    @dataclass
    class Generated:
        name: str

    class Documented:
        """Promise something."""

    assert is_undocumented(Generated)
    assert is_undocumented(type("Bare", (), {}))
    assert not is_undocumented(Documented)
