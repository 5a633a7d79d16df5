"""Only `clock.py` reads time, the pure packages have no effects, and nothing is unpickled."""

import sys
from collections.abc import Callable, Iterator

import pytest

from tests.architecture.source import Module, modules

READERS_OF_TIME = {
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "uuid.uuid1",
    "uuid.uuid6",
    "uuid.uuid7",
}
PURE = {"grids", "domain", "drawing"}
EFFECTS = {
    "asyncio",
    "concurrent",
    "http",
    "logging",
    "multiprocessing",
    "os",
    "random",
    "secrets",
    "select",
    "selectors",
    "signal",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "urllib",
    "uuid",
}
# The rules of time zones are data, shipped as a package: importlib.resources reads them.
DATA = {("grids", "tzdata")}
UNPICKLERS = {"_pickle", "cloudpickle", "dill", "marshal", "pickle", "shelve"}
EVALUATORS = {"builtins.eval", "builtins.exec", "eval", "exec"}


def clock_violations(module: Module) -> Iterator[str]:
    if module.name == "sempre.clock":
        return
    for imported in module.imports():
        if imported.target.split(".")[0] == "time":
            yield f"{module.name}:{imported.line} imports {imported.target}"
    for name, line in module.uses():
        if name in READERS_OF_TIME:
            yield f"{module.name}:{line} uses {name}"


def purity_violations(module: Module) -> Iterator[str]:
    if module.unit not in PURE:
        return
    for imported in module.imports():
        top = imported.target.split(".")[0]
        foreign = top not in sys.stdlib_module_names and top != "sempre"
        if top in EFFECTS or (foreign and (module.unit, top) not in DATA):
            yield f"{module.name}:{imported.line} imports {imported.target}"


def unpickling_violations(module: Module) -> Iterator[str]:
    for imported in module.imports():
        if imported.target.split(".")[0] in UNPICKLERS:
            yield f"{module.name}:{imported.line} imports {imported.target}"
    for name, line in module.uses():
        if name in EVALUATORS:
            yield f"{module.name}:{line} uses {name}"


def found(rule: Callable[[Module], Iterator[str]]) -> str:
    return "\n".join(violation for module in modules() for violation in rule(module))


def test_only_the_clock_reads_time() -> None:
    assert not found(clock_violations)


def test_grids_domain_and_drawing_are_pure() -> None:
    assert not found(purity_violations)


def test_nothing_is_unpickled_or_evaluated() -> None:
    assert not found(unpickling_violations)


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "import time as chronos",
        "from time import monotonic",
        "def f():\n    from time import sleep",
        "from datetime import datetime\ndatetime.now()",
        "from datetime import datetime as moment\nmoment.utcnow()",
        "import datetime\ndatetime.datetime.today()",
        "import datetime as dt\nread = dt.datetime.now",
        "from datetime import date\nfield(default_factory=date.today)",
        "from uuid import uuid1\nuuid1()",
    ],
)
def test_a_module_that_reads_time_is_found(text: str) -> None:
    assert len(list(clock_violations(Module.parse(text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC, datetime, time\ndatetime(2026, 1, 31, tzinfo=UTC)",
        "from sempre.clock import Clock\ndef f(clock: Clock):\n    return clock.now()",
        "from sempre.grids import time",
    ],
)
def test_a_module_that_is_told_the_time_is_allowed(text: str) -> None:
    assert list(clock_violations(Module.parse(text))) == []


def test_the_clock_itself_may_read_time() -> None:
    assert list(clock_violations(Module.parse("import time", "sempre.clock"))) == []


@pytest.mark.parametrize("name", ["sempre.grids.cron", "sempre.domain"])
@pytest.mark.parametrize(
    "text",
    ["import random", "from uuid import uuid4", "import os.path", "import rich", "import click"],
)
def test_an_effect_in_a_pure_package_is_found(name: str, text: str) -> None:
    assert len(list(purity_violations(Module.parse(text, name)))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "sempre.grids.zones",
            "from importlib.resources import files\nfrom tzdata import zoneinfo",
        ),
        ("sempre.domain.planning", "from sempre.grids import Grid\nfrom .states import State"),
        ("sempre.stores.memory", "import threading"),
    ],
)
def test_what_a_package_may_import_is_allowed(name: str, text: str) -> None:
    assert list(purity_violations(Module.parse(text, name))) == []


def test_only_the_grids_may_read_the_time_zone_package() -> None:
    assert list(purity_violations(Module.parse("import tzdata", "sempre.domain.schedule")))


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "def f():\n    import shelve",
        "importlib.import_module('pickle')",
        "eval('1')",
        "run = exec",
        "import builtins\nbuiltins.eval('1')",
    ],
)
def test_unpickling_and_evaluating_are_found(text: str) -> None:
    assert len(list(unpickling_violations(Module.parse(text)))) == 1


@pytest.mark.parametrize("text", ["import json", "re.compile('x')", "model.eval()"])
def test_what_only_looks_like_unpickling_is_allowed(text: str) -> None:
    assert list(unpickling_violations(Module.parse(text))) == []
