"""Imports point downward only: the order of the layers, and the one exception to it."""

from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules, unit_of

# Lowest first; the units of one layer do not import each other.
LAYERS = (
    {"clock", "errors", "forking"},
    {"grids"},
    {"domain", "drawing"},
    {"addresses"},
    {"config", "redis_server"},
    {"ports"},
    {"engine", "stores", "brokers", "executors", "telemetry", "alerts"},
    {"urls"},
    {"app"},
    {"cli", "web"},
    {"testing"},
    {"__main__"},
)
HEIGHT = {unit: height for height, layer in enumerate(LAYERS) for unit in layer}
# The composition root offers the dashboard and the test tools, without needing them to start.
LAZY = {("app", "testing"), ("app", "web")}


def violations(module: Module) -> Iterator[str]:
    # The package root only re-exports, so it may name anything.
    if not module.unit:
        return
    if module.unit not in HEIGHT:
        yield f"{module.name}: {module.unit} has no layer; give it one in {__name__}"
        return
    for imported in module.imports():
        if imported.target.split(".")[0] != "sempre":
            continue
        unit = unit_of(imported.target)
        if unit == module.unit or ((module.unit, unit) in LAZY and imported.lazy):
            continue
        if HEIGHT.get(unit, len(LAYERS)) >= HEIGHT[module.unit]:
            yield f"{module.name}:{imported.line} imports {imported.target}"


def test_imports_point_downward_only() -> None:
    found = [violation for module in modules() for violation in violations(module)]

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sempre.grids.cron", "from sempre.domain import planning"),
        ("sempre.grids.cron", "import sempre.domain.planning"),
        ("sempre.grids.cron", "from ..domain import planning"),
        ("sempre.grids.cron", "from .. import domain"),
        ("sempre.grids.cron", "def f():\n    from sempre.domain import planning"),
        ("sempre.grids.cron", "if TYPE_CHECKING:\n    from sempre.domain import planning"),
        ("sempre.grids.cron", "importlib.import_module('sempre.domain')"),
        ("sempre.grids.cron", "from sempre import Cron"),
        ("sempre.grids.cron", "import sempre"),
        ("sempre.grids.cron", "from sempre.novelty import thing"),
        ("sempre.stores.memory", "from sempre.brokers import memory"),
        ("sempre.clock", "from sempre.errors import SempreError"),
        ("sempre.cli.main", "from sempre.web import site"),
        ("sempre.app", "from sempre.web import site"),
        ("sempre.app", "from .testing import simulation"),
        ("sempre.urls", "def f():\n    from sempre.app import Sempre"),
        ("sempre.drawing.canvas", "from sempre.domain.states import State"),
        ("sempre.novelty", "import json"),
    ],
)
def test_an_import_that_does_not_point_downward_is_found(name: str, text: str) -> None:
    assert len(list(violations(Module.parse(text, name)))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sempre.grids.cron", "from sempre.errors import CronError"),
        ("sempre.grids.cron", "from sempre.grids.zones import Zone"),
        ("sempre.grids.cron", "from .zones import Zone"),
        ("sempre.grids.cron", "from . import zones"),
        ("sempre.grids.cron", "import datetime"),
        ("sempre.drawing.scales", "from sempre.grids.zones import zone"),
        ("sempre.grids.cron", "import semprelike.domain"),
        ("sempre.stores.sql.store", "from ...ports import store"),
        ("sempre.stores.sql.store", "from sempre.stores.memory import MemoryStore"),
        ("sempre.app", "def f():\n    from sempre.web import site"),
        ("sempre.app", "async def f():\n    importlib.import_module('sempre.testing')"),
        ("sempre.app", "if TYPE_CHECKING:\n    from sempre.testing import TimeTravel"),
        ("sempre.testing.plugin", "from sempre.cli import main"),
        ("sempre", "from sempre.app import Sempre"),
    ],
)
def test_an_import_that_points_downward_is_allowed(name: str, text: str) -> None:
    assert list(violations(Module.parse(text, name))) == []


def test_a_relative_import_of_a_package_starts_at_the_package() -> None:
    tree = Module.parse("from .cron import Cron").tree

    assert list(violations(Module("sempre.grids", tree, is_package=True))) == []
