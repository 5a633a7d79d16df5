"""Contracts: one suite of tests per port, which every adapter of the port must pass.

A suite is a package; each of its modules, a theme, defines contracts: plain functions whose names
begin with `test_`. The package collects them itself, so that a runner imports the suite with `*`
beside the fixtures that the contracts ask for.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

__all__ = ["collect"]

# A contract that fails then shows the values it compared, whichever module imports it.
pytest.register_assert_rewrite(*(f"{__name__}.{suite.name}" for suite in iter_modules(__path__)))


def collect(*modules: str) -> dict[str, Callable[..., None]]:
    """Return the contracts of themes by name; the name of a package stands for all its themes.

    Raises:
        ValueError: two contracts have one name, so that one of the two would never run.
    """
    found: dict[str, Callable[..., None]] = {}
    for theme in _themes(modules):
        for name, value in vars(theme).items():
            if name.startswith("test_") and value.__module__ == theme.__name__:
                if name in found:
                    raise ValueError(f"{theme.__name__} and {found[name].__module__} define {name}")
                found[name] = value
    return found


def _themes(modules: tuple[str, ...]) -> Iterator[ModuleType]:
    for module in map(import_module, modules):
        names = [each.name for each in iter_modules(getattr(module, "__path__", []))]
        yield from (import_module(f"{module.__name__}.{name}") for name in names)
        if not names:
            yield module
