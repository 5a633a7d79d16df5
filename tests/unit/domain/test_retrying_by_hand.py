"""Retries and discards by an operator: which executions they take, and what becomes of them."""

from dataclasses import replace

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime, plan_discard, plan_rename, plan_retry
from sempre.domain.states import RETRIABLE, Kind, Reason, State
from sempre.errors import Refused
from tests.unit.domain.builders import Story, at

LATER = PlanningTime(at("14:00"))


def ended(state: State, **fields: object) -> Execution:
    """Return the first slot of a schedule, at 12:01, as it ended in a state."""
    row = Story().next_row
    assert row is not None
    return replace(row, state=state, finished_at=at("12:02"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", sorted(set(State) - RETRIABLE))
def test_an_execution_that_waits_runs_or_succeeded_is_not_retried(state: State) -> None:
    row = ended(state)

    with pytest.raises(Refused, match=f"is {state}; only these can be retried"):
        plan_retry(None, row, (), LATER)


@pytest.mark.parametrize("state", sorted(RETRIABLE))
def test_an_execution_that_ended_without_success_is_due_now(state: State) -> None:
    row = ended(state, failures=3, crashes=2, attempt=4)

    plan = plan_retry(None, row, (), LATER, note="why")

    [change] = plan.changes
    after = change.after
    assert (after.state, after.due_at, after.retried_at) == (State.PENDING, LATER.now, LATER.now)
    assert (after.failures, after.crashes, after.attempt) == (0, 0, 4)
    assert (after.reason, after.run_at) == ("retried: why", row.run_at)
    assert not after.is_untried


def test_a_disabled_schedule_retries_manual_runs_only() -> None:
    row, schedule = ended(State.FAILED), Story().schedule
    stopped = replace(schedule, definition=schedule.definition.edited(enabled=False))

    with pytest.raises(Refused, match="first run: sempre enable"):
        plan_retry(stopped, row, (), LATER)
    assert plan_retry(stopped, replace(row, kind=Kind.MANUAL), (), LATER).changes


def test_a_discard_keeps_the_end_of_the_execution() -> None:
    row = ended(State.FAILED)

    [change] = plan_discard(row, actor="ana").changes

    after = change.after
    assert (after.state, after.reason, after.actor) == (State.CANCELLED, Reason.DISCARDED, "ana")
    assert after.finished_at == row.finished_at


def test_a_renamed_schedule_replaces_its_next_row_at_its_slot() -> None:
    plan = Story().perform(plan_rename, to="other")

    assert plan.schedule is not None
    assert plan.schedule.name == "other"
    [draft], [change] = plan.creates, plan.changes
    assert (draft.snapshot.name, draft.run_at) == ("other", change.before.run_at)
    assert change.after.state is State.SUPERSEDED
