"""The contract of a broker itself: nothing of it is left out, and it finds what it is there for."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from sempre.brokers.memory import MemoryBroker
from sempre.errors import BrokerUnavailable
from sempre.testing.contracts import broker as contracts
from sempre.testing.contracts.broker import builders
from tests.contract import broken_brokers as broken

Contract = Callable[..., None]

KEPT_BUGS: list[tuple[type[MemoryBroker], str]] = [
    (broken.DeliversEarly, "test_a_delayed_message_is_never_early"),
    (broken.RoundsDown, "test_a_part_of_a_second_is_never_rounded_down"),
    (broken.PutsBackAtOnce, "test_putting_back_with_a_delay_is_never_early"),
    (broken.ForgetsPriority, "test_a_lower_priority_comes_first_whatever_its_lane"),
    (broken.GivesMore, "test_as_many_come_as_were_asked_for"),
    (broken.HidesNothing, "test_every_message_is_reserved_by_one_thread"),
    (broken.NeverDeliversAgain, "test_an_unfinished_message_is_delivered_again"),
    (broken.AcknowledgesByHandle, "test_a_message_that_nobody_reserved_is_left_alone"),
    (broken.HoldsByHandle, "test_another_body_under_the_same_handle_is_another_message"),
    (broken.RefusesWholeBatches, "test_a_body_that_is_too_big_is_refused_alone"),
    (broken.RefusesInSilence, "test_if_nothing_is_taken_the_broker_is_unavailable"),
    (broken.CutsLines, "test_any_text_comes_as_it_was_put"),
    (broken.MissesWakes, "test_a_wake_ends_the_next_wait_too"),
    (broken.WakesForEver, "test_a_wake_is_heard_once"),
    (broken.DoesNotWait, "test_waits_are_not_cut_short"),
    (broken.TellsNobody, "test_whoever_waits_is_told_of_a_new_message"),
    (broken.OpensAgain, "test_a_closed_broker_is_an_error"),
    (broken.EmptiesByPrefix, "test_emptying_touches_no_other_lane"),
    (broken.KeepsWhatIsDelayed, "test_an_emptied_lane_has_nothing_that_waits"),
    (broken.TakesAnyLane, "test_a_lane_that_some_broker_cannot_have_is_refused"),
]


def themes() -> Iterator[ModuleType]:
    for each in pkgutil.iter_modules(contracts.__path__):
        yield importlib.import_module(f"{contracts.__name__}.{each.name}")


def contracts_of(theme: ModuleType) -> dict[str, Contract]:
    functions = inspect.getmembers(theme, inspect.isfunction)
    own = [(name, each) for name, each in functions if each.__module__ == theme.__name__]
    return {name: each for name, each in own if name.startswith("test_")}


def brokers_for(contract: Contract, kind: type[MemoryBroker]) -> dict[str, MemoryBroker]:
    """Return what a contract asks for, of one kind."""
    asked = inspect.signature(contract).parameters
    made = {"broker": kind(), "hasty": kind(visibility=1)}
    return {name: made[name] for name in asked}


def test_every_contract_of_every_theme_is_in_the_suite_once() -> None:
    """But for those of a broker that carries nothing, which are a suite of their own."""
    carrying = [theme for theme in themes() if not theme.__name__.endswith(".silence")]
    names = [name for theme in carrying for name in contracts_of(theme)]

    assert sorted(names) == sorted(contracts.__all__)
    assert len(names) == len(set(names))


def test_a_contract_asks_for_brokers_and_says_what_it_promises() -> None:
    for theme in themes():
        for name, contract in contracts_of(theme).items():
            assert set(inspect.signature(contract).parameters) <= {"broker", "hasty"}, name
            assert contract.__doc__, name


@pytest.mark.parametrize(
    ("kind", "name"), KEPT_BUGS, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_kept_bug_is_found(
    kind: type[MemoryBroker], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract: Contract = getattr(contracts, name)
    contract(**brokers_for(contract, MemoryBroker))
    # What never happens need not be waited for as long as what does.
    monkeypatch.setattr(builders, "PATIENCE", 2.0)

    with pytest.raises((AssertionError, ValueError, BrokerUnavailable)):
        contract(**brokers_for(contract, kind))


def test_every_broken_broker_is_tried() -> None:
    kinds = [each for _, each in inspect.getmembers(broken, inspect.isclass)]
    kept = {each for each in kinds if each.__module__ == broken.__name__}

    assert {kind for kind, _ in KEPT_BUGS} == kept
