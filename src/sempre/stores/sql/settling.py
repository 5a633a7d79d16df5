"""How attempts ended: plain successes all at once, everything else as its plan says.

Each batch is one transaction, and safe to repeat. A success that returned nothing leaves no row of
its own among the attempts: the execution tells all of it, and is read as the last of them.
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

# An execution, and the fence by which it was started.
Claim = tuple[str, int]


def settle(
    transaction: Transaction, settlements: Sequence[Settlement], session: str
) -> list[Settled]:
    """Record how attempts ended."""
    plain = [each for each in settlements if _is_plain_success(each, session)]
    done = _succeed(transaction, plain, session) if plain else set()
    if len(done) == len(settlements):
        return [Settled.DONE] * len(settlements)
    rest = [each for each in settlements if _claim_of(each) not in done]
    others = iter(_settle(transaction, rest, session) if rest else ())
    return [Settled.DONE if _claim_of(each) in done else next(others) for each in settlements]


def _succeed(transaction: Transaction, plain: Sequence[Settlement], session: str) -> set[Claim]:
    """Record plain successes of claims that hold, all at once; return which have ended so.

    Nothing depends on them but the rows themselves. A claim that had ended so before keeps the
    result that it had then.
    """
    by_end: dict[datetime | None, list[Claim]] = defaultdict(list)
    for each in plain:
        by_end[_finished_at(each)].append(_claim_of(each))
    ended: set[Claim] = set()
    just_now: set[Claim] = set()
    for finished_at, group in by_end.items():
        claims = sorted(group)
        at = microseconds_of(finished_at or transaction.now)
        if transaction.run("end_successes", claims=claims, at=at, session=session) == len(claims):
            just_now.update(claims)
        else:
            among = transaction.rows("succeeded_among", claims=claims)
            ended.update((identity, fence) for identity, fence, _ in among)
            just_now.update((identity, fence) for identity, fence, then in among if then == at)
    ended |= just_now
    told = [each for each in plain if each.result is not None and _claim_of(each) in just_now]
    rows = [_attempt(each, State.SUCCEEDED, transaction.now) for each in told]
    if rows:
        transaction.many("insert_attempt", map(write_attempt, rows))
    _forget_cancellations(transaction, [claim[0] for claim in ended])
    return ended


def _claim_of(settlement: Settlement) -> Claim:
    return settlement.execution.id, settlement.execution.fence


def _finished_at(plain: Settlement) -> datetime | None:
    if isinstance(plain, Success):
        return plain.finished_at
    return plain.plan.changes[0].after.finished_at


def _is_plain_success(settlement: Settlement, session: str) -> bool:
    claimed = settlement.execution
    if isinstance(settlement, Success):
        return claimed.session == session and claimed.state is State.RUNNING
    plan = settlement.plan
    if claimed.session != session or plan.base is not None or len(plan.changes) != 1:
        return False
    change = plan.changes[0]
    ours = change.before.id == claimed.id and change.before.fence == claimed.fence
    return ours and change.after.state is State.SUCCEEDED and not (plan.creates or plan.ranges)


def _settle(
    transaction: Transaction, settlements: Sequence[Settlement], session: str
) -> list[Settled]:
    ids = sorted({each.execution.id for each in settlements})
    # A settlement need not change the execution that it is about.
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
    """Nobody has to be asked any more to end what has ended; mostly nobody was."""
    if ended and transaction.rows("any_cancellation"):
        transaction.run("forget_cancellations", ids=ended)


def _attempt(settlement: Settlement, state: State, now: datetime, *, late: bool = False) -> Attempt:
    claimed = settlement.execution
    began = claimed.started_at or now
    ended = state, settlement.result, settlement.error, late
    return Attempt(claimed.id, claimed.fence, claimed.session, began, now, *ended)
