"""The contracts find what they are there to find: each kept bug fails a contract."""

import inspect
from collections.abc import Callable
from types import ModuleType

import pytest

from sempre.brokers.memory import MemoryBroker
from sempre.errors import BrokerUnavailable
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts import broker as broker_suite
from sempre.testing.contracts import engine as engine_suite
from sempre.testing.contracts import store as store_suite
from sempre.testing.contracts.broker import builders
from tests.contract import broken_brokers, broken_limits, broken_stores
from tests.contract.broken_engines import BROKEN_ENGINES

AGAINST_STORES: list[tuple[type[MemoryStore], str]] = [
    (
        broken_stores.PlansInTheOpen,
        "test_no_edit_commits_between_the_reading_and_the_plans_of_an_exclusive_claim",
    ),
    (
        broken_stores.LoadsOverWhatItKnows,
        "test_a_loaded_record_does_not_replace_a_known_one",
    ),
    (broken_stores.LoadsAttemptsOfNothing, "test_records_that_have_no_place_are_left_out"),
    (broken_stores.FencesByAttempt, "test_fences_increase_over_everything_that_starts"),
    (broken_stores.DrainsOnce, "test_a_worker_that_is_drained_learns_it_from_every_tick"),
    (broken_stores.FindsIdsAnywhere, "test_ids_are_found_by_their_beginning_highest_first"),
    (broken_stores.ClaimsEarly, "test_a_row_is_never_claimed_early"),
    (broken_stores.ClaimsForAnyone, "test_a_session_that_lost_its_lease_claims_nothing"),
    (broken_stores.IgnoresSwitches, "test_no_claim_of_what_is_off_commits"),
    (broken_stores.AppliesInParts, "test_a_plan_whose_last_part_does_not_fit_leaves_no_trace"),
    (broken_stores.LastWriterWins, "test_a_plan_from_another_revision_is_refused"),
    (broken_stores.RepeatsOrders, "test_an_order_repeated_is_done_and_doubles_nothing"),
    (broken_stores.LetsZombiesSettle, "test_a_late_result_changes_nothing_but_is_kept"),
    (
        broken_stores.BuriesTheLiving,
        "test_an_expired_session_that_shows_life_holds_again_what_nobody_has_taken",
    ),
    (
        broken_stores.KeepsWhatPassed,
        "test_a_cursor_in_the_future_goes_back_and_what_it_passed_over_is_to_come",
    ),
    (broken_stores.RenewsTheRetired, "test_a_session_that_nobody_knows_cannot_renew"),
    (broken_stores.TakesFromTheLiving, "test_a_rescue_is_refused_once_the_session_lives_again"),
    (broken_stores.TrustsItsClock, "test_a_schedule_that_gave_up_slots_in_the_future_is_astray"),
    (broken_stores.ChecksThenInserts, "test_a_batch_holds_each_key_once"),
    (broken_stores.PassesAlways, "test_of_many_passes_at_once_one_begins"),
    (broken_stores.JudgesBySlot, "test_the_end_of_a_run_decides_not_its_slot"),
    (broken_stores.PurgesBySlot, "test_a_skipped_slot_that_is_to_come_outlives_a_purge"),
    (
        broken_stores.RoundsToMilliseconds,
        "test_a_schedule_in_the_middle_of_its_life_reads_back_equal",
    ),
    (broken_stores.ComparesWithoutCase, "test_names_are_told_apart_by_case_and_accent"),
    (broken_stores.PagesByCounting, "test_pages_of_history_are_complete_while_rows_come_in"),
    (broken_stores.CutsTheWhole, "test_the_latest_rows_of_many_schedules_come_at_once"),
    (broken_stores.ForgetsPriority, "test_due_rows_come_by_priority_and_then_by_time"),
    (broken_stores.StarvesTheLast, "test_overdue_work_is_taken_by_time_whatever_its_priority"),
    (broken_stores.TellsNobodyOfLeases, "test_expired_executions_come_with_the_lease_that_ran_out"),
    (broken_stores.RunsForEverybody, "test_a_session_can_ask_what_it_runs"),
    (broken_stores.RemembersRequests, "test_a_request_to_cancel_ends_with_a_rescue"),
    (broken_stores.CancelsNextRows, "test_the_next_row_of_a_schedule_is_not_cancelled"),
    (broken_stores.DecidesPastSwitches, "test_a_decision_in_ignorance_of_a_switch_is_refused"),
    (broken_stores.ListsWhatIsOver, "test_a_switch_goes_on_again_by_itself"),
    (broken_stores.BelievesEverybody, "test_a_report_of_a_claim_that_is_lost_is_dropped"),
    (
        broken_stores.AcceptsForgedLogs,
        "test_a_log_under_a_fence_that_the_session_never_held_is_dropped",
    ),
    (broken_stores.DropsLateLogs, "test_every_run_of_an_execution_has_its_own_log"),
    (broken_stores.KeepsLogsForever, "test_a_purge_deletes_the_logs_of_an_execution"),
    (broken_stores.RetriesBesideOthers, "test_a_retry_whose_key_was_taken_fails_as_coalesced"),
    (broken_stores.ForgetsLosses, "test_a_rescued_crash_is_on_record"),
    (broken_limits.CountsOncePerBatch, "test_claims_of_one_operation_respect_a_limit"),
    (
        broken_limits.TakesLimitedWorkAtOnce,
        "test_limited_one_off_work_is_due_and_no_hot_claim_takes_it",
    ),
    (broken_limits.FreesInAnyOrder, "test_parked_rows_go_on_by_priority_then_by_slot"),
    (
        broken_limits.KeepsTheDueTime,
        "test_a_settlement_makes_room_and_the_freed_row_is_due_now",
    ),
    (broken_limits.CountsByTheClockHour, "test_both_limits_of_an_execution_hold"),
    (
        broken_limits.SaysNothingOfRates,
        "test_a_rate_parks_the_start_beyond_it_and_says_when_it_opens",
    ),
    (broken_stores.PurgesTheLiving, "test_a_purge_forgets_sessions_that_lost_their_lease_long_ago"),
    (broken_stores.KeepsByAgeAlone, "test_the_newest_executions_of_a_schedule_stay_at_any_age"),
    (
        broken_stores.ForgetsWhatWasKept,
        "test_what_newer_executions_push_out_goes_when_one_of_them_is_examined",
    ),
    (
        broken_stores.PurgesUnderAnyRetention,
        "test_a_retention_of_its_own_decides_for_a_schedule",
    ),
    (broken_stores.PurgesRangesWithExecutions, "test_ranges_of_slots_outlive_executions"),
    (
        broken_stores.CountsKindsTogether,
        "test_what_is_purged_is_counted_by_day_state_and_kind",
    ),
]
AGAINST_THE_ENGINE: list[tuple[type[MemoryStore], str]] = [
    (broken_limits.KeepsTheDueTime, "test_the_wait_for_a_limit_is_not_lateness"),
    (broken_stores.FencesAnew, "test_catching_up_runs_every_slot_in_order_one_at_a_time"),
    (broken_stores.ForgetsPriority, "test_the_lowest_priority_goes_first"),
    (broken_stores.LetsZombiesSettle, "test_a_late_result_of_a_replaced_run_is_kept_as_late"),
    (broken_stores.LosesRanges, "test_a_held_slot_begins_when_the_switch_is_on_again"),
    (broken_stores.LosesSuccessors, "test_a_timeout_counts_as_a_failure"),
    (broken_stores.PassesAlways, "test_a_pass_is_run_by_one_of_many_workers"),
    (
        broken_stores.RenewsTheRetired,
        "test_a_worker_that_lost_its_lease_ends_what_it_runs_and_begins_anew",
    ),
    (broken_stores.TellsNobodyOfLeases, "test_what_a_dead_worker_ran_is_run_by_another_one"),
]
AGAINST_BROKERS: list[tuple[type[MemoryBroker], str]] = [
    (broken_brokers.DeliversEarly, "test_a_delayed_message_is_never_early"),
    (broken_brokers.RoundsDown, "test_a_part_of_a_second_is_never_rounded_down"),
    (broken_brokers.PutsBackAtOnce, "test_putting_back_with_a_delay_is_never_early"),
    (broken_brokers.ForgetsPriority, "test_a_lower_priority_comes_first_whatever_its_lane"),
    (broken_brokers.GivesMore, "test_as_many_come_as_were_asked_for"),
    (broken_brokers.HidesNothing, "test_every_message_is_reserved_by_one_thread"),
    (broken_brokers.NeverDeliversAgain, "test_an_unfinished_message_is_delivered_again"),
    (broken_brokers.AcknowledgesByHandle, "test_a_message_that_nobody_reserved_is_left_alone"),
    (broken_brokers.HoldsByHandle, "test_another_body_under_the_same_handle_is_another_message"),
    (broken_brokers.RefusesWholeBatches, "test_a_body_that_is_too_big_is_refused_alone"),
    (broken_brokers.RefusesInSilence, "test_if_nothing_is_taken_the_broker_is_unavailable"),
    (broken_brokers.CutsLines, "test_any_text_comes_as_it_was_put"),
    (broken_brokers.MissesWakes, "test_a_wake_ends_the_next_wait_too"),
    (broken_brokers.WakesForEver, "test_a_wake_is_heard_once"),
    (broken_brokers.DoesNotWait, "test_waits_are_not_cut_short"),
    (broken_brokers.TellsNobody, "test_whoever_waits_is_told_of_a_new_message"),
    (broken_brokers.OpensAgain, "test_a_closed_broker_is_an_error"),
    (broken_brokers.EmptiesByPrefix, "test_emptying_touches_no_other_lane"),
    (broken_brokers.KeepsWhatIsDelayed, "test_an_emptied_lane_has_nothing_that_waits"),
    (broken_brokers.TakesAnyLane, "test_a_lane_that_some_broker_cannot_have_is_refused"),
]
BROKEN_STORES = [
    *((store_suite, broken, name) for broken, name in AGAINST_STORES),
    *((engine_suite, broken, name) for broken, name in AGAINST_THE_ENGINE),
]


def identity(value: object) -> str:
    return getattr(value, "__name__", str(value)).rpartition(".")[2]


@pytest.mark.parametrize(("suite", "broken", "name"), BROKEN_STORES, ids=identity)
def test_a_broken_store_is_found(suite: ModuleType, broken: type[MemoryStore], name: str) -> None:
    contract = getattr(suite, name)
    contract(MemoryStore())

    with pytest.raises((AssertionError, ValueError)):
        contract(broken())


@pytest.mark.parametrize(("place", "bug", "name"), BROKEN_ENGINES, ids=identity)
def test_a_broken_engine_is_found(
    monkeypatch: pytest.MonkeyPatch, place: str, bug: Callable[..., object], name: str
) -> None:
    contract = getattr(engine_suite, name)
    contract(MemoryStore())
    monkeypatch.setattr(place, bug)

    with pytest.raises((AssertionError, ValueError)):
        contract(MemoryStore())


@pytest.mark.parametrize(("broken", "name"), AGAINST_BROKERS, ids=identity)
def test_a_broken_broker_is_found(
    broken: type[MemoryBroker], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = getattr(broker_suite, name)
    contract(**brokers_for(contract, MemoryBroker))
    # What never happens need not be waited for as long as what does.
    monkeypatch.setattr(builders, "PATIENCE", 2.0)

    with pytest.raises((AssertionError, ValueError, BrokerUnavailable)):
        contract(**brokers_for(contract, broken))


def brokers_for(contract: Callable[..., None], kind: type[MemoryBroker]) -> dict[str, MemoryBroker]:
    """Return the brokers that a contract asks for, of one kind."""
    made = {"broker": kind(), "hasty": kind(visibility=1)}
    return {name: made[name] for name in inspect.signature(contract).parameters}


def test_every_broken_store_and_broker_is_tried() -> None:
    stores = {broken for _, broken, _ in BROKEN_STORES}
    brokers = {broken for broken, _ in AGAINST_BROKERS}

    kept = classes_in(broken_stores, MemoryStore) | classes_in(broken_limits, MemoryStore)
    assert stores == kept
    assert brokers == classes_in(broken_brokers, MemoryBroker)


def classes_in(module: ModuleType, kind: type) -> set[type]:
    """Return the subclasses of a class that a module defines."""
    every = [each for _, each in inspect.getmembers(module, inspect.isclass)]
    return {each for each in every if each.__module__ == module.__name__ and issubclass(each, kind)}
