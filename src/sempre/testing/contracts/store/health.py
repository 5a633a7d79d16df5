"""Contracts of health: last outcomes, failures by job, and overdue work in groups."""

# ruff: noqa: S101 - a contract asserts

from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime, plan_delete, plan_failure
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.ports.health import Backlog
from sempre.ports.messages import Birth, Settled, Settlement, Switch, View
from sempre.ports.retention import Purge
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    new_id,
    now_of,
    perform,
    read,
    row_of,
    session_of,
    succeed,
    without_lease,
)

PAST = 3 * HOUR


def _with_history(store: Store, name: str, *states: State, **fields: Any) -> list[Execution]:  # noqa: ANN401
    """Create a schedule with executions that ended a minute apart, the newest one first."""
    schedule, now = draft_schedule(store, name), now_of(store)
    ends = [now - number * MINUTE for number in range(len(states))]
    rows = [
        row_of(View(schedule), at - PAST, state=state, finished_at=at, **fields)
        for at, state in zip(ends, states, strict=True)
    ]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    return rows


def _failing(store: Store, *, limit: int = 100) -> set[str]:
    """Return the names of all schedules that failed last, a page at a time."""
    found, after = list[str](), ""
    while True:
        stretch = store.failing(after=after, limit=limit).value
        found += stretch.suspect
        if stretch.count < limit:
            return set(found)
        after = stretch.last


def _fail(store: Store, row: Execution) -> None:
    """Settle a claimed execution as failed."""
    plan = plan_failure(None, row, PlanningTime(now_of(store)), error="ValueError: no")
    [settled] = store.settle([Settlement(row, plan, error="no")], session=row.session)
    assert settled is Settled.DONE


def test_a_schedule_whose_last_outcome_failed_is_failing(store: Store) -> None:
    """The outcome that ended last decides; what was skipped or cancelled since does not count."""
    ok, bad = State.SUCCEEDED, State.FAILED
    _with_history(store, "well", ok, bad, bad)
    _with_history(store, "ill", bad, ok)
    _with_history(store, "ill behind others", State.CANCELLED, State.SKIPPED, bad, ok)
    _with_history(store, "never ended", State.CANCELLED)
    due_schedule(store, "new")

    assert _failing(store) == {"ill", "ill behind others"}


def test_failing_schedules_come_in_pages_by_id(store: Store) -> None:
    """Every page counts the schedules that it checked; the last one has fewer than the limit."""
    names = {f"job {number}" for number in range(7)}
    for name in sorted(names):
        _with_history(store, name, State.FAILED)

    assert _failing(store, limit=1) == names
    assert _failing(store, limit=3) == names
    assert store.failing(after="", limit=len(names)).value.count == len(names)


def test_a_deleted_schedule_is_not_failing(store: Store) -> None:
    """It is not checked at all."""
    _with_history(store, "billing", State.FAILED)

    perform(store, plan_delete)

    assert store.failing(after="", limit=10).value.count == 0


def test_the_end_of_a_run_decides_not_its_slot(store: Store) -> None:
    """A late success of an older slot ends a failure."""
    schedule, now = draft_schedule(store), now_of(store)
    failed = row_of(View(schedule), now - HOUR, state=State.FAILED, finished_at=now - HOUR)
    later = row_of(View(schedule), now - PAST, state=State.SUCCEEDED, finished_at=now - MINUTE)
    assert store.create([Birth(schedule, (failed, later))]) == [True]

    assert _failing(store) == set()
    assert store.outcomes([schedule.id], limit=5).value == {schedule.id: (later, failed)}


def test_the_outcomes_of_many_schedules_come_at_once(store: Store) -> None:
    """Newest end first, at most `limit` of each; an unknown schedule has none."""
    ok, bad = State.SUCCEEDED, State.FAILED
    first = _with_history(store, "a", bad, State.SKIPPED, ok, bad)
    second = _with_history(store, "b", ok)
    ids = [str(rows[0].schedule_id) for rows in (first, second)]
    stranger = new_id()

    found = store.outcomes([*ids, stranger], limit=2).value

    assert found == {ids[0]: (first[0], first[2]), ids[1]: (second[0],), stranger: ()}
    assert store.outcomes([], limit=2).value == {}


def test_an_outcome_follows_a_settlement(store: Store) -> None:
    """A run that succeeds or fails is an outcome at once; one that waits for a retry is none."""
    session = session_of(store)
    retried = due_schedule(store, "retried", retry=Retry(1))
    failed = due_schedule(store, "failed")
    done = due_schedule(store, "done")
    _fail(store, claimed(store, failed.rows[0].id, session))
    _fail(store, claimed(store, retried.rows[0].id, session))
    assert succeed(store, claimed(store, done.rows[0].id, session)) is Settled.DONE

    ids = [view.schedule.id for view in (failed, retried, done)]
    states = [[row.state for row in rows] for rows in store.outcomes(ids, limit=9).value.values()]

    assert states == [[State.FAILED], [], [State.SUCCEEDED]]
    assert _failing(store) == {"failed"}


def test_failures_come_by_job_and_newest_first(store: Store) -> None:
    """At most `limit` of each job, and none that ended before."""
    rows = _with_history(store, "many", *[State.FAILED] * 3, State.SUCCEEDED)
    session = session_of(store)
    mail = claimed(store, enqueued(store), session)
    _fail(store, mail)
    since = now_of(store) - HOUR

    found = store.failures(since=since, limit=2).value

    assert [row.id for row in found] == [rows[0].id, rows[1].id, mail.id]
    assert found[:2] == rows[:2]
    assert store.failures(since=since, limit=9).value[:3] == rows[:3]
    later = store.failures(since=rows[1].finished_at or since, limit=9).value
    assert [row.id for row in later] == [rows[0].id, rows[1].id, mail.id]


def test_what_is_no_longer_failed_is_no_failure(store: Store) -> None:
    """Purged executions are left out."""
    rows = _with_history(store, "many", State.FAILED, State.FAILED)
    now = now_of(store)

    assert store.purge(Purge(before=now, limit=9, keep=1)).count == 1

    assert [row.id for row in store.failures(since=now - HOUR, limit=9).value] == [rows[0].id]


def test_overdue_work_comes_in_groups(store: Store) -> None:
    """By queue, job and whether a schedule wants it; work that is not late is left out."""
    now = now_of(store)
    due_schedule(store, "a")
    due_schedule(store, "b", queue="slow", priority=5)
    for priority in (7, 8):
        enqueued(store, due_in=-HOUR, priority=priority)
    enqueued(store, due_in=-HOUR, job="bill", name="bill", queue="slow")
    enqueued(store)
    enqueued(store, due_in=HOUR)
    running = claimed(store, enqueued(store, due_in=-2 * HOUR), session_of(store))

    found = store.backlog(late=10 * MINUTE, limit=100).value

    def group(queue: str, job: str, *, is_one_off: bool, count: int, ago: timedelta) -> Backlog:
        near = [each.oldest_due_at for each in found if (each.queue, each.job) == (queue, job)]
        oldest = min(near, key=lambda at: abs(now - ago - at))
        assert abs(now - ago - oldest) < MINUTE
        return Backlog(queue, job, "", is_one_off, count, oldest)

    assert running.state is State.RUNNING
    assert found == [
        group("default", "bill", is_one_off=False, count=1, ago=30 * MINUTE),
        group("default", "mail", is_one_off=True, count=2, ago=HOUR),
        group("slow", "bill", is_one_off=False, count=1, ago=30 * MINUTE),
        group("slow", "bill", is_one_off=True, count=1, ago=HOUR),
    ]


def test_a_backlog_is_counted_up_to_a_limit(store: Store) -> None:
    """A million waiting executions cost no more than the limit."""
    for _ in range(5):
        enqueued(store, due_in=-HOUR)

    limit = 3
    [found] = store.backlog(late=MINUTE, limit=limit).value

    assert found.count == limit


def test_held_work_is_a_group_of_its_switch(store: Store) -> None:
    """One-off work that a switch holds is reported apart from work that waits for a worker."""
    store.switch(Switch("stop", "job:mail", mode="hold"), off=True)
    held = enqueued(store, due_in=-HOUR)
    enqueued(store, due_in=-HOUR, job="bill", name="bill")

    found = store.backlog(late=MINUTE, limit=100).value

    assert [(each.job, each.held_by, each.is_one_off) for each in found] == [
        ("bill", "", True),
        ("mail", "stop", True),
    ]
    assert abs(found[1].oldest_due_at - read(store, held).due_at) < MINUTE


def test_manual_runs_are_work_of_their_schedule(store: Store) -> None:
    """They count with the slots of the schedule, not as one-off work."""
    schedule, now = draft_schedule(store), now_of(store)
    manual = row_of(View(schedule), now - HOUR, kind=Kind.MANUAL)
    assert store.create([Birth(schedule, (manual,))]) == [True]

    [found] = store.backlog(late=MINUTE, limit=100).value

    assert (found.job, found.is_one_off, found.count) == ("bill", False, 1)
    assert without_lease(read(store, manual.id)) == manual
