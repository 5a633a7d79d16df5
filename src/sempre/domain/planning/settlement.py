"""Settlement: plans for an execution whose attempt has ended, by itself or by a lost lease.

A store carries out such a plan only while the execution runs under the same claim. A result that
comes after the lease was lost changes nothing: the store records the result as late.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypedDict, Unpack

from sempre.domain.execution import Execution
from sempre.domain.job_ends import SHORTEST_WAIT
from sempre.domain.planning.plan import Change, Plan, PlanningTime
from sempre.domain.planning.verbs import plan_pause
from sempre.domain.policies import Retry
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State
from sempre.domain.values import copy_with
from sempre.errors.wording import written_instant

__all__ = [
    "crash_wait",
    "plan_cancelled",
    "plan_crash",
    "plan_failure",
    "plan_given_up",
    "plan_interruption",
    "plan_release",
    "plan_rescue",
    "plan_retry_later",
    "plan_skipped",
    "plan_success",
]

CRASHES_TO_QUARANTINE = 3
CRASH_WAITS = tuple(timedelta(seconds=seconds) for seconds in (1, 10, 60))


def crash_wait(crashes: int) -> timedelta:
    """Return how long a rerun waits after this number of crashes."""
    return CRASH_WAITS[min(crashes, len(CRASH_WAITS)) - 1]


def plan_success(row: Execution, moment: PlanningTime) -> Plan:
    """Record that an execution succeeded. The plan is empty if the execution no longer runs."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.SUCCEEDED, "", moment)


def plan_failure(
    schedule: Schedule | None,
    row: Execution,
    moment: PlanningTime,
    *,
    error: str = "",
    types: Iterable[str] = (),
) -> Plan:
    """Record that an attempt failed, and try again later if the policy says so.

    If the schedule was disabled or paused meanwhile, only manual runs are tried again.

    Args:
        schedule: of the execution; None for one-off work.
        row: the execution as it runs.
        moment: the time at which the plan is made.
        error: the exception as one line.
        types: the qualified names of the exception's type and its base types.
    """
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    failures, retry = row.failures + 1, row.snapshot.retry
    final = _why_stopped(schedule, row, moment) or _why_not_retried(retry, failures, types)
    if final:
        return _ended(row, State.FAILED, _reason_with(final, error), moment, failures=failures)
    wait = retry.wait(failures, row.id)
    again = _again(row, _reason_with(Reason.ERROR, error), moment, wait=wait, failures=failures)
    return Plan(schedule, schedule, (again,))


def plan_given_up(row: Execution, moment: PlanningTime, *, reason: str = "") -> Plan:
    """Record that a job gave up: the execution has failed, whatever its policy says."""
    if row.state is not State.RUNNING:
        return Plan()
    text = _reason_with(Reason.GAVE_UP, reason)
    return _ended(row, State.FAILED, text, moment, failures=row.failures + 1)


def plan_retry_later(
    schedule: Schedule | None,
    row: Execution,
    moment: PlanningTime,
    *,
    after: timedelta | datetime,
    reason: str = "",
) -> Plan:
    """Make an execution wait because its job asked for it: no failure, and no retry used up.

    The execution waits for a second at least, even if the instant has passed. If the schedule was
    disabled or paused meanwhile, the execution has failed, unless the run is manual.
    """
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    text = _reason_with(Reason.RETRY_LATER, reason)
    if stopped := _why_stopped(schedule, row, moment):
        return _ended(row, State.FAILED, _reason_with(stopped, text), moment)
    wait = after if isinstance(after, timedelta) else after - moment.now
    again = _again(row, text, moment, wait=max(wait, SHORTEST_WAIT))
    return Plan(schedule, schedule, (again,))


def plan_rescue(
    schedule: Schedule | None, row: Execution, rows: Iterable[Execution], moment: PlanningTime
) -> Plan:
    """Decide on an execution whose lease has expired, so that its outcome is unknown.

    "rerun" starts the execution again after a wait, and fails it as quarantined at its third crash;
    "skip" fails it; "hold" fails it and pauses its schedule. The plan is empty if the lease is
    valid. The attempt counts as ended when its lease expired, not when a worker finds it.
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
    """Decide on an execution whose process has died, as reported by the worker that holds it.

    Like `plan_rescue`, without waiting for the lease to expire.
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
    """Decide on an execution that a stopping worker has interrupted.

    Like `plan_crash`, but the stop of a worker is not counted as a crash of the job, and a rerun is
    due at once.
    """
    return _unknown(schedule, row, rows, moment, error=error, crashes=row.crashes)


def plan_cancelled(row: Execution, moment: PlanningTime, *, reason: str = "") -> Plan:
    """Record that an execution was cancelled on request. It is not tried again."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.CANCELLED, reason or Reason.REQUESTED, moment)


def plan_skipped(row: Execution, moment: PlanningTime, *, reason: str = "") -> Plan:
    """Record that an execution found nothing to do. It is not tried again."""
    if row.state is not State.RUNNING:
        return Plan()
    return _ended(row, State.SKIPPED, reason or Reason.NOT_NEEDED, moment)


def plan_release(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> Plan:
    """Return an execution that was claimed and never begun; the attempt is not counted.

    If the schedule was disabled or paused meanwhile, the execution is cancelled instead.
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
    """Apply the policy `on_unknown` to a run whose outcome is unknown."""
    if row.state is not State.RUNNING:
        return Plan(schedule, schedule)
    policy, is_crash = row.snapshot.on_unknown, crashes > row.crashes
    stopped = _why_stopped(schedule, row, moment)
    quarantined = policy == "rerun" and is_crash and crashes >= CRASHES_TO_QUARANTINE
    if policy == "rerun" and not (stopped or quarantined):
        wait = crash_wait(crashes) if is_crash else timedelta(0)
        reason = _reason_with(Reason.UNKNOWN_OUTCOME, error)
        return Plan(schedule, schedule, (_again(row, reason, moment, wait=wait, crashes=crashes),))
    reason = stopped or (Reason.QUARANTINED if quarantined else Reason.UNKNOWN_OUTCOME)
    failed = _ended(row, State.FAILED, _reason_with(reason, error), moment, crashes=crashes)
    paused = schedule is not None and schedule.pause is not None
    if policy == "hold" and schedule and not (schedule.deleted or stopped or paused):
        return _and_hold(failed, schedule, row, rows, moment)
    return failed


def _ended_at(instant: datetime, row: Execution, plan: Plan) -> Plan:
    """Return the plan with the end of the row's attempt set to an instant."""
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
    # The failed row decides its slot: after a jump of the clock it may lie ahead of the cursor.
    ended = [change.after for change in failed.changes]
    others = [other for other in rows if other.id != row.id] + ended
    note = f"execution {row.id} of {written_instant(row.run_at)} has an unknown outcome"
    held = plan_pause(schedule, others, moment, note=note, actor="sempre")
    changes = (*failed.changes, *held.changes)
    return Plan(schedule, held.schedule, changes, held.creates, held.ranges)


def _why_stopped(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> str:
    """Return why a schedule lets no further attempt start, or an empty text."""
    free = row.kind is Kind.MANUAL or schedule is None
    if free or schedule is None or schedule.allows_start(moment.now):
        return ""
    return Reason.PAUSED if schedule.definition.enabled else Reason.DISABLED


def _why_not_retried(retry: Retry, failures: int, types: Iterable[str]) -> str:
    """Return why a policy lets no further attempt start, or an empty text."""
    if failures > retry.limit:
        return Reason.RETRIES_EXHAUSTED if retry.limit else Reason.ERROR
    return "" if retry.covers(types) else Reason.NOT_RETRIED


def _reason_with(reason: str, error: str) -> str:
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
    """Return the change that makes an execution wait for another attempt, at the same slot."""
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
