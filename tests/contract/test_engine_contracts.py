"""The engine's suite itself: nothing of it is left out, and it finds what it is there to find."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import ModuleType

import pytest

from sempre.domain.execution import Execution
from sempre.domain.values import copy_with
from sempre.engine.tickets import WatchdogCall
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Delivery
from sempre.ports.executor import Outcome
from sempre.ports.messages import Order, Pass
from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts import engine as contracts
from tests.contract.broken_stores import (
    ForgetsPriority,
    LetsZombiesSettle,
    PassesAlways,
    RenewsTheRetired,
    TellsNobodyOfLeases,
)

Contract = Callable[[Store], None]


class LosesRanges(MemoryStore):
    """Starts without recording the slots that were given up for it."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        bare = [replace(each, plan=replace(each.plan, ranges=())) for each in orders]
        return super().claim(bare, session=session)


class LosesSuccessors(MemoryStore):
    """Starts without writing what comes next."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        bare = [Order(replace(each.plan, creates=())) for each in orders]
        return super().claim(bare, session=session)


class FencesAnew(MemoryStore):
    """Gives every claim the same fence."""

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        found = super().claim(orders, session=session)
        same = [each and copy_with(each, fence=1) for each in found]
        for each in same:
            if each is not None:
                self._tables.put(each)
        return same


BROKEN_STORES: list[tuple[type[MemoryStore], str]] = [
    (FencesAnew, "test_catching_up_runs_every_slot_in_order_one_at_a_time"),
    (ForgetsPriority, "test_the_lowest_priority_goes_first"),
    (LetsZombiesSettle, "test_a_late_result_of_a_replaced_run_is_kept_as_late"),
    (LosesRanges, "test_a_held_slot_begins_when_the_switch_is_on_again"),
    (LosesSuccessors, "test_a_timeout_counts_as_a_failure"),
    (PassesAlways, "test_a_pass_is_run_by_one_of_many_workers"),
    (RenewsTheRetired, "test_a_worker_that_lost_its_lease_ends_what_it_runs_and_begins_anew"),
    (TellsNobodyOfLeases, "test_what_a_dead_worker_ran_is_run_by_another_one"),
]


def nothing(*_: object, **__: object) -> None:
    """Do nothing where something is to be done."""


def none_dropped(*_: object) -> None:
    """Give no slot up, whatever the policy says."""


def as_it_came(_holdings: object, _run: object, outcome: Outcome) -> Outcome:
    """Take the end of an abandoned run for somebody's wish."""
    return outcome


def never_fair(_turns: object, _kind: object) -> bool:
    """Go by priority alone."""
    return False


def by_its_own_interval(message: WatchdogMessage, delivery: Delivery, call: WatchdogCall) -> None:
    """Put a message back as it is, for as long as it says."""
    bell = message._engine.bell  # noqa: SLF001 - a bug sits where nobody else reaches
    bell.tell(lambda broker: broker.put_back([delivery], delay=float(call.interval)))


def only_when_its_time_has_come(row: Pass, now: datetime, _every: timedelta) -> bool:
    """Believe every due date, however far ahead it is."""
    return row.due_at <= now


def none_rescued(_sweeper: object) -> int:
    """Leave the work of the dead to the dead."""
    return 0


BROKEN_ENGINES: list[tuple[str, Callable[..., object], str]] = [
    (
        "sempre.domain.planning.claim.last_dropped",
        none_dropped,
        "test_without_catching_up_the_waiting_slot_runs_and_the_rest_is_one_range",
    ),
    (
        "sempre.engine.settling.Settler._ring",
        nothing,
        "test_a_slot_that_waited_is_rung_when_the_earlier_one_ends",
    ),
    (
        "sempre.engine.watchdog.Watchdog._ring_lost",
        nothing,
        "test_when_the_sentinel_is_gone_everything_is_rung_again",
    ),
    (
        "sempre.engine.retention.Retention.purge",
        nothing,
        "test_what_ended_before_retention_is_gone_and_counted",
    ),
    (
        "sempre.engine.watchdog.Watchdog._look_at_slice",
        nothing,
        "test_a_pass_replaces_a_row_that_has_drifted",
    ),
    (
        "sempre.engine.sweeping.Sweeper.rescue",
        none_rescued,
        "test_the_third_lost_lease_is_quarantined",
    ),
    (
        "sempre.engine.worker.Worker._end_unwanted",
        nothing,
        "test_a_replaced_run_is_told_at_the_next_beat",
    ),
    (
        "sempre.engine.holding.Holdings.judged",
        as_it_came,
        "test_a_worker_that_lost_its_lease_ends_what_it_runs_and_begins_anew",
    ),
    (
        "sempre.engine.kind_turns.KindTurns.is_turn_of_oldest",
        never_fair,
        "test_a_slot_of_low_priority_begins_though_urgent_ones_wait",
    ),
    (
        "sempre.engine.reporting.Reporter.report",
        nothing,
        "test_how_far_a_run_has_come_is_told_with_the_beat",
    ),
    (
        "sempre.engine.watchdog_message.WatchdogMessage.answer",
        nothing,
        "test_a_call_of_the_watchdog_is_answered_and_put_back",
    ),
    (
        "sempre.engine.watchdog_message.WatchdogMessage.answer",
        by_its_own_interval,
        "test_a_message_of_other_settings_is_replaced",
    ),
    (
        "sempre.engine.watchdog_message.WatchdogMessage.answer",
        by_its_own_interval,
        "test_a_message_that_finds_another_waiting_ends",
    ),
    (
        "sempre.ports.messages.Pass.is_due",
        only_when_its_time_has_come,
        "test_a_due_date_that_no_interval_explains_is_healed_by_the_next_beat",
    ),
]


# Its contracts need a fixture of their own, and are imported by name.
APART = {"unreadable"}


def themes() -> Iterator[ModuleType]:
    for each in pkgutil.iter_modules(contracts.__path__):
        if each.name not in APART:
            yield importlib.import_module(f"{contracts.__name__}.{each.name}")


def contracts_of(theme: ModuleType) -> dict[str, Contract]:
    functions = inspect.getmembers(theme, inspect.isfunction)
    own = [(name, each) for name, each in functions if each.__module__ == theme.__name__]
    return {name: each for name, each in own if name.startswith("test_")}


def test_every_contract_of_every_theme_is_in_the_suite_once() -> None:
    names = [name for theme in themes() for name in contracts_of(theme)]

    assert sorted(names) == sorted(contracts.__all__)
    assert len(names) == len(set(names))


def test_a_contract_asks_for_a_store_and_says_what_it_promises() -> None:
    for theme in themes():
        for name, contract in contracts_of(theme).items():
            assert list(inspect.signature(contract).parameters) == ["store"], name
            assert contract.__doc__, name


@pytest.mark.parametrize(
    ("broken", "name"), BROKEN_STORES, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_broken_store_is_found(broken: type[MemoryStore], name: str) -> None:
    contract: Contract = getattr(contracts, name)
    contract(MemoryStore())

    with pytest.raises((AssertionError, ValueError)):
        contract(broken())


@pytest.mark.parametrize(
    ("place", "bug", "name"), BROKEN_ENGINES, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_broken_engine_is_found(
    monkeypatch: pytest.MonkeyPatch, place: str, bug: Callable[..., object], name: str
) -> None:
    contract: Contract = getattr(contracts, name)
    contract(MemoryStore())
    monkeypatch.setattr(place, bug)

    with pytest.raises((AssertionError, ValueError)):
        contract(MemoryStore())
