"""Kept bugs of lateness: a wait taken for downtime, and slots given up that are hardly late."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Iterable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, lateness, settlement
from sempre.domain.schedule import Schedule
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def the_time_that_a_slot_waits_for_a_run_counts_as_lateness(patch: Patch) -> None:
    def startable_at(
        row: Execution, _others: Iterable[Execution], _tolerance: timedelta
    ) -> datetime:
        return row.due_at

    patch.setattr(lateness, "startable_at", startable_at)


@bug
def a_lost_attempt_ended_when_it_was_found(patch: Patch) -> None:
    def ended_at(_instant: datetime, _row: Execution, plan: Plan) -> Plan:
        return plan

    patch.setattr(settlement, "_ended_at", ended_at)


@bug
def what_is_within_tolerance_is_given_up_after_a_downtime(patch: Patch) -> None:
    original = lateness._last_due_before

    def last(schedule: Schedule, row: Execution, instant: datetime) -> datetime | None:
        tolerance = schedule.definition.tolerance
        return original(schedule, row, instant + tolerance)

    patch.setattr(lateness, "_last_due_before", last)
