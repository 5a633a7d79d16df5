"""The verbs of the API: put, edit, retry, discard, cancel, rename; lists with filters; the log."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sempre import Cron, Every, Sempre
from sempre.app.jobs import Job
from sempre.domain.states import State
from sempre.errors import ArgumentsError, InvalidInput, NotFound, Refused
from tests.unit.app.conftest import Hand


@pytest.fixture
def job(app: Sempre) -> Job[..., Any]:
    @app.job(tags=["money"])
    def charge(customer: int = 1) -> int:
        if customer < 0:
            raise ValueError("no such customer")
        return customer

    return charge


def work(app: Sempre) -> None:
    with app.running(burst=True, sync=False) as running:
        running.wait_until_exhausted()


def failed(app: Sempre, job: Job[..., Any]) -> str:
    identity: str = job.enqueue(-1).id
    work(app)
    assert app.execution(identity).row.state is State.FAILED
    return identity


def test_put_schedule_creates_and_then_changes(app: Sempre, job: Job[..., Any]) -> None:
    created = app.put_schedule("monthly", Every("1 month"), job.bind(7))
    changed = app.put_schedule("monthly", Cron("0 9 * * *"), job.bind(8), priority=5)

    assert created.name == changed.name == "monthly"
    definition = changed.definition
    assert (definition.grid, definition.args) == (Cron("0 9 * * *"), {"customer": 8})
    assert definition.priority == 5
    assert [each.verb for each in app.actions(target="schedule:monthly")] == ["edit", "create"]


def test_putting_a_schedule_again_changes_nothing(app: Sempre, job: Job[..., Any]) -> None:
    before = app.put_schedule("monthly", Every("1 month"), job).row

    assert app.put_schedule("monthly", Every("1 month"), job).row == before


def test_the_schedule_of_another_owner_is_not_taken_over(app: Sempre, job: Job[..., Any]) -> None:
    app.put_schedule("monthly", Every("1 month"), job, owner="shop")

    with pytest.raises(Refused, match="belongs to the owner shop"):
        app.put_schedule("monthly", Every("1 day"), job, owner="crm")


def test_edited_arguments_are_checked_against_the_signature(
    app: Sempre, job: Job[..., Any]
) -> None:
    schedule = app.put_schedule("monthly", Every("1 month"), job)

    with pytest.raises(ArgumentsError, match=r"charge\(customer: int = 1\)"):
        schedule.edit(args={"costumer": 7})

    assert schedule.edit(args={"customer": 7}, why="moved")
    assert schedule.definition.args == {"customer": 7}
    assert not schedule.edit(args={"customer": 7})


def test_a_misspelt_field_of_an_edit_is_named(app: Sempre, job: Job[..., Any]) -> None:
    schedule = app.put_schedule("monthly", Every("1 month"), job)

    with pytest.raises(InvalidInput, match="Did you mean jitter"):
        schedule.edit(jiter="1s")  # type: ignore[call-arg]


def test_a_failed_execution_is_retried_and_counted_anew(app: Sempre, job: Job[..., Any]) -> None:
    identity = failed(app, job)
    before = app.execution(identity).row

    app.execution(identity).retry(why="again")

    waiting = app.execution(identity).row
    assert (waiting.failures, waiting.key) == (0, before.key)
    work(app)
    after = app.execution(identity).row
    assert (after.attempt, after.failures) == (2, 1)
    assert after.fence > before.fence
    assert [attempt.state for attempt in app.execution(identity).attempts] == [State.FAILED] * 2


@pytest.mark.parametrize("verb", ["retry", "discard", "cancel"])
def test_verbs_on_an_unknown_execution_raise(app: Sempre, verb: str) -> None:
    with pytest.raises(NotFound):
        getattr(app.execution("nope"), verb)()


def test_only_a_failed_execution_is_discarded(app: Sempre, job: Job[..., Any]) -> None:
    identity = job.enqueue(3).id

    with pytest.raises(Refused, match="only a failed execution can be discarded"):
        app.execution(identity).discard()


def test_unique_work_is_not_retried_beside_its_successor(app: Sempre) -> None:
    @app.job(unique=True)
    def provision(database: int) -> None:
        raise OSError(database)

    identity = failed(app, provision)
    other = provision.enqueue(-1)

    with pytest.raises(Refused, match="another execution holds its unique key"):
        app.execution(identity).retry()

    assert app.execution(other.id).row.is_live
    assert app.execution(identity).row.state is State.FAILED


def test_a_retry_waits_for_nothing_of_a_paused_schedule(
    app: Sempre, job: Job[..., Any], clock: Hand
) -> None:
    schedule = app.put_schedule("hourly", Every("1h"), job.bind(-1))
    clock.move(hours=1)
    work(app)
    [row] = [row for row in schedule.executions() if row.state is State.FAILED]
    schedule.pause(note="incident")

    with pytest.raises(Refused, match="first run: sempre resume hourly"):
        app.execution(row.id).retry()


def test_a_missed_slot_is_retried_after_its_deadline(
    app: Sempre, job: Job[..., Any], clock: Hand
) -> None:
    schedule = app.put_schedule("hourly", Every("1h"), job, deadline="5m")
    clock.move(hours=1, minutes=30)
    work(app)
    [missed] = [row for row in schedule.executions() if row.state is State.MISSED]

    app.execution(missed.id).retry(why="it still counts")
    work(app)

    assert app.execution(missed.id).row.state is State.SUCCEEDED


def test_a_skipped_slot_of_the_future_is_restored_and_not_retried(
    app: Sempre, job: Job[..., Any]
) -> None:
    schedule = app.put_schedule("hourly", Every("1h"), job)
    schedule.skip()
    [skipped] = [row for row in schedule.executions() if row.state is State.SKIPPED]

    with pytest.raises(Refused, match="restore it: sempre unskip hourly"):
        app.execution(skipped.id).retry()


def test_executions_are_chosen_by_state_job_tag_and_time(
    app: Sempre, job: Job[..., Any], clock: Hand
) -> None:
    early = failed(app, job)
    clock.move(hours=2)
    late = failed(app, job)
    good = job.enqueue(5).id
    work(app)

    def ids(**filters: Any) -> set[str]:  # noqa: ANN401 - handed on as they are
        return {row.id for row in app.executions(**filters)}

    assert ids() == {early, late, good}
    assert ids(state="failed") == {early, late}
    assert ids(state=["failed", "succeeded"], since="1h") == {late, good}
    assert ids(job="other") == set()
    assert ids(tag="money", state="succeeded") == {good}
    assert ids(tag="other") == set()
    assert [row.id for row in app.executions(state="failed")] == [late, early]


def test_executions_of_tagged_schedules_have_the_tag(
    app: Sempre, job: Job[..., Any], clock: Hand
) -> None:
    app.put_schedule("hourly", Every("1h"), job, tags=["eu"])
    clock.move(hours=1)
    work(app)

    assert [row.state for row in app.executions(tag="eu", state="succeeded")] == ["succeeded"]


def test_ranges_of_slots_without_an_execution_are_listed(
    app: Sempre, job: Job[..., Any], clock: Hand
) -> None:
    app.put_schedule("hourly", Every("1h"), job)
    clock.move(hours=10)
    work(app)

    [found] = app.executions(state="missed").ranges()

    assert found.count == 8
    assert app.executions(state="failed").ranges() == []
    assert app.executions(state="missed", until=timedelta(days=1)).ranges() == []


def test_all_failures_are_retried_at_once(app: Sempre, job: Job[..., Any]) -> None:
    ids = {failed(app, job) for _ in range(3)}

    answers = list(app.executions(state="failed", job="charge").retry(why="the bank is back"))

    assert {answer.id for answer in answers if answer.done} == ids
    assert len(list(app.actions(verb="retry"))) == 3


def test_an_unknown_state_is_refused(app: Sempre) -> None:
    with pytest.raises(InvalidInput, match="failed"):
        app.executions(state="failled")


@pytest.mark.parametrize(
    ("verb", "act"),
    [
        ("pause", lambda schedule: schedule.pause(note="why")),
        ("skip", lambda schedule: schedule.skip(why="why")),
        ("run", lambda schedule: schedule.trigger(why="why")),
        ("edit", lambda schedule: schedule.edit(priority=3, why="why")),
        ("edit", lambda schedule: schedule.move_to(Every("2h"), why="why")),
        ("disable", lambda schedule: schedule.disable(why="why")),
        ("rename", lambda schedule: schedule.rename("other", why="why")),
        ("delete", lambda schedule: schedule.delete(why="why")),
    ],
)
def test_every_verb_is_logged_with_its_reason(
    app: Sempre, job: Job[..., Any], verb: str, act: Callable[[Any], object]
) -> None:
    schedule = app.put_schedule("hourly", Every("1h"), job)

    act(schedule)

    action = next(app.actions(target="schedule:hourly"))
    assert (action.verb, action.note, action.actor) == (verb, "why", app.actor)
    assert action.after


def test_a_verb_that_changes_nothing_is_not_logged(app: Sempre, job: Job[..., Any]) -> None:
    schedule = app.put_schedule("hourly", Every("1h"), job)

    assert not schedule.resume()
    assert not schedule.enable()

    assert [each.verb for each in app.actions()] == ["create"]
