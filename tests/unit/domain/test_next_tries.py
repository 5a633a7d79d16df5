"""Whether and when an execution is tried again: by exception type, and as its job decides."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.exception_types import type_names
from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Plan,
    plan_disable,
    plan_failure,
    plan_given_up,
    plan_pause,
    plan_retry_later,
    plan_trigger,
)
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from tests.unit.domain.builders import Story, at

SECOND = timedelta(seconds=1)
STOPS = [(plan_disable, "disabled"), (plan_pause, "paused")]
ERRORS: list[type[BaseException]] = [
    ConnectionResetError,
    TimeoutError,
    ValueError,
    KeyboardInterrupt,
]
TYPES = st.lists(st.sampled_from([*ERRORS, OSError, Exception]), max_size=3)
SECONDS = st.timedeltas(SECOND, timedelta(days=30))


def started(**policies: object) -> tuple[Story, Execution]:
    """Return a schedule and its running row of 12:01."""
    story = Story(**policies).go("12:01")
    return story, story.claim()


def failed(story: Story, row: Execution, error: type[BaseException]) -> Execution:
    types = type_names(error)
    story.apply(plan_failure(story.schedule, row, story.moment, error="boom", types=types))
    return story.rows[row.id]


def asked_later(
    story: Story, row: Execution, after: timedelta | datetime = 60 * SECOND, reason: str = "busy"
) -> Execution:
    story.apply(plan_retry_later(story.schedule, row, story.moment, after=after, reason=reason))
    return story.rows[row.id]


def test_a_failure_of_a_type_that_is_not_retried_is_final_and_says_so() -> None:
    story, row = started(retry=Retry(3, only=OSError))

    ended = failed(story, row, ValueError)

    assert (ended.state, ended.failures) == (State.FAILED, 1)
    assert ended.reason == "not retried: boom"


def test_a_failure_of_any_type_after_the_last_try_is_said_to_be_the_last() -> None:
    story, row = started(retry=Retry(1, never=ValueError))
    again = failed(story, row, OSError)
    story.now = again.due_at

    ended = failed(story, story.claim(again), ValueError)

    assert ended.reason == "retries exhausted: boom"


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_stop_of_the_schedule_is_named_before_the_type(
    verb: Callable[..., Plan], reason: str
) -> None:
    story, row = started(retry=Retry(3, never=ValueError))
    story.perform(verb)

    assert failed(story, story.rows[row.id], ValueError).reason == f"{reason}: boom"


def test_a_failure_planned_again_waits_equally_long() -> None:
    story, row = started(retry=Retry(3, jitter="1h"))
    types = type_names(OSError)

    plans = [plan_failure(story.schedule, row, story.moment, types=types) for _ in range(2)]

    assert plans[0] == plans[1]


def test_a_later_try_waits_and_counts_nothing() -> None:
    story, row = started()

    waiting = asked_later(story.go("12:01:05"), row)

    assert (waiting.state, waiting.reason) == (State.SCHEDULED, "retry later: busy")
    assert (waiting.failures, waiting.crashes, waiting.attempt) == (0, 0, 1)
    assert (waiting.due_at, waiting.run_at) == (at("12:02:05"), at("12:01"))
    assert (waiting.session, waiting.leased_until) == ("", None)


def test_a_later_try_without_a_reason_is_just_called_so() -> None:
    story, row = started()

    assert asked_later(story, row, reason="").reason == "retry later"


@pytest.mark.parametrize(
    ("clock", "due"), [("12:30", "12:30"), ("12:01:00", "12:01:01"), ("11:00", "12:01:01")]
)
def test_a_later_try_at_an_instant_waits_a_second_at_least(clock: str, due: str) -> None:
    story, row = started()

    assert asked_later(story, row, at(clock)).due_at == at(due)


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_later_try_after_disable_or_pause_is_final(
    verb: Callable[..., Plan], reason: str
) -> None:
    story, row = started(retry=5)
    story.perform(verb)

    ended = asked_later(story, story.rows[row.id])

    assert (ended.state, ended.failures) == (State.FAILED, 0)
    assert ended.reason == f"{reason}: retry later: busy"


@pytest.mark.parametrize(("verb", "reason"), STOPS)
def test_a_later_try_of_a_manual_run_waits_all_the_same(
    verb: Callable[..., Plan], reason: str
) -> None:
    story = Story(overlap="allow").go("12:00:30")
    story.apply(plan_trigger(story.schedule, story.moment, actor=reason))
    [manual] = story.of_kind(Kind.MANUAL)
    running = story.claim(manual)
    story.perform(verb)

    assert asked_later(story, running).state is State.SCHEDULED


def test_giving_up_is_final_whatever_the_policy_says() -> None:
    story, row = started(retry=Retry(5))

    story.apply(plan_given_up(row, story.moment, reason="no such customer"))

    ended = story.rows[row.id]
    assert (ended.state, ended.reason) == (State.FAILED, "gave up: no such customer")
    assert ended.failures == 1


def test_a_row_that_does_not_run_is_left_alone() -> None:
    story, row = started()
    ended = story.succeed(row)

    assert plan_retry_later(story.schedule, ended, story.moment, after=SECOND).is_empty
    assert plan_given_up(ended, story.moment).is_empty


POLICIES = st.builds(
    lambda limit, base, more, jitter, only, never: Retry(
        limit, base=base, cap=base + more, jitter=jitter, only=only, never=never
    ),
    st.integers(0, 4),
    SECONDS,
    SECONDS,
    st.timedeltas(timedelta(0), timedelta(days=1)),
    TYPES,
    TYPES,
)
ENDS = st.sampled_from([*ERRORS, "later", "released", "crashed"])


@given(retry=POLICIES, ends=st.lists(ENDS, max_size=20))
def test_any_policy_bounds_the_tries_and_the_waits(
    retry: Retry, ends: list[type[BaseException] | str]
) -> None:
    story, row = started(retry=retry, on_unknown="rerun")
    failures = 0
    for end in ends:
        began = row
        if end == "later":
            row = asked_later(story, row)
            assert row.due_at - story.now == 60 * SECOND
        elif end == "released":
            row = story.release(row)
        elif end == "crashed":
            row = story.crash(row)
        else:
            failures += 1
            row = failed(story, row, end)  # type: ignore[arg-type]
            _check_failure(story, row, end, retry)  # type: ignore[arg-type]
        assert row.failures == failures
        assert end != "later" or row.is_live
        if not row.is_live:
            break
        story.now = max(story.now, row.due_at)
        row = story.claim(row)
        assert row.state is State.RUNNING, (began, row)
    assert failures <= retry.limit + 1


def _check_failure(story: Story, row: Execution, error: type[BaseException], retry: Retry) -> None:
    names = set(type_names(error))
    named = not retry.only or bool(names & set(retry.only))
    expected = row.failures <= retry.limit and named and not names & set(retry.never)
    assert row.is_live == expected
    if row.is_live:
        least = min(retry.cap, retry.base * 2 ** (row.failures - 1))
        assert least <= row.due_at - story.now <= least + retry.jitter
