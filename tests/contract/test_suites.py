"""Every suite holds each contract of its themes once, and a contract asks for its fixtures only."""

import inspect
import pkgutil
import re
import sys
from types import ModuleType

import pytest

from sempre.testing import contracts
from sempre.testing.contracts import (
    broker,
    collect,
    engine,
    silent_broker,
    store,
    transactional,
    unreadable_rows,
)
from tests.architecture.source import ROOT
from tests.contract.broken_stores import ForgetsPriority

SUITES: list[tuple[ModuleType, set[str]]] = [
    (broker, {"broker", "hasty"}),
    (engine, {"store"}),
    (silent_broker, {"broker"}),
    (store, {"store"}),
    (transactional, {"database"}),
    (unreadable_rows, {"store", "spoil", "monkeypatch"}),
]
every_suite = pytest.mark.parametrize(
    ("suite", "fixtures"), SUITES, ids=[suite.__name__.rpartition(".")[2] for suite, _ in SUITES]
)


def theme(name: str, **values: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(values)
    return module


def contract_of(module: str) -> object:
    def test_something() -> None: ...

    test_something.__module__ = module
    return test_something


@every_suite
def test_a_suite_exports_the_contracts_of_all_its_themes(
    suite: ModuleType, fixtures: set[str]
) -> None:
    own = [value for value in vars(suite).values() if inspect.isfunction(value)]
    exported = [name for name in suite.__all__ if name.startswith("test_")]

    assert set(collect(suite.__name__)) <= set(exported)
    assert len(exported) == len(set(exported)) == len(own) - 1  # but for collect itself
    assert fixtures


@every_suite
def test_a_contract_asks_for_the_fixtures_of_its_suite_and_says_what_it_promises(
    suite: ModuleType, fixtures: set[str]
) -> None:
    for name in suite.__all__:
        if name.startswith("test_"):
            contract = getattr(suite, name)
            assert set(inspect.signature(contract).parameters) <= fixtures, name
            assert contract.__doc__, name


def test_every_suite_is_examined_here() -> None:
    packages = {each.name for each in pkgutil.iter_modules(contracts.__path__)}

    assert {suite.__name__.rpartition(".")[2] for suite, _ in SUITES} == packages


@pytest.mark.parametrize(("suite", "guide"), [(store, "own-store"), (broker, "own-broker")])
def test_the_guide_names_every_theme(suite: ModuleType, guide: str) -> None:
    text = (ROOT / "docs" / "how-to" / f"{guide}.md").read_text()
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    themes = {each.__module__.rpartition(".")[2] for each in collect(suite.__name__).values()}

    assert set(re.findall(r"`(\w+)`", "".join(rows))) == themes


def test_a_contract_that_fails_shows_the_values_that_it_compared() -> None:
    contract = collect(store.__name__)["test_due_rows_come_by_priority_and_then_by_time"]

    with pytest.raises(AssertionError, match="At index 0 diff"):
        contract(ForgetsPriority())


def test_two_contracts_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one_theme", "other_theme"):
        monkeypatch.setitem(sys.modules, name, theme(name, test_something=contract_of(name)))

    with pytest.raises(ValueError, match="other_theme and one_theme define test_something"):
        collect("one_theme", "other_theme")


def test_what_a_theme_imports_is_no_contract_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    borrowed = theme("one_theme", test_something=contract_of("elsewhere"))
    monkeypatch.setitem(sys.modules, "one_theme", borrowed)

    assert collect("one_theme") == {}
