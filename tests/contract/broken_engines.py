"""Bugs of the engine, each patched into one place; the engine's contracts find all."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, PlanningTime, plan_failure
from sempre.domain.schedule import Schedule
from sempre.engine.tickets import WatchdogCall
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Delivery
from sempre.ports.executor import Outcome
from sempre.ports.messages import Pass

__all__ = ["BROKEN_ENGINES"]


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
    bell.attempt(lambda broker: broker.put_back([delivery], delay=float(call.interval)))


def only_when_its_time_has_come(row: Pass, now: datetime, _every: timedelta) -> bool:
    """Believe every due date, however far ahead it is."""
    return row.due_at <= now


def none_rescued(_rescuer: object) -> int:
    """Leave the work of the dead to the dead."""
    return 0


def always(*_: object) -> bool:
    """Say yes to everything."""
    return True


def as_a_failure(
    schedule: Schedule | None, row: Execution, moment: PlanningTime, **_: object
) -> Plan:
    """Take the wish for a later try for a failure."""
    return plan_failure(schedule, row, moment)


# By the place that is patched, what it is patched with, and the contract that finds the bug.
BROKEN_ENGINES: list[tuple[str, Callable[..., object], str]] = [
    (
        "sempre.domain.planning.claim.last_dropped",
        none_dropped,
        "test_without_catching_up_the_waiting_slot_runs_and_the_rest_is_one_range",
    ),
    (
        "sempre.engine.settler.Settler._ring",
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
        "sempre.engine.watchdog.Watchdog._check_slice",
        nothing,
        "test_a_pass_replaces_a_row_that_has_drifted",
    ),
    (
        "sempre.engine.healing.HealingLog.flush",
        nothing,
        "test_an_expired_lease_is_noted_under_its_worker",
    ),
    (
        "sempre.engine.healing.HealingLog.add_waiting",
        nothing,
        "test_a_lost_queue_is_noted_once_with_what_was_rung_again",
    ),
    (
        "sempre.engine.rings._is_forgotten",
        always,
        "test_work_that_was_enqueued_just_now_is_not_noted",
    ),
    (
        "sempre.engine.reconciler.Reconciler._note_healed",
        nothing,
        "test_a_next_row_that_was_missing_is_noted_under_its_schedule",
    ),
    (
        "sempre.engine.rescuer.Rescuer.rescue",
        none_rescued,
        "test_the_third_lost_lease_is_quarantined",
    ),
    (
        "sempre.engine.worker.Worker._end_unwanted",
        nothing,
        "test_a_replaced_run_is_told_at_the_next_beat",
    ),
    (
        "sempre.engine.claims_in_hand.ClaimsInHand.correct",
        as_it_came,
        "test_a_worker_that_lost_its_lease_ends_what_it_runs_and_begins_anew",
    ),
    (
        "sempre.engine.kind_turns.KindTurns.is_turn_of_oldest",
        never_fair,
        "test_a_slot_of_low_priority_begins_though_urgent_ones_wait",
    ),
    (
        "sempre.engine.progress_reports.ProgressReporter.report",
        nothing,
        "test_how_far_a_run_has_come_is_told_with_the_beat",
    ),
    (
        "sempre.engine.run_logs.RunLogWriter.write_running",
        nothing,
        "test_the_log_of_a_run_is_stored_with_the_beat",
    ),
    (
        "sempre.engine.run_logs.RunLogWriter.write_ended",
        nothing,
        "test_a_run_that_has_ended_has_its_whole_log",
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
        "sempre.domain.policies.Retry.covers",
        always,
        "test_a_failure_of_a_type_that_is_not_named_is_final",
    ),
    (
        "sempre.engine.settler.plan_retry_later",
        as_a_failure,
        "test_later_tries_use_up_no_retry",
    ),
    (
        "sempre.ports.messages.Pass.is_due",
        only_when_its_time_has_come,
        "test_a_due_date_that_no_interval_explains_is_healed_by_the_next_beat",
    ),
]
