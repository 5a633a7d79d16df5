"""Contracts of the bell: which rows the broker does not know yet, and which it knows."""

# ruff: noqa: S101 - a contract asserts

from dataclasses import replace
from datetime import timedelta

from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, Cancelled, View, Waiting
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
    read,
    row_of,
    session_of,
    view_of,
    waiting_schedule,
    work_of,
)


def test_orphans_are_pending_and_due_within_the_horizon_earliest_first(store: Store) -> None:
    """Rows of schedules and one-off work; held and running rows are left out."""
    near = waiting_schedule(store).rows[0]
    past = read(store, enqueued(store))
    soon = read(store, enqueued(store, due_in=MINUTE))
    far = read(store, enqueued(store, due_in=2 * HOUR))
    held = draft_schedule(store, "held")
    row = row_of(View(held), now_of(store) - MINUTE, held_by="maintenance")
    assert store.create([Birth(held, (row,))]) == [True]
    running = due_schedule(store, "running", limit=1).rows[0]
    claimed(store, running.id, session_of(store))

    def told(*rows: Execution) -> list[Waiting]:
        return list(map(Waiting.of, rows))

    assert store.unannounced(horizon=HOUR, limit=100).value == told(past, soon, near)
    assert store.unannounced(horizon=3 * HOUR, limit=100).value == told(past, soon, near, far)
    assert store.unannounced(horizon=timedelta(0), limit=100).value == told(past)


def test_orphans_are_as_many_as_asked_for(store: Store) -> None:
    """The earliest orphans come first."""
    ids = [enqueued(store, due_in=-minutes * MINUTE) for minutes in range(9, 0, -1)]

    found = store.unannounced(horizon=HOUR, limit=4).value

    assert [row.id for row in found] == ids[:4]


def _waiting(
    store: Store, *queues: str, horizon: timedelta = HOUR, limit: int = 100, anywhere: bool = False
) -> list[Waiting]:
    """Return the waiting rows of all pages by id."""
    found: list[Waiting] = []
    after = ""
    while True:
        names = None if anywhere else frozenset(queues or ("default",))
        page = store.waiting(names, horizon=horizon, after=after, limit=limit).value
        assert len(page.items) <= limit
        found += page.items
        after = page.after
        if not after:
            return sorted(found)


def test_what_waits_is_told_of_whether_the_broker_knows_it_or_not(store: Store) -> None:
    """Of schedules, by hand and one-off; held, running, ended and distant ones are not there."""
    near = waiting_schedule(store).rows[0]
    rung = read(store, enqueued(store, priority=7))
    assert store.mark_announced([rung.id]) == 1
    other = read(store, enqueued(store, due_in=MINUTE, queue="other"))
    far = read(store, enqueued(store, due_in=2 * HOUR))
    held = draft_schedule(store, "held")
    row = row_of(View(held), now_of(store) - MINUTE, held_by="maintenance")
    manual = row_of(View(held), now_of(store) - MINUTE, kind=Kind.MANUAL)
    assert store.create([Birth(held, (row, manual))]) == [True]
    running = due_schedule(store, "running", limit=1).rows[0]
    claimed(store, running.id, session_of(store))
    assert store.cancel([enqueued(store)]) == [Cancelled.ENDED]

    def told(*rows: Execution) -> list[Waiting]:
        return sorted(map(Waiting.of, rows))

    known = copy_with(rung, state=State.SCHEDULED)
    assert _waiting(store) == told(near, known, manual)
    assert _waiting(store, horizon=3 * HOUR) == told(near, known, manual, far)
    assert _waiting(store, horizon=timedelta(0)) == told(known, manual)
    assert _waiting(store, "other") == told(other)
    assert _waiting(store, "other", "default") == told(near, known, manual, other)
    assert _waiting(store, "nobody's") == []
    assert _waiting(store, anywhere=True) == told(near, known, manual, other)
    assert _waiting(store, anywhere=True, horizon=-2 * MINUTE) == []


def test_what_waits_comes_in_pages_each_row_once(store: Store) -> None:
    """Even if many rows share one due_at, in several queues and priorities."""
    at = now_of(store) - MINUTE
    works = [
        work_of(store, queue=queue, priority=priority)
        for queue in ("default", "other")
        for priority in (5, 1000)
        for _ in range(5)
    ]
    at_once = [replace(each, execution=copy_with(each.execution, due_at=at)) for each in works]
    ids = [receipt.id for receipt in store.enqueue(at_once)]

    for limit in (1, 3, 5, 7, 20, 50):
        found = _waiting(store, "default", "other", limit=limit)
        assert [each.id for each in found] == sorted(ids)
        assert _waiting(store, anywhere=True, limit=limit) == found


def test_a_row_that_was_rung_is_scheduled_and_no_orphan(store: Store) -> None:
    """No other field of the row or of the schedule changes."""
    view = waiting_schedule(store)
    row = view.rows[0]

    assert store.mark_announced([row.id]) == 1

    assert view_of(store) == View(view.schedule, (copy_with(row, state=State.SCHEDULED),))
    assert store.unannounced(horizon=HOUR, limit=100).value == []


def test_only_pending_rows_are_marked_as_rung(store: Store) -> None:
    """Rows that started or ended meanwhile are unchanged; unknown and repeated ids do not count."""
    waiting, running, over = enqueued(store), due_schedule(store).rows[0].id, enqueued(store)
    claimed(store, running, session_of(store))
    assert store.cancel([over]) == [Cancelled.ENDED]

    assert store.mark_announced([waiting, running, over, new_id()]) == 1
    assert store.mark_announced([waiting]) == 0
    assert store.mark_announced([]) == 0

    assert read(store, running).state is State.RUNNING
    assert read(store, over).state is State.CANCELLED
