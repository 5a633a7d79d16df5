"""The writing operations of plans: create, apply, claim, cancel, report.

Each is one transaction for its whole batch, and safe to repeat.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

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
)
from sempre.stores.exclusive_claims import Planner, carry_out
from sempre.stores.guard import fits, is_done
from sempre.stores.sql import encoding
from sempre.stores.sql.audit_stamps import stamp_of_birth
from sempre.stores.sql.decoding import LeftOut, executions_of
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.guarded_batch import Guard, GuardedBatch
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
    return answers


def apply(transaction: Transaction, orders: Sequence[Order]) -> list[bool]:
    """Carry out plans, each wholly or not at all."""
    decisions = Decisions(transaction, [order.plan for order in orders])
    batch = GuardedBatch(transaction, orders)
    alive = _living(transaction, orders)
    answers = []
    for order in orders:
        done = is_done(order, batch)
        stands = not order.plan.has_start and decisions.stand(order.plan)
        stands = stands and not any(each.before.session in alive for each in _rescues(order))
        stands = stands and not _is_overtaken(order, transaction)
        if not done and stands and fits(order, batch):
            batch.put(order, transaction)
            batch.note_losses(order, transaction)
            done = True
        answers.append(done)
    batch.write(transaction)
    return answers


def _is_overtaken(order: Order, transaction: Transaction) -> bool:
    """Tell whether a cursor is to come back from what is the past by now; few plans ask for now."""
    plan = order.plan
    return plan.retracts_after is not None and plan.is_overtaken(transaction.now)


def _living(transaction: Transaction, orders: Sequence[Order]) -> frozenset[str]:
    """Return which of the sessions that something is to be taken from have their lease."""
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
    """Lock the schedules of executions, then read, plan and carry out."""
    # In the order in which all others lock; the now is asked for when nothing is waited for.
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
        if lease and due and fits(order, batch):
            # Its holder is known from here on: the same order again is found done.
            started.append(copy_with(after, session=session, leased_until=lease))
            batch.put(order, transaction, started=started[-1])
            batch.note_losses(order, transaction)
    fences = next_fences(transaction, len(started))
    held = {row.id: copy_with(row, fence=next(fences)) for row in started}
    batch.give_fences(held.values())
    batch.write(transaction)
    found = transaction.rows("rows_by_id", ids=own) if own else []
    return {row.id: row for row in executions_of(found, [])} | held


def report(transaction: Transaction, reports: Sequence[Report], session: str) -> None:
    """Keep how far runs have come that a session still holds."""
    if lease_of(transaction, session) is None:
        return
    held = set(map(tuple, transaction.rows("claims_under", session=session)))
    at = microseconds_of(transaction.now)
    rows = [write_report(each, at) for each in reports if (each.execution_id, each.fence) in held]
    if rows:
        transaction.many("note_report", sorted(rows, key=lambda row: str(row["execution_id"])))


def cancel(transaction: Transaction, ids: Sequence[str], actor: str) -> list[Cancelled]:
    """End live executions, and ask for the end of running ones."""
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
    """Tell whether a row is due, by the plan and by what is stored."""
    return guard is not None and after.due_at <= now and guard.due_at <= microseconds_of(now)


def lease_of(transaction: Transaction, session: str) -> datetime | None:
    """Return until when a session has its lease; None if it has lost it."""
    found = transaction.rows("lease_of", id=session)
    until = instant_of(found[0][0]) if found else None
    return until if until and until > transaction.now else None


def next_fences(transaction: Transaction, wanted: int) -> Iterator[int]:
    """Yield as many new fences as are wanted, in order; nothing is asked before the first.

    A database answers with each of them, or with the last of an unbroken row of them.
    """
    given = sorted(row[0] for row in transaction.rows("next_fences", count=wanted))
    yield from given if len(given) == wanted else range(given[0] - wanted + 1, given[0] + 1)
