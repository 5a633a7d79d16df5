"""Kept bugs of verbs that operators use: each must be found by the judge."""

from collections.abc import Callable
from typing import Any

from sempre.app.executions import bulk_verbs
from sempre.domain import planning
from sempre.domain.execution import Execution
from sempre.domain.planning import Plan
from sempre.domain.planning.plan import Change
from sempre.domain.values import copy_with
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


def _spoil(patch: Patch, wrong: Callable[[Execution], Execution]) -> None:
    """Let every retry write another execution than the planned one."""
    original = planning.plan_retry

    def plan_retry(*args: Any, **options: Any) -> Plan:  # noqa: ANN401 - handed on
        plan = original(*args, **options)
        changes = [Change(each.before, wrong(each.after)) for each in plan.changes]
        return copy_with(plan, changes=tuple(changes))

    patch.setattr(bulk_verbs, "plan_retry", plan_retry)


@bug
def a_retried_execution_is_not_marked(patch: Patch) -> None:
    _spoil(patch, lambda row: copy_with(row, retried_at=None))


@bug
def a_retry_makes_another_piece_of_work(patch: Patch) -> None:
    _spoil(patch, lambda row: copy_with(row, snapshot=copy_with(row.snapshot, name="another")))
