"""Exclusive claims: plans that start executions and plans that do not, carried out together."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sempre.domain.execution import Execution
from sempre.ports.messages import Candidate, Order, Reading

__all__ = ["Planner", "carry_out"]

Planner: TypeAlias = Callable[[Reading[list[Candidate]]], Sequence[Order]]


def carry_out(
    orders: Sequence[Order],
    *,
    claim: Callable[[list[Order]], list[Execution | None]],
    apply: Callable[[list[Order]], list[bool]],
) -> list[Execution | bool]:
    """Claim the orders that start an execution, apply the others; return answers in order."""
    starts = [order for order in orders if order.plan.has_start]
    others = [order for order in orders if not order.plan.has_start]
    begun = iter(claim(starts) if starts else [])
    done = iter(apply(others) if others else [])
    return [next(begun) or False if order.plan.has_start else next(done) for order in orders]
