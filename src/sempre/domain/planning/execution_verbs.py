"""Verbs on executions that have ended: retry and discard, each as one plan."""

from collections.abc import Iterable

from sempre.domain.execution import Execution
from sempre.domain.names import check_note
from sempre.domain.planning.plan import Change, Plan, PlanningTime
from sempre.domain.schedule import Schedule
from sempre.domain.states import RETRIABLE, Kind, Reason, State
from sempre.errors import Refused
from sempre.errors.wording import written_instant

__all__ = ["plan_discard", "plan_retry"]


def plan_retry(
    schedule: Schedule | None,
    row: Execution,
    rows: Iterable[Execution],
    moment: PlanningTime,
    *,
    actor: str = "",
    note: str = "",
) -> Plan:
    """Make an ended execution wait again, due now; its retries are counted anew.

    The execution keeps its id, slot and key. A deadline, an overlap policy or a limit of starts
    does not stop a retry: the slot was decided before.

    Args:
        schedule: the schedule of the execution; None for one-off work.
        row: the execution to retry.
        rows: the other rows of the schedule that planning reads.
        moment: the store's now.
        actor: who retries it.
        note: why.

    Raises:
        Refused: the execution has not ended, or succeeded, or was superseded; or it is a skipped
            slot of the future; or its schedule is disabled or paused; or a backfill of the slot is
            under way.
    """
    _refuse_state(row)
    _refuse_future(schedule, row, moment)
    _refuse_stopped(schedule, row, moment)
    _refuse_second_backfill(row, rows)
    again = row.to(
        State.PENDING,
        due_at=moment.now,
        reason=_reason_with(Reason.RETRIED, note),
        actor=actor,
        failures=0,
        crashes=0,
        session="",
        held_by="",
        retried_at=moment.now,
    )
    return Plan(schedule, schedule, (Change(row, again),))


def plan_discard(row: Execution, *, actor: str = "", note: str = "") -> Plan:
    """Take a failed execution off the list of failures: it is cancelled, and stays on record.

    Raises:
        Refused: the execution has not failed.
    """
    if row.state is not State.FAILED:
        message = f"execution {row.id} is {row.state}; only a failed execution can be discarded."
        raise Refused(message)
    reason = _reason_with(Reason.DISCARDED, note)
    return Plan(changes=(Change(row, row.to(State.CANCELLED, reason=reason, actor=actor)),))


def _reason_with(reason: Reason, note: str) -> str:
    return f"{reason}: {check_note('note', note)}" if note else str(reason)


def _refuse_state(row: Execution) -> None:
    if row.state not in RETRIABLE:
        allowed = ", ".join(sorted(RETRIABLE))
        message = f"execution {row.id} is {row.state}; only these can be retried: {allowed}."
        raise Refused(message)


def _refuse_future(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> None:
    if schedule is None or row.kind is not Kind.SCHEDULED:
        return
    if row.run_at > max(moment.now, schedule.cursor):
        slot, name = written_instant(row.run_at), row.snapshot.name
        message = f"the slot {slot} of {name} is still to come"
        raise Refused(f'{message}; restore it: sempre unskip {name} --at "{slot}".')


def _refuse_stopped(schedule: Schedule | None, row: Execution, moment: PlanningTime) -> None:
    free = schedule is None or schedule.deleted or row.kind is Kind.MANUAL
    if free or schedule is None or schedule.allows_start(moment.now):
        return
    is_paused = schedule.definition.enabled
    state, verb = ("paused", "resume") if is_paused else ("disabled", "enable")
    message = f"{schedule.name} is {state}, so nothing of it starts"
    raise Refused(f"{message}; first run: sempre {verb} {schedule.name}.")


def _refuse_second_backfill(row: Execution, rows: Iterable[Execution]) -> None:
    if row.kind is not Kind.BACKFILL:
        return
    for other in rows:
        if other.kind is Kind.BACKFILL and other.is_active and other.run_at == row.run_at:
            slot = written_instant(row.run_at)
            raise Refused(f"execution {other.id} backfills the slot {slot} already.")
