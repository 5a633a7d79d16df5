"""Contracts of exclusive claims: no edit commits between a reading and the plans made from it."""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

import pytest

from sempre.domain.planning import plan_claim, plan_edit
from sempre.domain.planning.plan import PlanningTime
from sempre.domain.states import State
from sempre.ports.messages import Candidate, Order, Reading
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    MINUTE,
    TZDATA,
    check_invariants,
    claim_order,
    due_schedule,
    expire,
    moment_of,
    order_of,
    read,
    session_of,
    view_of,
    waiting_schedule,
)

# Seconds for which an edit may try to commit in between.
A_WHILE = 0.3


class _PlannerError(Exception):
    """A grid of the user's own has raised."""


def _orders(reading: Reading[list[Candidate]]) -> list[Order]:
    moment, orders = PlanningTime(reading.now, TZDATA), []
    for each in reading.value:
        schedule, rows = (each.view.schedule, each.view.rows) if each.view else (None, ())
        plan = plan_claim(schedule, each.execution, rows, moment).plan
        orders += [] if plan.is_empty else [order_of(plan)]
    return orders


def _edit(store: Store, priority: int) -> bool:
    """Edit the schedule once from a new reading; return whether the edit was applied."""
    view = view_of(store)
    to = view.schedule.definition.edited(priority=priority)
    plan = plan_edit(view.schedule, view.rows, moment_of(store), to=to)
    return store.apply([order_of(plan)])[0]


def test_an_exclusive_claim_carries_out_every_kind_of_plan(store: Store) -> None:
    """Results come in the order of the plans, started or missed; nothing else is planned."""
    session = session_of(store)
    missed = due_schedule(store, "late", deadline=MINUTE).rows[0]
    starts = due_schedule(store).rows[0]
    early = waiting_schedule(store, "early").rows[0]

    answers = store.claim_exclusively([missed.id, starts.id, early.id], _orders, session=session)

    assert answers == [True, read(store, starts.id)]
    assert read(store, starts.id).session == session
    assert read(store, missed.id).state is State.MISSED
    assert read(store, early.id).is_untried
    for name in ("late", "billing", "early"):
        check_invariants(store, name)
    assert store.claim_exclusively([starts.id], _orders, session=session) == []


def test_no_edit_commits_between_the_reading_and_the_plans_of_an_exclusive_claim(
    store: Store,
) -> None:
    """The edit waits, is refused because of the claim's changes, and succeeds at the next try."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    edits: list[Future[bool]] = []

    with ThreadPoolExecutor(1) as editor:

        def plan(reading: Reading[list[Candidate]]) -> list[Order]:
            edits.append(editor.submit(_edit, store, 7))
            wait(edits, timeout=A_WHILE)
            return _orders(reading)

        [started] = store.claim_exclusively([row.id], plan, session=session)
        edited = [edit.result() for edit in edits]

    assert started == read(store, row.id)
    assert True in edited or _edit(store, 7)
    assert view_of(store).schedule.definition.priority == 7  # noqa: PLR2004 - as edited
    check_invariants(store)


def test_an_exclusive_claim_is_refused_as_any_other(store: Store) -> None:
    """Made from another reading, before its time, or for a session without a lease."""
    row = due_schedule(store).rows[0]
    session, lost = session_of(store), session_of(store)
    expire(store, lost)
    old = claim_order(store, row.id)
    assert _edit(store, 7)

    def planned_before(_reading: Reading[list[Candidate]]) -> Sequence[Order]:
        return [old]

    assert store.claim_exclusively([row.id], planned_before, session=session) == [False]
    assert store.claim_exclusively([row.id], _orders, session=lost) == [False]

    assert read(store, row.id).is_untried
    check_invariants(store)


def test_a_plan_that_fails_under_an_exclusive_claim_leaves_the_schedule_free(
    store: Store,
) -> None:
    """Nothing is written, and the next edit and the next claim go through."""
    row = due_schedule(store).rows[0]
    claim = partial(store.claim_exclusively, [row.id], session=session_of(store))

    def fail(_reading: Reading[list[Candidate]]) -> list[Order]:
        raise _PlannerError

    with pytest.raises(_PlannerError):
        claim(fail)

    assert read(store, row.id).is_untried
    assert _edit(store, 7)
    assert claim(_orders) == [read(store, row.id)]
