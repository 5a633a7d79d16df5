"""Builders of refused plans: plans that create rows, and what a refusal must look like."""

# ruff: noqa: S101 - a contract asserts

from datetime import datetime

from sempre.domain.execution import Draft
from sempre.domain.planning import (
    Plan,
)
from sempre.domain.states import Kind
from sempre.ports.messages import View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    history_of,
    order_of,
    view_of,
)

__all__ = ["check_refused", "creating", "draft_of"]


def draft_of(view: View, run_at: datetime, kind: Kind = Kind.SCHEDULED) -> Draft:
    """Return an execution that should exist, in a slot of a schedule."""
    snapshot, owner = view.schedule.snapshot(), view.schedule.id
    return Draft(kind=kind, run_at=run_at, due_at=run_at, snapshot=snapshot, schedule_id=owner)


def creating(view: View, *drafts: Draft) -> Plan:
    """Return a plan that creates executions and leaves the schedule alone."""
    return Plan(view.schedule, view.schedule, creates=drafts)


def check_refused(store: Store, plan: Plan) -> None:
    """Assert that a plan is refused and that nothing at all is different afterwards."""
    before = view_of(store)
    rows = history_of(store, before.schedule)
    ranges = store.ranges(before.schedule.id, limit=100).value

    assert store.apply([order_of(plan)]) == [False]

    assert view_of(store) == before
    assert history_of(store, before.schedule) == rows
    assert store.ranges(before.schedule.id, limit=100).value == ranges
