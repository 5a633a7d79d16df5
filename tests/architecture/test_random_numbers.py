"""Sempre draws no random number from the generator that the application may have seeded."""

import ast

from tests.architecture.source import modules

# What draws from the generator of the module `random`; classes make generators of their own.
GENERATORS = {"Random", "SystemRandom"}


def drawn(tree: ast.AST) -> set[str]:
    """Return what a module imports or uses of the shared generator."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            found |= {each.name for each in node.names}
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "random":
            found.add(node.attr)
    return found - GENERATORS


def test_no_module_draws_from_the_shared_generator() -> None:
    users = {each.name: drawn(each.tree) for each in modules()}

    assert {name: used for name, used in users.items() if used} == {}


def test_a_draw_from_the_shared_generator_is_found() -> None:
    assert drawn(ast.parse("from random import Random, random")) == {"random"}
    assert drawn(ast.parse("import random\nrandom.choice([1])")) == {"choice"}
