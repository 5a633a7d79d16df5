"""The states of an execution: which lead where, and what is said when one does not."""

from itertools import product

import pytest

from sempre.domain.states import LIVE, TRANSITIONS, State, check_transition
from sempre.errors import IllegalTransition, SempreError
from tests.unit.domain.builders import Story, at

WAYS = {
    ("pending", "scheduled"),
    ("pending", "running"),
    ("pending", "failed"),
    ("pending", "skipped"),
    ("pending", "superseded"),
    ("pending", "missed"),
    ("pending", "cancelled"),
    ("scheduled", "running"),
    ("scheduled", "failed"),
    ("scheduled", "skipped"),
    ("scheduled", "superseded"),
    ("scheduled", "missed"),
    ("scheduled", "cancelled"),
    ("running", "succeeded"),
    ("running", "failed"),
    ("running", "scheduled"),
    ("running", "cancelled"),
    ("running", "skipped"),
    ("skipped", "superseded"),
    ("missed", "superseded"),
    ("failed", "cancelled"),
    *product(("failed", "missed", "skipped", "cancelled"), ("pending", "scheduled")),
}
PAIRS = [(one, other) for one, other in product(State, State)]
FINAL = ["succeeded", "superseded"]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_every_pair_of_states_is_a_way_or_is_refused(before: State, after: State) -> None:
    allowed = (before.value, after.value) in WAYS

    if allowed:
        check_transition(before, after)
    else:
        with pytest.raises(IllegalTransition):
            check_transition(before, after)


def test_the_table_has_every_state() -> None:
    assert set(TRANSITIONS) == set(State)
    assert len(State) == 9


@pytest.mark.parametrize("name", FINAL)
def test_a_final_state_leads_nowhere_and_says_so(name: str) -> None:
    with pytest.raises(IllegalTransition) as caught:
        check_transition(State(name), State.SCHEDULED)

    assert name in str(caught.value)
    assert "scheduled" in str(caught.value)
    assert "final" in str(caught.value)
    assert isinstance(caught.value, SempreError)


def test_skipped_is_final_but_for_an_operator_who_takes_it_back_or_retries_it() -> None:
    assert TRANSITIONS[State.SKIPPED] == {State.SUPERSEDED, *LIVE}


def test_no_state_leads_to_itself() -> None:
    assert not [state for state in State if state in TRANSITIONS[state]]


def test_a_refusal_names_where_the_state_does_lead() -> None:
    with pytest.raises(IllegalTransition, match="that is running cannot become missed") as caught:
        check_transition(State.RUNNING, State.MISSED)

    assert "cancelled, failed, scheduled, skipped, succeeded" in str(caught.value)


def test_live_means_waiting_whether_the_broker_knows_or_not() -> None:
    assert {State.PENDING, State.SCHEDULED} == LIVE
    assert all(State.RUNNING in TRANSITIONS[state] for state in LIVE)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        TRANSITIONS[State.FAILED] = frozenset({State.RUNNING})  # type: ignore[index]


def test_an_execution_changes_state_through_the_table_only() -> None:
    row = Story().next_row
    assert row is not None

    with pytest.raises(IllegalTransition):
        row.to(State.SUCCEEDED)
    done = row.to(State.RUNNING).to(State.SUCCEEDED, finished_at=at("12:01"))

    assert done.state is State.SUCCEEDED
    assert done.finished_at == at("12:01")
    assert row.state is State.PENDING
