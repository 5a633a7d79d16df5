"""Verbs on many executions: each is one commit with its entry in the log of actions.

Executions are read and planned in batches. An execution that cannot be changed is an answer, not an
error: the others go on.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sempre.domain.action import Act, Action
from sempre.domain.names import check_note
from sempre.domain.planning import Plan, plan_discard, plan_retry
from sempre.engine.core import Engine, woken_by
from sempre.engine.ids import new_id
from sempre.errors import InvalidInput, Refused
from sempre.ports.messages import Cancelled, Candidate, Order

__all__ = ["Answer", "cancel_all", "discard_all", "retry_all"]

BATCH = 100
TRIES = 5
Planner = Callable[[Candidate], Plan]


class Answer(NamedTuple):
    """The effect of a verb on one execution.

    Attributes:
        id: of the execution.
        message: what happened, in words.
        done: whether the verb had an effect.
    """

    id: str
    message: str
    done: bool = False


def retry_all(engine: Engine, ids: Sequence[str], *, actor: str, why: str) -> Iterator[Answer]:
    """Retry ended executions; yield an answer for each, in order."""

    def plan(found: Candidate) -> Plan:
        view, row = found.view, found.execution
        rows = [each for each in (view.rows if view else ()) if each.id != row.id]
        schedule = view.schedule if view else None
        return plan_retry(schedule, row, rows, engine.moment(), actor=actor, note=why)

    return _all(engine, ids, plan, Act("retry", "", actor, check_note("why", why)), "retried")


def discard_all(engine: Engine, ids: Sequence[str], *, actor: str, why: str) -> Iterator[Answer]:
    """Discard failed executions; yield an answer for each, in order."""

    def plan(found: Candidate) -> Plan:
        return plan_discard(found.execution, actor=actor, note=why)

    return _all(engine, ids, plan, Act("discard", "", actor, check_note("why", why)), "discarded")


def cancel_all(engine: Engine, ids: Sequence[str], *, actor: str, why: str) -> Iterator[Answer]:
    """Cancel waiting executions, and ask running ones to end; yield an answer for each."""
    note, now = check_note("why", why), engine.present()
    for some in _batches(ids):
        actions = [
            Action(
                id=new_id(now), verb="cancel", target=f"execution:{each}", actor=actor, note=note
            )
            for each in some
        ]
        answers = engine.store.cancel(some, actor=actor, actions=actions)
        if Cancelled.ENDED in answers:
            # An ended execution may have been the next one under its limit.
            engine.limits.open_all()
        for identity, answer in zip(some, answers, strict=True):
            did = answer in (Cancelled.ENDED, Cancelled.ASKED)
            yield Answer(identity, _CANCELLED[answer], done=did)


_CANCELLED = {
    Cancelled.ENDED: "cancelled",
    Cancelled.ASKED: "asked to end; its worker learns of it with its next heartbeat",
    Cancelled.OVER: "not cancelled: it has ended, or does not exist",
    Cancelled.NEXT_ROW: "not cancelled: a schedule needs its next execution; skip the slot instead",
}


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    known = list(dict.fromkeys(ids))
    for begin in range(0, len(known), BATCH):
        yield known[begin : begin + BATCH]


def _all(
    engine: Engine, ids: Sequence[str], plan: Planner, act: Act, done: str
) -> Iterator[Answer]:
    for some in _batches(ids):
        answers = _batch(engine, some, plan, act, done)
        yield from (answers[each] for each in some)


def _batch(engine: Engine, ids: list[str], plan: Planner, act: Act, done: str) -> dict[str, Answer]:
    """Plan and carry out; what other processes have changed meanwhile is planned again."""
    answers: dict[str, Answer] = {}
    rest = ids
    for _ in range(TRIES):
        orders = _orders(engine, rest, plan, act, answers)
        if not orders:
            return answers
        applied = engine.store.apply(list(orders.values()))
        carried_out = [
            order for order, is_done in zip(orders.values(), applied, strict=True) if is_done
        ]
        now = engine.time.now()
        engine.bell.ring([row for order in carried_out for row in woken_by(order, now)], now)
        rest = [each for each, is_done in zip(orders, applied, strict=True) if not is_done]
        answers |= {each: Answer(each, done, done=True) for each in orders if each not in rest}
    refused = f"not {done}: another execution holds its unique key, or others change it"
    return answers | {each: Answer(each, refused) for each in rest}


def _orders(
    engine: Engine, ids: list[str], plan: Planner, act: Act, answers: dict[str, Answer]
) -> dict[str, Order]:
    """Return the orders by execution; executions that are refused get their answer."""
    found = {each.execution.id: each for each in engine.read(engine.store.candidates(ids))}
    orders: dict[str, Order] = {}
    for identity in ids:
        if identity not in found:
            answers[identity] = Answer(identity, "there is no such execution")
            continue
        try:
            own = act._replace(target=f"execution:{identity}")
            orders[identity] = engine.order(plan(found[identity]), own)
        except (Refused, InvalidInput) as error:
            answers[identity] = Answer(identity, str(error))
    return orders
