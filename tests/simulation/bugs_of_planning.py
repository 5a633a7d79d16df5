"""Kept bugs of planning: the wrong slot, the wrong cursor, the wrong answer to a policy."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sempre.app.schedules import stored_schedule
from sempre.domain.action import Act
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    PlanningTime,
    claim,
    lateness,
    plan_enable,
    plan_reconcile,
    settlement,
    slot_verbs,
    slots,
    verbs,
)
from sempre.domain.planning.plan import PlanBuilder
from sempre.domain.planning.reconciliation import reconcile
from sempre.domain.planning.slots import advance
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.domain.values import copy_with
from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.core import Engine
from sempre.ports.messages import Order
from sempre.stores import guard
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def only_live_rows_count_as_having_a_slot(patch: Patch) -> None:
    def taken(self: PlanBuilder) -> set[datetime]:
        rows = [row for row in self.rows.values() if row.kind is Kind.SCHEDULED and row.is_live]
        return {row.run_at for row in rows if row.run_at > self.schedule.cursor}

    patch.setattr(PlanBuilder, "taken", taken)
    patch.setattr(guard, "slots_stay_unique", lambda _plan, _facts: True)


@bug
def the_successor_is_written_after_the_claim(patch: Patch) -> None:
    order, start = Engine.order, Claims._start

    def without(self: Engine, plan: Plan, act: Act | None = None) -> Order:
        return order(self, copy_with(plan, creates=()) if plan.has_start else plan, act)

    def and_then(self: Claims, orders: Sequence[Order], session: str) -> ClaimResult:
        result = start(self, orders, session)
        for name in sorted({run.execution.snapshot.name for run in result.started}):
            self._engine.carry_out(lambda name=name: _reconciled(self._engine, name))  # type: ignore[misc]
        return result

    patch.setattr(Engine, "order", without)
    patch.setattr(Claims, "_start", and_then)


def _reconciled(engine: Engine, name: str) -> Plan | None:
    reading = engine.store.views([name])
    for view in engine.read(reading):
        return plan_reconcile(view.schedule, view.rows, PlanningTime(reading.now, engine.tzdata))
    return None


@bug
def the_cursor_goes_back_when_the_clock_does(patch: Patch) -> None:
    def move(builder: PlanBuilder, to: datetime, reason: Reason = Reason.MISSED) -> None:
        if to <= builder.schedule.cursor:
            builder.update(cursor=to)
        else:
            advance(builder, to, reason)

    patch.setattr(verbs, "advance", move)


@bug
def a_manual_run_moves_the_cursor(patch: Patch) -> None:
    original = claim._count_start

    def count(builder: PlanBuilder, row: Execution) -> None:
        if row.kind is Kind.MANUAL:
            advance(builder, row.run_at)
        original(builder, row)

    patch.setattr(claim, "_count_start", count)


@bug
def catch_up_begins_at_now(patch: Patch) -> None:
    def last(
        schedule: Schedule, row: Execution, _others: list[Execution], now: datetime
    ) -> datetime | None:
        return lateness._last_due_before(schedule, row, now)

    patch.setattr(claim, "last_dropped", last)


@bug
def what_is_caught_up_is_skipped_if_it_overlaps(patch: Patch) -> None:
    def came_on_time(row: Execution) -> bool:
        return row.kind is Kind.SCHEDULED and row.is_untried

    patch.setattr(claim, "_came_on_time", came_on_time)


@bug
def an_unskip_is_blocked_by_the_row_it_takes_back(patch: Patch) -> None:
    original = guard.slots_stay_unique

    def stay_unique(plan: Plan, facts: guard.Facts) -> bool:
        kept = [each for each in plan.changes if each.before.state is not State.SKIPPED]
        return original(replace(plan, changes=tuple(kept)), facts)

    patch.setattr(guard, "slots_stay_unique", stay_unique)


@bug
def a_retry_counts_as_the_next_row(patch: Patch) -> None:
    def next_rows(self: PlanBuilder) -> list[Execution]:
        rows = (row for row in self.rows.values() if row.is_live and row.occupies_slot)
        return sorted(rows, key=lambda row: row.run_at)

    patch.setattr(PlanBuilder, "next_rows", next_rows)


@bug
def a_disable_forgets_the_row_that_is_due(patch: Patch) -> None:
    original = verbs._stop_rows

    def stop(builder: PlanBuilder, reason: Reason) -> None:
        due = {key: row for key, row in builder.rows.items() if row.is_due(builder.now)}
        builder.rows = {key: row for key, row in builder.rows.items() if key not in due}
        original(builder, reason)
        builder.rows |= due

    patch.setattr(verbs, "_stop_rows", stop)


@bug
def a_retry_is_born_after_a_disable(patch: Patch) -> None:
    patch.setattr(settlement, "_why_stopped", lambda _schedule, _row, _moment: "")


@bug
def enabling_what_is_enabled_moves_the_cursor(patch: Patch) -> None:
    def enable(
        schedule: Schedule, rows: Sequence[Execution], moment: PlanningTime, *, actor: str = ""
    ) -> Plan:
        if not schedule.definition.enabled or schedule.deleted:
            return plan_enable(schedule, rows, moment, actor=actor)
        builder = PlanBuilder(schedule, rows, moment, actor=actor)
        advance(builder, builder.now)
        reconcile(builder)
        return builder.plan()

    patch.setattr(stored_schedule, "plan_enable", enable)


@bug
def overlap_is_judged_by_the_slot_and_not_by_when_it_is_due(patch: Patch) -> None:
    original = claim._judge_overlap

    def judge(row: Execution, others: list[Execution], now: datetime) -> tuple[claim.Verdict, str]:
        return original(copy_with(row, due_at=row.run_at), others, now)

    patch.setattr(claim, "_judge_overlap", judge)


@bug
def the_deadline_is_counted_from_the_slot_and_not_from_when_it_is_due(patch: Patch) -> None:
    original = claim._is_past_deadline

    def is_past(row: Execution, now: datetime) -> bool:
        return original(copy_with(row, due_at=row.run_at), now)

    patch.setattr(claim, "_is_past_deadline", is_past)


@bug
def a_range_lies_over_slots_that_have_a_row(patch: Patch) -> None:
    def between_rows(
        after: datetime, last: datetime, _taken: set[datetime]
    ) -> Iterator[tuple[datetime, datetime]]:
        if after < last:
            yield after, last

    patch.setattr(slots, "_between_rows", between_rows)


@bug
def a_slot_that_still_runs_is_backfilled(patch: Patch) -> None:
    def needs_none(row: Execution) -> bool:
        of_slot = row.kind in (Kind.SCHEDULED, Kind.BACKFILL)
        return of_slot and (row.is_live or row.state is State.SUCCEEDED)

    patch.setattr(slot_verbs, "_needs_no_backfill", needs_none)


@bug
def a_deadline_is_forgotten_for_those_who_wait(patch: Patch) -> None:
    patch.setattr(claim, "_is_past_deadline", lambda _row, _now: False)


@bug
def a_pause_until_an_instant_never_resumes(patch: Patch) -> None:
    original = slots.first_eligible

    def first(schedule: Schedule, taken: set[datetime]) -> datetime | None:
        return None if schedule.pause else original(schedule, taken)

    patch.setattr("sempre.domain.planning.reconciliation.first_eligible", first)


@bug
def tolerance_counts_for_nothing(patch: Patch) -> None:
    original = lateness.last_dropped

    def last(
        schedule: Schedule, row: Execution, others: list[Execution], now: datetime
    ) -> datetime | None:
        strict = copy_with(schedule.definition, tolerance=timedelta(0))
        return original(copy_with(schedule, definition=strict), row, others, now)

    patch.setattr(claim, "last_dropped", last)
