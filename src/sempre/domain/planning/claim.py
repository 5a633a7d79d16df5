"""Claim planning: whether an execution may start now, and what follows for its schedule.

The store carries out the plan only if the revision and start count of the schedule and the state of
the row are still those that the plan was made from. Otherwise the caller reads and plans again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import is_planned
from sempre.domain.planning.fast_path import plan_plain_start
from sempre.domain.planning.lateness import last_dropped
from sempre.domain.planning.plan import TICK, Change, Plan, PlanBuilder, PlanningTime
from sempre.domain.planning.reconciliation import reconcile
from sempre.domain.planning.slots import GRID_ERRORS, advance
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.domain.switch import Switch, held_by
from sempre.domain.values import copy_with

__all__ = ["Claim", "Verdict", "plan_claim", "plan_claim_general"]


class Verdict(StrEnum):
    """The decision on an execution that a worker wants to start."""

    START = "start"
    WAIT = "wait"
    """Another execution must end first, or a switch must be on again; that announces this one."""
    SKIP = "skip"
    MISS = "miss"
    EARLY = "early"
    """The execution is not due yet: its ticket is returned with the remaining delay."""
    STALE = "stale"
    """The execution no longer waits: its ticket is acknowledged and counted."""


@dataclass(frozen=True)
class Claim:
    """A verdict and the plan that carries out the verdict; the plan is empty if nothing changes."""

    verdict: Verdict
    plan: Plan
    reason: str = ""


def plan_claim(
    schedule: Schedule | None,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    stopped_by: Switch | None = None,
) -> Claim:
    """Decide whether one execution starts, waits, is skipped or is missed.

    Args:
        schedule: the schedule of the row; None for one-off work, or if the schedule is gone.
        row: the execution that is to start.
        rows: the other rows of the schedule that matter: live and running rows, rows after the
            cursor, and rows that ended after this row was due.
        moment: the store's now.
        stopped_by: the switch that is off for the row, if any.
    """
    others = [other for other in rows if other.id != row.id]
    if schedule is not None and not others and stopped_by is None:
        plain = plan_plain_start(schedule, row, moment)
        if plain is not None:
            return Claim(Verdict.START, plain)
    return plan_claim_general(schedule, row, others, moment, stopped_by=stopped_by)


def plan_claim_general(
    schedule: Schedule | None,
    row: Execution,
    others: list[Execution],
    moment: PlanningTime,
    *,
    stopped_by: Switch | None = None,
) -> Claim:
    """Decide on one execution without the fast path; `others` are the rows besides `row`."""
    verdict, reason = _judge(schedule, row, others, moment.now)
    if verdict not in (Verdict.EARLY, Verdict.STALE) and _is_free(schedule, row, moment.now):
        verdict, reason = _judge_switch(row, stopped_by) or (verdict, reason)
    if verdict is Verdict.WAIT and stopped_by and row.schedule_id is None and is_planned(row):
        return Claim(verdict, _hold(row, stopped_by), reason)
    if verdict in (Verdict.WAIT, Verdict.EARLY, Verdict.STALE):
        return Claim(verdict, Plan(schedule, schedule), reason)
    if schedule is None:
        changes = (_decided(row, verdict, reason, moment.now),)
        return Claim(verdict, Plan(changes=changes, decides=row.id, stopped_by=stopped_by), reason)
    builder = PlanBuilder(schedule, [*others, row], moment)
    if verdict is Verdict.START:
        _make_room(builder, row, others)
        _skip_overlapped(builder, row, others)
    _decide(builder, row, verdict, reason)
    # The start is counted after the cursor has moved: slots passed under the count before.
    if verdict is Verdict.START:
        _count_start(builder, row)
    if builder.schedule.cursor != schedule.cursor or builder.schedule.has_reached_limit:
        reconcile(builder)
    plan = copy_with(builder.plan(), decides=row.id, stopped_by=stopped_by)
    return Claim(verdict, plan, reason)


def _judge_switch(row: Execution, switch: Switch | None) -> tuple[Verdict, str] | None:
    """Return the verdict of a switch on a due row; None if no switch applies.

    A switch that rejects skips slots, retries and backfills. One-off work that was enqueued before
    waits under either mode of switch: no later slot would do its work.
    """
    if row.held_by:
        return Verdict.WAIT, held_by(row.held_by)
    if switch is None or row.kind is Kind.MANUAL:
        return None
    if switch.holds or row.schedule_id is None:
        return Verdict.WAIT, held_by(switch.name)
    return Verdict.SKIP, f"{Reason.SWITCHED_OFF} by {switch.name}"


def _hold(row: Execution, switch: Switch) -> Plan:
    """Return the plan by which one-off work with a limit waits until a switch is on again.

    Without it the next query would find the row once more: rows of this kind need a plan to start.
    """
    if row.held_by:
        return Plan()
    held = copy_with(row, held_by=switch.name, reason=held_by(switch.name))
    return Plan(changes=(Change(row, held),), decides=row.id, stopped_by=switch)


def _judge(
    schedule: Schedule | None, row: Execution, others: list[Execution], now: datetime
) -> tuple[Verdict, str]:
    if not row.is_live:
        return Verdict.STALE, ""
    if not row.is_due(now):
        return Verdict.EARLY, ""
    if schedule and not _is_free(schedule, row, now):
        return _judge_stopped(schedule)
    first = row.kind is Kind.SCHEDULED and row.is_untried
    if schedule and first and schedule.has_reached_limit:
        return Verdict.SKIP, Reason.LIMIT
    if _is_past_deadline(row, now):
        return Verdict.MISS, Reason.DEADLINE
    return _judge_overlap(row, others, now)


def _is_free(schedule: Schedule | None, row: Execution, now: datetime) -> bool:
    """Whether the schedule of a row lets the row start."""
    return schedule is None or row.kind is Kind.MANUAL or schedule.allows_start(now)


def _judge_stopped(schedule: Schedule) -> tuple[Verdict, str]:
    """Return the verdict on a due row of a stopped schedule.

    Such a row was created after the stop was planned, or the clock was set back.
    """
    if not schedule.definition.enabled:
        return Verdict.SKIP, Reason.DISABLED
    resumes = schedule.pause is not None and schedule.pause.until is not None
    return Verdict.EARLY if resumes else Verdict.SKIP, Reason.PAUSED


def _is_past_deadline(row: Execution, now: datetime) -> bool:
    deadline = row.snapshot.deadline
    first = row.kind is Kind.SCHEDULED and row.is_untried
    return first and deadline is not None and now > row.due_at + deadline


def _judge_overlap(row: Execution, others: list[Execution], now: datetime) -> tuple[Verdict, str]:
    """Judge the overlap at the instant when the row became due, not when a worker claims it."""
    if row.kind is Kind.BACKFILL and (first := _goes_first(row, others, now)):
        return Verdict.WAIT, first
    overlap = row.snapshot.overlap
    if overlap == "allow":
        return Verdict.START, ""
    if overlap == "skip" and _came_on_time(row) and _blockers_at(row.due_at, others):
        return Verdict.SKIP, Reason.OVERLAP
    running = [other for other in others if other.state is State.RUNNING]
    if overlap == "replace" and _came_on_time(row):
        replaced = _blockers_at(row.due_at, others)
        running = [other for other in running if other not in replaced]
    if not running:
        return Verdict.START, ""
    return Verdict.WAIT, f"waits for {running[0].id}"


def _goes_first(row: Execution, others: list[Execution], now: datetime) -> str:
    """Return what a backfill waits for: a due slot, an earlier backfill or a running backfill."""
    for other in others:
        due_slot = other.kind is Kind.SCHEDULED and other.is_live and other.is_due(now)
        earlier = other.kind is Kind.BACKFILL and other.is_live and other.run_at < row.run_at
        running = other.kind is Kind.BACKFILL and other.state is State.RUNNING
        if due_slot or earlier or running:
            return f"waits for {other.id}"
    return ""


def _came_on_time(row: Execution) -> bool:
    """Whether a row can overlap: a slot at its first try, created before it was due."""
    return row.kind is Kind.SCHEDULED and row.is_untried and row.created_at <= row.due_at


def _blockers_at(instant: datetime, others: list[Execution]) -> list[Execution]:
    return [other for other in others if other.kind is not Kind.BACKFILL and other.ran_at(instant)]


def _decided(row: Execution, verdict: Verdict, reason: str, now: datetime) -> Change:
    """Return the change that a verdict makes to the row itself."""
    if verdict is Verdict.START:
        first, attempt = row.first_started_at or now, row.attempt + 1
        begun = row.to(
            State.RUNNING, reason="", attempt=attempt, first_started_at=first, started_at=now
        )
        return Change(row, begun)
    ended = State.SKIPPED if verdict is Verdict.SKIP else State.MISSED
    return Change(row, row.to(ended, reason=str(reason), finished_at=now))


def _make_room(builder: PlanBuilder, row: Execution, others: list[Execution]) -> None:
    """Cancel the runs that the row replaces."""
    if row.snapshot.overlap == "replace" and _came_on_time(row):
        for other in _blockers_at(row.due_at, others):
            if other.state is State.RUNNING:
                builder.move(other, State.CANCELLED, f"{Reason.REPLACED} by {row.id}")


def _skip_overlapped(builder: PlanBuilder, row: Execution, others: list[Execution]) -> None:
    """Skip a due slot that came during the last attempt of a row that starts again.

    A row stores the times of one attempt only: after its next start the overlap would be unknown.
    """
    for other in others:
        judged = _judge(builder.schedule, other, [row], builder.now)
        if judged == (Verdict.SKIP, Reason.OVERLAP) and not other.held_by:
            _decide(builder, other, *judged)


def _decide(builder: PlanBuilder, row: Execution, verdict: Verdict, reason: str) -> None:
    """Add the decision on a row to the plan; the slot of a next row has then passed."""
    is_next = row in builder.next_rows() and not builder.schedule.deleted
    builder.note(_decided(row, verdict, reason, builder.now))
    if is_next:
        _pass_slots(builder, builder.rows[row.id], _why_missed(row))


def _count_start(builder: PlanBuilder, row: Execution) -> None:
    """Change the schedule, so that the store refuses another claim made from the same reading.

    Each of two such claims sees no running row. The first start of a slot raises the start count. A
    manual run, backfill or retry that must not overlap raises the revision instead.
    """
    if row.kind is Kind.SCHEDULED and row.is_untried:
        builder.update(starts=builder.schedule.starts + 1)
    elif row.snapshot.overlap != "allow":
        builder.update(revision=builder.schedule.revision + 1)


def _why_missed(row: Execution) -> str:
    """Return why the slots after a row passed; a switch that held the row is the reason."""
    is_held = row.reason.startswith(Reason.HELD)
    return f"{Reason.MISSED}: {row.reason}" if is_held else Reason.MISSED


def _pass_slots(builder: PlanBuilder, row: Execution, reason: str) -> None:
    """Move the cursor to a decided next row, and past the slots that are too old to run."""
    advance(builder, row.run_at - TICK)
    builder.update(cursor=row.run_at)
    try:
        others = [other for other in builder.rows.values() if other.id != row.id]
        last = last_dropped(builder.schedule, row, others, builder.now)
    except GRID_ERRORS as error:
        last = None
        builder.update(broken=str(error))
    if last is not None:
        advance(builder, last, reason)
