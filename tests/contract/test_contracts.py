"""The contract suite itself: nothing of it is left out, and it finds what it is there to find."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from sempre.ports.store import Store
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts import store as contracts
from tests.contract import broken_stores
from tests.contract.broken_stores import (
    AppliesInParts,
    BelievesEverybody,
    BuriesTheLiving,
    CancelsNextRows,
    ChecksThenInserts,
    ClaimsEarly,
    ClaimsForAnyone,
    ComparesWithoutCase,
    CutsTheWhole,
    DecidesPastSwitches,
    FencesByAttempt,
    ForgetsLosses,
    ForgetsPriority,
    IgnoresSwitches,
    KeepsWhatPassed,
    LastWriterWins,
    LetsZombiesSettle,
    ListsWhatIsOver,
    PagesByCounting,
    PassesAlways,
    PlansInTheOpen,
    PurgesBySlot,
    PurgesTheLiving,
    RemembersRequests,
    RenewsTheRetired,
    RepeatsOrders,
    RetriesBesideOthers,
    RoundsToMilliseconds,
    RunsForEverybody,
    StarvesTheLast,
    TakesFromTheLiving,
    TellsNobodyOfLeases,
    TrustsItsClock,
)

Contract = Callable[[Store], None]

KEPT_BUGS: list[tuple[type[MemoryStore], str]] = [
    (
        PlansInTheOpen,
        "test_no_edit_commits_between_the_reading_and_the_plans_of_an_exclusive_claim",
    ),
    (FencesByAttempt, "test_fences_increase_over_everything_that_starts"),
    (ClaimsEarly, "test_a_row_is_never_claimed_early"),
    (ClaimsForAnyone, "test_a_session_that_lost_its_lease_claims_nothing"),
    (IgnoresSwitches, "test_no_claim_of_what_is_off_commits"),
    (AppliesInParts, "test_a_plan_whose_last_part_does_not_fit_leaves_no_trace"),
    (LastWriterWins, "test_a_plan_from_another_revision_is_refused"),
    (RepeatsOrders, "test_an_order_repeated_is_done_and_doubles_nothing"),
    (LetsZombiesSettle, "test_a_late_result_changes_nothing_but_is_kept"),
    (BuriesTheLiving, "test_an_expired_session_that_shows_life_holds_again_what_nobody_has_taken"),
    (KeepsWhatPassed, "test_a_cursor_in_the_future_goes_back_and_what_it_passed_over_is_to_come"),
    (RenewsTheRetired, "test_a_session_that_nobody_knows_cannot_renew"),
    (TakesFromTheLiving, "test_a_rescue_is_refused_once_the_session_lives_again"),
    (TrustsItsClock, "test_a_schedule_that_gave_up_slots_in_the_future_is_astray"),
    (ChecksThenInserts, "test_a_batch_holds_each_key_once"),
    (PassesAlways, "test_of_many_passes_at_once_one_begins"),
    (PurgesBySlot, "test_a_skipped_slot_that_is_to_come_outlives_a_purge"),
    (RoundsToMilliseconds, "test_a_schedule_in_the_middle_of_its_life_reads_back_equal"),
    (ComparesWithoutCase, "test_names_are_told_apart_by_case_and_accent"),
    (PagesByCounting, "test_pages_of_history_are_complete_while_rows_come_in"),
    (CutsTheWhole, "test_the_latest_rows_of_many_schedules_come_at_once"),
    (ForgetsPriority, "test_due_rows_come_by_priority_and_then_by_time"),
    (StarvesTheLast, "test_overdue_work_is_taken_by_time_whatever_its_priority"),
    (TellsNobodyOfLeases, "test_expired_executions_come_with_the_lease_that_ran_out"),
    (RunsForEverybody, "test_a_session_can_ask_what_it_runs"),
    (RemembersRequests, "test_a_request_to_cancel_ends_with_a_rescue"),
    (CancelsNextRows, "test_the_next_row_of_a_schedule_is_not_cancelled"),
    (DecidesPastSwitches, "test_a_decision_in_ignorance_of_a_switch_is_refused"),
    (ListsWhatIsOver, "test_a_switch_goes_on_again_by_itself"),
    (BelievesEverybody, "test_a_report_of_a_claim_that_is_lost_is_dropped"),
    (RetriesBesideOthers, "test_a_retry_whose_key_was_taken_fails_as_coalesced"),
    (ForgetsLosses, "test_a_rescued_crash_is_on_record"),
    (PurgesTheLiving, "test_a_purge_forgets_sessions_that_lost_their_lease_long_ago"),
]


def themes() -> Iterator[ModuleType]:
    for each in pkgutil.iter_modules(contracts.__path__):
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
    ("broken", "name"), KEPT_BUGS, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_kept_bug_is_found(broken: type[MemoryStore], name: str) -> None:
    contract: Contract = getattr(contracts, name)
    contract(MemoryStore())

    with pytest.raises((AssertionError, ValueError)):
        contract(broken())


def test_every_broken_store_is_tried() -> None:
    stores = inspect.getmembers(broken_stores, inspect.isclass)
    kept = {each for _, each in stores if each.__module__ == broken_stores.__name__}

    assert {broken for broken, _ in KEPT_BUGS} == {
        each for each in kept if issubclass(each, MemoryStore)
    }
