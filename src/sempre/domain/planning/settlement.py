"""Settle, rescue, release: what becomes of an execution whose attempt has ended.

Each is applied only while the execution still runs under the same claim. A result that comes
after the lease was taken away changes nothing: the store records it as late.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypedDict, Unpack

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Change, Plan, PlanningTime
from sempre.domain.planning.verbs import plan_pause
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.domain.values import copy_with
from sempre.errors.wording import written_instant

__all__ = [
    "crash_wait",
    "plan_cancelled",
    "plan_crash",
    "plan_failure",
    "plan_interruption",
    "plan_release",
    "plan_rescue",
    "plan_skipped",
    "plan_success",
]

CRASHES_TO_QUARANTINE = 3
CRASH_WAITS = tuple(timedelta(seconds=seconds) for seconds in (1, 10, 60))


def crash_wait(crashes: int) -> timedelta:
    """Return how long a rerun waits after so many crashes."""
    return CRASH_WAITS[min(crashes, len(CRASH_WAITS)) - 1]


def plan_success(row: Execution, moment: PlanningTime) -> Plan:
    """Record that an execution did its work. Nothing if it does not run any more."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.SUCCEEDED, "", moment)


def plan_failure(
    schedule: Schedule | None, row: Execution, moment: PlanningTime, *, error: str = ""
) -> Plan:
    """Record that an attempt failed, and try again later if the policy has tries left.

    A schedule that was disabled or paused meanwhile has no further try, but for manual runs.
    """
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    failures = row.failures + 1
    stopped = _why_stopped(schedule, row, moment)
    if stopped or failures > row.snapshot.retry.limit:
        reason = stopped or (Reason.RETRIES_EXHAUSTED if row.snapshot.retry.limit else Reason.ERROR)
        return _ended(row, State.FAILED, _told(reason, error), moment, failures=failures)
    wait = row.snapshot.retry.wait(failures)
    again = _again(row, _told(Reason.ERROR, error), moment, wait=wait, failures=failures)
    return Plan(schedule, schedule, (again,))


def plan_rescue(
    schedule: Schedule | None, row: Execution, rows: Iterable[Execution], moment: PlanningTime
) -> Plan:
    """Decide on an execution whose lease has expired: nobody knows how far it got.

    "rerun" starts it again after a wait, and fails it as quarantined at its third crash; "skip"
    fails it; "hold" fails it and pauses its schedule. Nothing if the lease is still good. The
    attempt ended when its lease did, however long afterwards a worker finds it.
    """
    if row.state is not State.RUNNING or row.leased_until is None or row.leased_until > moment.now:
        return Plan(schedule, schedule)
    return _ended_at(row.lost_at or moment.now, row, plan_crash(schedule, row, rows, moment))


def plan_crash(
    schedule: Schedule | None,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    error: str = "",
) -> Plan:
    """Decide on an execution whose process is gone, seen by the worker that still holds it.

    As `plan_rescue`, without waiting for the lease.
    """
    return _unknown(schedule, row, rows, moment, error=error, crashes=row.crashes + 1)


def plan_interruption(
    schedule: Schedule | None,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    error: str = "",
) -> Plan:
    """Decide on an execution that a stopping worker has begun and cut off.

    As `plan_crash`, but a stop is no crash of the job: it is not counted, and a rerun is due at
    once.
    """
    return _unknown(schedule, row, rows, moment, error=error, crashes=row.crashes)


def plan_cancelled(row: Execution, moment: PlanningTime, *, reason: str = "") -> Plan:
    """Record that an execution ended because somebody asked it to. It is not tried again."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.CANCELLED, reason or Reason.REQUESTED, moment)


def plan_skipped(row: Execution, moment: PlanningTime, *, reason: str = "") -> Plan:
    """Record that an execution found nothing to do. It is not tried again."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.SKIPPED, reason or Reason.NOT_NEEDED, moment)


def plan_release(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> Plan:
    """Give back an execution that was claimed and never begun; no attempt is used up.

    Of a schedule that was disabled or paused meanwhile nothing may start again: it is cancelled.
    """
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    if stopped := _why_stopped(schedule, row, moment):
        return _ended(row, State.CANCELLED, stopped, moment)
    again = _again(row, Reason.RELEASED, moment, attempt=row.attempt - 1)
    return Plan(schedule, schedule, (again,))


def _unknown(
    schedule: Schedule | None,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    error: str,
    crashes: int,
) -> Plan:
    """Let the policy decide on a run of which nobody knows how far it got."""
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    policy, is_crash = row.snapshot.on_unknown, crashes > row.crashes
    stopped = _why_stopped(schedule, row, moment)
    quarantined = policy == "rerun" and is_crash and crashes >= CRASHES_TO_QUARANTINE
    if policy == "rerun" and not (stopped or quarantined):
        wait = crash_wait(crashes) if is_crash else timedelta(0)
        told = _told(Reason.UNKNOWN_OUTCOME, error)
        return Plan(schedule, schedule, (_again(row, told, moment, wait=wait, crashes=crashes),))
    reason = stopped or (Reason.QUARANTINED if quarantined else Reason.UNKNOWN_OUTCOME)
    failed = _ended(row, State.FAILED, _told(reason, error), moment, crashes=crashes)
    paused = schedule is not None and schedule.pause is not None
    if policy == "hold" and schedule and not (schedule.deleted or stopped or paused):
        return _and_hold(failed, schedule, row, rows, moment)
    return failed


def _ended_at(instant: datetime, row: Execution, plan: Plan) -> Plan:
    """Return a plan by which the row's attempt ended at an instant."""
    ended = [
        Change(each.before, copy_with(each.after, finished_at=instant))
        if each.before.id == row.id
        else each
        for each in plan.changes
    ]
    return copy_with(plan, changes=tuple(ended))


def _and_hold(
    failed: Plan,
    schedule: Schedule,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
) -> Plan:
    others = [other for other in rows if other.id != row.id]
    note = f"execution {row.id} of {written_instant(row.run_at)} has an unknown outcome"
    held = plan_pause(schedule, others, moment, note=note, actor="sempre")
    changes = (*failed.changes, *held.changes)
    return Plan(schedule, held.schedule, changes, held.creates, held.ranges)


def _why_stopped(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> str:
    """Return why a schedule lets nothing more start, or an empty text."""
    free = row.kind is Kind.MANUAL or schedule is None
    if free or schedule is None or schedule.allows_start(moment.now):
        return ""
    return Reason.PAUSED if schedule.definition.enabled else Reason.DISABLED


def _told(reason: str, error: str) -> str:
    return f"{reason}: {error}" if error else str(reason)


class _Counts(TypedDict, total=False):
    """The counts of an execution that the end of an attempt may change."""

    attempt: int
    failures: int
    crashes: int


def _ended(
    row: Execution, state: State, reason: str, moment: PlanningTime, **counts: Unpack[_Counts]
) -> Plan:
    after = row.to(state, reason=str(reason), finished_at=moment.now, leased_until=None, **counts)
    return Plan(changes=(Change(row, after),))


def _again(
    row: Execution,
    reason: str,
    moment: PlanningTime,
    *,
    wait: timedelta = timedelta(0),
    **counts: Unpack[_Counts],
) -> Change:
    """Let an execution wait for another attempt; its slot stays, only the start moves."""
    after = row.to(
        State.SCHEDULED,
        reason=str(reason),
        due_at=moment.now + wait,
        finished_at=moment.now,
        leased_until=None,
        session="",
        **counts,
    )
    return Change(row, after)
