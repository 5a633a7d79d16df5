"""The writing operations of the memory store; the caller holds the lock of the tables."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import is_planned
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import (
    Attempt,
    Birth,
    Cancelled,
    Enqueued,
    Order,
    Report,
    Session,
    Settled,
    Settlement,
    Switch,
    Wanted,
    Work,
)
from sempre.stores.guard import fits, is_done
from sempre.stores.limit_room import Admissions
from sempre.stores.memory.action_log import record
from sempre.stores.memory.keys import coalesced, hold_key, holders_of, is_key_taken, keep_key
from sempre.stores.memory.limits import RoomInMemory, note_start, park
from sempre.stores.memory.switches import active_switches, decision_stands, stopping_now
from sempre.stores.memory.tables import Tables

__all__ = [
    "apply",
    "cancel",
    "claim_all",
    "claim_one_off",
    "create",
    "due_rows",
    "enqueue",
    "is_alive",
    "is_held",
    "next_due_at",
    "report",
    "running_under",
    "settle",
]


def create(tables: Tables, birth: Birth, now: datetime) -> bool:
    """Create one schedule; True also if a schedule of its id exists."""
    schedule = birth.schedule
    if schedule.id in tables.schedules:
        return True
    if tables.named(schedule.name):
        return False
    tables.schedules[schedule.id] = schedule
    for row in birth.rows:
        tables.put(row)
    record(tables, [birth.action], now)
    return True


def apply(tables: Tables, order: Order, now: datetime) -> bool:
    """Carry out one plan, wholly or not at all."""
    if is_done(order, tables):
        return True
    plan = order.plan
    if plan.has_start or not decision_stands(tables, plan, now) or not fits(order, tables):
        return False
    if any(each.is_rescue and is_held(tables, each.before, now) for each in plan.changes):
        return False
    if plan.is_overtaken(now) or any(is_key_taken(tables, each, now) for each in plan.changes):
        return False
    _carry_out(tables, order, now)
    record(tables, [order.action], now)
    return True


def claim_all(
    tables: Tables, orders: Sequence[Order], session: str, now: datetime
) -> list[Execution | None]:
    """Carry out plans that start one execution each, and return the started executions."""
    admissions = Admissions(RoomInMemory(tables), now)
    answers = [_claim(tables, order, session, now, admissions) for order in orders]
    park(tables, admissions, now)
    return answers


def _claim(
    tables: Tables, order: Order, session: str, now: datetime, admissions: Admissions
) -> Execution | None:
    change = next(each for each in order.plan.changes if each.after.state is State.RUNNING)
    current = tables.executions.get(change.before.id)
    if current and _is_own_claim(current, change.after, session):
        return tables.leased(current)
    stopped = change.before.due_at > now or stopping_now(tables, change.before, now)
    if stopped or not is_alive(tables.sessions.get(session), now) or not fits(order, tables):
        return None
    if change.before.snapshot.limits:
        if not admissions.admit(change.before, order.plan):
            return None
        note_start(tables, change.before, now)
    _carry_out(tables, order, now)
    return _hand_over(tables, change.after, session)


def claim_one_off(
    tables: Tables,
    wanted: Wanted,
    session: str,
    now: datetime,
    ids: Sequence[str] | None = None,
) -> list[Execution]:
    """Start one-off work that is due."""
    if not is_alive(tables.sessions.get(session), now):
        return []
    taken = []
    for row in due_rows(tables, wanted, now, planned=False, ids=ids):
        started = row.to(
            State.RUNNING,
            reason="",
            attempt=row.attempt + 1,
            first_started_at=row.first_started_at or now,
            started_at=now,
        )
        taken.append(_hand_over(tables, started, session))
    return taken


def settle(tables: Tables, settlement: Settlement, session: str, now: datetime) -> Settled:
    """Record how one attempt ended."""
    claimed = settlement.execution
    current = tables.executions.get(claimed.id)
    if _has_attempt(tables, claimed):
        return Settled.DONE
    holds = current and (current.state, current.fence) == (State.RUNNING, claimed.fence)
    if not holds or claimed.session != session:
        if not _has_attempt(tables, claimed, late=True):
            _note_attempt(tables, settlement, State.RUNNING, now, late=True)
            if current is None:
                tables.orphans.append(tables.attempts[claimed.id][-1])
        return Settled.LATE
    if not fits(Order(settlement.plan), tables):
        return Settled.REPLAN
    tables.write(coalesced(tables, Order(settlement.plan), now), now)
    tables.cancelled.pop(claimed.id, None)
    _note_attempt(tables, settlement, tables.executions[claimed.id].state, now)
    return Settled.DONE


def enqueue(tables: Tables, work: Work, now: datetime) -> Enqueued:
    """Enqueue one piece of work, or return which execution or switch refuses it."""
    row = work.execution
    if row.id in tables.executions:
        return Enqueued(row.id)
    switch = stopping_now(tables, row, now)
    if switch and switch.mode == "reject":
        tables.rejections[switch.name] += 1
        return Enqueued(row.id, created=False, rejected_by=switch.name)
    failures = 0
    if work.unique:
        holders = holders_of(tables, work.unique.key)
        if refusal := holders.refusal(work, work.unique, now):
            return refusal
        failures = holders.failures
        hold_key(tables, work.unique, row.id, failures)
    held_by = switch.name if switch else ""
    tables.put(copy_with(row, created_at=now, held_by=held_by))
    return Enqueued(row.id, failures=failures)


def report(tables: Tables, reports: Sequence[Report], session: str, now: datetime) -> None:
    """Store progress reports of executions that the session still holds."""
    held: set[tuple[str, int]] = set()
    if is_alive(tables.sessions.get(session), now):
        held = {(row.id, row.fence) for row in running_under(tables, session)}
    for each in reports:
        if (each.execution_id, each.fence) in held:
            tables.reports[each.execution_id] = copy_with(each, reported_at=now)


def cancel(tables: Tables, identity: str, actor: str, now: datetime) -> Cancelled:
    """End a live execution, or ask the worker of a running one to cancel it."""
    row = tables.executions.get(identity)
    if row and row.state is State.RUNNING:
        tables.cancelled[identity] = row.fence
        return Cancelled.ASKED
    if row is None or not row.is_live:
        return Cancelled.OVER
    if _is_next_row(tables, row):
        return Cancelled.NEXT_ROW
    tables.put(row.to(State.CANCELLED, reason="requested", actor=actor, finished_at=now))
    return Cancelled.ENDED


def due_rows(
    tables: Tables,
    wanted: Wanted,
    now: datetime,
    *,
    planned: bool,
    ids: Sequence[str] | None = None,
    within: timedelta = timedelta(0),
) -> list[Execution]:
    """Return due and wanted live rows, most urgent first, without rows that wait for a switch.

    Rows that become due within `within` are included. A slot that a switch rejects does not wait:
    the caller skips the slot. Rows wanted as overdue are ordered by age, not by priority.
    """
    # A switch whose time is over frees the rows that it held.
    active_switches(tables, now)
    unended = tables.unended
    known = unended.values() if ids is None else (unended[each] for each in ids if each in unended)
    rows = (row for row in known if _is_wanted(row, wanted))
    by_age = wanted.overdue is not None
    due = [
        row
        for row in rows
        if row.due_at <= now + within - (wanted.overdue or timedelta(0))
        and is_planned(row) is planned
        and not _waits_for_switch(row, stopping_now(tables, row, now))
    ]
    due.sort(key=lambda row: (0 if by_age else row.snapshot.priority, row.due_at, row.id))
    return due[: wanted.limit]


def _waits_for_switch(row: Execution, switch: Switch | None) -> bool:
    """Return whether a row is left out; one-off work with a limit is held by a plan instead."""
    if switch is None or (row.schedule_id is None and is_planned(row)):
        return False
    return switch.holds or row.schedule_id is None


def next_due_at(
    tables: Tables, wanted: Wanted, *, after: datetime | None = None
) -> datetime | None:
    """Return when the next wanted row is due, after an instant."""
    rows = (row.due_at for row in tables.unended.values() if _is_wanted(row, wanted))
    return min((due_at for due_at in rows if after is None or due_at > after), default=None)


def is_alive(session: Session | None, now: datetime) -> bool:
    """Return whether a session exists and has not expired."""
    return session is not None and session.leased_until is not None and session.leased_until > now


def is_held(tables: Tables, row: Execution, now: datetime) -> bool:
    """Return whether the session that runs an execution still has its lease."""
    return is_alive(tables.sessions.get(row.session), now)


def running_under(tables: Tables, session: str) -> list[Execution]:
    """Return the running executions of a session, by fence."""
    rows = (row for row in tables.unended.values() if row.session == session)
    return sorted((row for row in rows if row.state is State.RUNNING), key=lambda row: row.fence)


def _carry_out(tables: Tables, order: Order, now: datetime) -> None:
    """Write an order that fits, and record the attempts that the order ends as lost."""
    fitting = coalesced(tables, order, now)
    tables.write(fitting, now)
    for change in fitting.plan.changes:
        keep_key(tables, change)
        if change.loss:
            lost = Settlement(change.before, order.plan, error=change.loss)
            _note_attempt(tables, lost, change.after.state, now, lost=True)


def _hand_over(tables: Tables, row: Execution, session: str) -> Execution:
    tables.fence += 1
    tables.put(copy_with(row, session=session, fence=tables.fence))
    return tables.leased(tables.executions[row.id])


def _is_own_claim(current: Execution, planned: Execution, session: str) -> bool:
    own = current.state is State.RUNNING and current.session == session
    return own and current.attempt == planned.attempt


def _is_next_row(tables: Tables, row: Execution) -> bool:
    schedule = tables.schedules.get(row.schedule_id or "")
    return schedule is not None and row.waits_for_slot and row.run_at > schedule.cursor


def _is_wanted(row: Execution, wanted: Wanted) -> bool:
    known = row.snapshot.queue in wanted.queues and row.snapshot.job in wanted.jobs
    return known and row.is_live and not row.held_by


def _has_attempt(tables: Tables, claimed: Execution, *, late: bool = False) -> bool:
    attempts = (each for each in tables.attempts.get(claimed.id, ()) if not each.lost)
    return any((each.fence, each.late) == (claimed.fence, late) for each in attempts)


def _note_attempt(
    tables: Tables, settlement: Settlement, state: State, now: datetime, **how: bool
) -> None:
    claimed = settlement.execution
    tables.attempts[claimed.id].append(
        Attempt(
            execution_id=claimed.id,
            fence=claimed.fence,
            session=claimed.session,
            started_at=claimed.started_at or now,
            finished_at=now,
            state=state,
            result=settlement.result,
            error=settlement.error,
            **how,
        )
    )
