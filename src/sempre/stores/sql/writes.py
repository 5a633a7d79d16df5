"""The writing operations of plans: create, apply, claim, cancel, report.

Each operation is one transaction for a whole batch, and is safe to repeat.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Change
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import (
    Birth,
    Cancelled,
    Order,
    Reading,
    Report,
    effective,
)
from sempre.stores.exclusive_claims import Planner, carry_out
from sempre.stores.guard import fits, is_done
from sempre.stores.sql import encoding
from sempre.stores.sql.action_log import record
from sempre.stores.sql.audit_stamps import stamp_of_birth
from sempre.stores.sql.decoding import LeftOut, executions_of
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.guarded_batch import Guard, GuardedBatch
from sempre.stores.sql.limits import LimitedClaims
from sempre.stores.sql.new_executions import load_births
from sempre.stores.sql.reading import candidates
from sempre.stores.sql.records import write_report
from sempre.stores.sql.slot_starts import start_slots
from sempre.stores.sql.switches import Decisions, switches_off

__all__ = [
    "apply",
    "cancel",
    "claim",
    "claim_exclusively",
    "create",
    "lease_of",
    "next_fences",
    "report",
]


def create(transaction: Transaction, births: Sequence[Birth]) -> list[bool]:
    """Create schedules with their first rows, each as a whole."""
    ids = [birth.schedule.id for birth in births]
    names = [birth.schedule.name for birth in births]
    known = {row[0] for row in transaction.rows("known_schedules", ids=ids)}
    taken = {row[0] for row in transaction.rows("taken_names", names=names)}
    created, answers = [], []
    for birth in births:
        schedule = birth.schedule
        free = schedule.id not in known and schedule.name not in taken
        answers.append(free or schedule.id in known)
        if free:
            known.add(schedule.id)
            taken.update(() if schedule.deleted else (schedule.name,))
            created.append(birth)
    if created:
        stamps = [stamp_of_birth(birth.schedule, birth.rows) for birth in created]
        load_births(transaction, created, stamps)
        record(transaction, [birth.action for birth in created])
    return answers


def apply(transaction: Transaction, orders: Sequence[Order]) -> list[bool]:
    """Carry out plans, each as a whole or not at all."""
    decisions = Decisions(transaction, [order.plan for order in orders])
    batch = GuardedBatch(transaction, orders)
    alive = _living(transaction, orders)
    answers, actions = [], []
    for order in orders:
        done = is_done(order, batch)
        stands = not order.plan.has_start and decisions.stand(order.plan)
        stands = stands and not any(each.before.session in alive for each in _rescues(order))
        stands = stands and not _is_overtaken(order, transaction)
        stands = stands and not batch.is_key_taken(order, transaction)
        if not done and stands and fits(order, batch):
            batch.put(order, transaction)
            batch.note_losses(order, transaction)
            actions.append(order.action)
            done = True
        answers.append(done)
    batch.write(transaction)
    record(transaction, actions)
    return answers


def _is_overtaken(order: Order, transaction: Transaction) -> bool:
    """Return whether a plan moves a cursor back over past slots; few plans need the now."""
    plan = order.plan
    return plan.retracts_after is not None and plan.is_overtaken(transaction.now)


def _living(transaction: Transaction, orders: Sequence[Order]) -> frozenset[str]:
    """Return the sessions that still have a lease, of those that rescues take executions from."""
    sessions = {each.before.session for order in orders for each in _rescues(order)}
    if not sessions:
        return frozenset()
    leases = transaction.rows("guarded_leases", ids=sorted(sessions))
    now = microseconds_of(transaction.now)
    return frozenset(session for session, until in leases if until > now)


def _rescues(order: Order) -> list[Change]:
    return [change for change in order.plan.changes if change.is_rescue]


def claim(
    transaction: Transaction, orders: Sequence[Order], session: str
) -> list[Execution | None]:
    """Start executions for a session, as planned."""
    held = start_slots(transaction, orders, session)
    ids = [_start(order).before.id for order in orders]
    if rest := [order for order, each in zip(orders, ids, strict=True) if each not in held]:
        held |= _claim(transaction, rest, session)
    return [held.get(each) for each in ids]


def claim_exclusively(
    transaction: Transaction, ids: Sequence[str], plan: Planner, session: str
) -> list[Execution | bool]:
    """Lock the schedules of executions, then read, plan and carry out the plans."""
    # All transactions lock in this order. The now is read after every wait for a lock.
    transaction.send("lock_switches")
    transaction.rows("lock_schedules_of", ids=sorted(ids))
    left_out: LeftOut = []
    found = candidates(transaction, ids, switches_off(transaction, lock=False), left_out)
    return carry_out(
        plan(Reading(transaction.now, found, tuple(left_out))),
        claim=lambda starts: claim(transaction, starts, session),
        apply=lambda others: apply(transaction, others),
    )


def _claim(transaction: Transaction, orders: Sequence[Order], session: str) -> dict[str, Execution]:
    stops = switches_off(transaction)
    batch = GuardedBatch(transaction, orders)
    lease = lease_of(transaction, session)
    starts = [_start(order) for order in orders]
    limits = LimitedClaims(transaction, [start.before for start in starts])
    tags = stops.tags(transaction, [start.before for start in starts])
    own: list[str] = []
    started: list[Execution] = []
    for order, start in zip(orders, starts, strict=True):
        after = start.after
        guard = batch.executions.get(after.id)
        if guard and _is_own_claim(guard, after, session):
            own.append(after.id)
            continue
        due = _is_due(guard, after, transaction.now) and not stops.stopping(after, tags)
        if lease and due and fits(order, batch) and limits.admit(start.before, order.plan):
            # The batch knows the holder from here on: a repeated order is found done.
            started.append(copy_with(after, session=session, leased_until=lease))
            batch.put(order, transaction, started=started[-1])
            batch.note_losses(order, transaction)
    fences = next_fences(transaction, len(started))
    held = {row.id: copy_with(row, fence=next(fences)) for row in started}
    batch.give_fences(held.values())
    batch.write(transaction)
    limits.write(transaction, held.values())
    found = transaction.rows("rows_by_id", ids=own) if own else []
    return {row.id: row for row in executions_of(found, [])} | held


def report(transaction: Transaction, reports: Sequence[Report], session: str) -> None:
    """Store the progress reports of runs that a session still holds."""
    if lease_of(transaction, session) is None:
        return
    held = set(map(tuple, transaction.rows("claims_under", session=session)))
    at = microseconds_of(transaction.now)
    rows = [write_report(each, at) for each in reports if (each.execution_id, each.fence) in held]
    if rows:
        transaction.many("note_report", sorted(rows, key=lambda row: str(row["execution_id"])))


def cancel(
    transaction: Transaction, ids: Sequence[str], actor: str, actions: Sequence[Action]
) -> list[Cancelled]:
    """Cancel waiting executions, and ask the sessions of running ones to end them."""
    asked = set(ids)
    transaction.rows("lock_schedules_of", ids=sorted(asked))
    kept = {row[0] for row in transaction.rows("next_rows_among", ids=sorted(asked))}
    by = {"actor": encoding.storable_text(actor), "now": microseconds_of(transaction.now)}
    rest = sorted(asked - kept)
    once = {row[0] for row in transaction.rows("cancel_live", ids=rest, **by)}
    running = {row[0] for row in transaction.rows("ask_to_cancel", ids=rest, **by)}
    answers = []
    for identity in ids:
        answers.append(_cancelled(identity, kept, running, once))
        once.discard(identity)
    record(transaction, effective(actions, answers))
    return answers


def _cancelled(identity: str, kept: set[str], running: set[str], ended: set[str]) -> Cancelled:
    if identity in kept:
        return Cancelled.NEXT_ROW
    if identity in running:
        return Cancelled.ASKED
    return Cancelled.ENDED if identity in ended else Cancelled.OVER


def _start(order: Order) -> Change:
    changes = order.plan.changes
    if len(changes) == 1:
        return changes[0]
    return next(each for each in changes if each.after.state is State.RUNNING)


def _is_own_claim(guard: Guard, planned: Execution, session: str) -> bool:
    own = guard.state == State.RUNNING and guard.session == session
    return own and guard.attempt == planned.attempt


def _is_due(guard: Guard | None, after: Execution, now: datetime) -> bool:
    """Return whether a row is due, both in the plan and in the database."""
    return guard is not None and after.due_at <= now and guard.due_at <= microseconds_of(now)


def lease_of(transaction: Transaction, session: str) -> datetime | None:
    """Return when the lease of a session ends; None if the session has lost its lease."""
    found = transaction.rows("lease_of", id=session)
    until = instant_of(found[0][0]) if found else None
    return until if until and until > transaction.now else None


def next_fences(transaction: Transaction, wanted: int) -> Iterator[int]:
    """Yield new fences in ascending order; the database is queried at the first fence.

    A database returns every fence, or the last fence of an unbroken sequence.
    """
    given = sorted(row[0] for row in transaction.rows("next_fences", count=wanted))
    yield from given if len(given) == wanted else range(given[0] - wanted + 1, given[0] + 1)
