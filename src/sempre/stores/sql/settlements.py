"""Settlements: successes are written by one statement, every other end according to its plan.

Each batch is one transaction, and safe to repeat. A success without a result has no row in the
table of attempts: the row of the execution has every value, and is read as the last attempt.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sempre.domain.states import State
from sempre.grids.instants import microseconds_of
from sempre.ports.messages import Attempt, Order, Settled, Settlement, Success
from sempre.stores.guard import fits
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.guarded_batch import GuardedBatch
from sempre.stores.sql.records import write_attempt

__all__ = ["settle"]

# The id of an execution, and the fence of its start.
Claim = tuple[str, int]


def settle(
    transaction: Transaction, settlements: Sequence[Settlement], session: str
) -> list[Settled]:
    """Record how attempts ended."""
    successes = [
        each
        for each in settlements
        if isinstance(each, Success) and each.execution.session == session
    ]
    done = _succeed(transaction, successes, session) if successes else set()
    if len(done) == len(settlements):
        return [Settled.DONE] * len(settlements)
    rest = [each for each in settlements if _claim_of(each) not in done]
    others = iter(_settle(transaction, rest, session) if rest else ())
    return [Settled.DONE if _claim_of(each) in done else next(others) for each in settlements]


def _succeed(transaction: Transaction, successes: Sequence[Success], session: str) -> set[Claim]:
    """Record successes of claims that hold; return the claims that have succeeded, now or before.

    A success changes no row but its own execution. A claim that had succeeded before keeps
    its first result.
    """
    by_end: dict[datetime, list[Claim]] = defaultdict(list)
    for each in successes:
        by_end[each.finished_at].append(_claim_of(each))
    ended: set[Claim] = set()
    just_now: set[Claim] = set()
    for finished_at, group in by_end.items():
        claims = sorted(group)
        at = microseconds_of(finished_at)
        if transaction.run("end_successes", claims=claims, at=at, session=session) == len(claims):
            just_now.update(claims)
        else:
            among = transaction.rows("succeeded_among", claims=claims)
            ended.update((identity, fence) for identity, fence, _ in among)
            just_now.update((identity, fence) for identity, fence, then in among if then == at)
    ended |= just_now
    with_result = [each for each in successes if each.result is not None]
    rows = [
        _attempt(each, State.SUCCEEDED, transaction.now)
        for each in with_result
        if _claim_of(each) in just_now
    ]
    if rows:
        transaction.many("insert_attempt", map(write_attempt, rows))
    _forget_cancellations(transaction, [claim[0] for claim in ended])
    return ended


def _claim_of(settlement: Settlement) -> Claim:
    return settlement.execution.id, settlement.execution.fence


def _settle(
    transaction: Transaction, settlements: Sequence[Settlement], session: str
) -> list[Settled]:
    ids = sorted({each.execution.id for each in settlements})
    # The plan of a settlement may leave its own execution unchanged.
    batch = GuardedBatch(transaction, [Order(each.plan) for each in settlements], also=ids)
    settled = {tuple(row) for row in transaction.rows("settled_attempts", ids=ids)}
    answers, attempts, ended = [], [], []
    for each in settlements:
        claimed = each.execution
        guard = batch.executions.get(claimed.id)
        is_done = guard and (guard.state, guard.fence) == (State.SUCCEEDED, claimed.fence)
        if is_done or (claimed.id, claimed.fence) in settled:
            answers.append(Settled.DONE)
            continue
        holds = guard and (guard.state, guard.fence) == (State.RUNNING, claimed.fence)
        if not holds or claimed.session != session:
            late = write_attempt(_attempt(each, State.RUNNING, transaction.now, late=True))
            attempts.append(late if guard else late | {"ending": "orphan"})
            answers.append(Settled.LATE)
            continue
        order = Order(each.plan)
        if not fits(order, batch):
            answers.append(Settled.REPLAN)
            continue
        batch.put(order, transaction)
        state = State(batch.executions[claimed.id].state)
        attempts.append(write_attempt(_attempt(each, state, transaction.now)))
        settled.add((claimed.id, claimed.fence))
        ended.append(claimed.id)
        answers.append(Settled.DONE)
    batch.write(transaction)
    if overtaken := [each["execution_id"] for each in attempts if each["ending"] == "late"]:
        transaction.run("record_successes", ids=overtaken)
    if attempts:
        transaction.many("insert_attempt", attempts)
    _forget_cancellations(transaction, ended)
    return answers


def _forget_cancellations(transaction: Transaction, ended: list[str]) -> None:
    """Delete requests to cancel ended executions; mostly no request exists, so check first."""
    if ended and transaction.rows("any_cancellation"):
        transaction.run("forget_cancellations", ids=ended)


def _attempt(settlement: Settlement, state: State, now: datetime, *, late: bool = False) -> Attempt:
    claimed = settlement.execution
    began = claimed.started_at or now
    ended = state, settlement.result, settlement.error, late
    return Attempt(claimed.id, claimed.fence, claimed.session, began, now, *ended)
