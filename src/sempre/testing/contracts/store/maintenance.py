"""Contracts of maintenance: what may be wrong is found, one pass at a time, and the old goes."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import timedelta
from typing import Any, Unpack

from sempre.domain.planning import (
    Plan,
    PlanningTime,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_pause,
    plan_reconcile,
)
from sempre.domain.planning.plan import ScheduleChanges
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, Stretch, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    check_invariants,
    claimed,
    draft_schedule,
    due_schedule,
    first_row,
    new_id,
    now_of,
    order_of,
    perform,
    row_of,
    session_of,
    started,
    view_of,
    waiting_schedule,
)


def _astray(store: Store, tzdata: str = TZDATA) -> set[str]:
    found = store.needing_repair(tzdata=tzdata, limit=100).value
    return {view.schedule.name for view in found}


def _bare(store: Store, name: str, **fields: Unpack[ScheduleChanges]) -> Schedule:
    """Create a schedule that is marked as started, without any row."""
    fields["started"] = True
    schedule = copy_with(draft_schedule(store, name), **fields)
    assert store.create([Birth(schedule)]) == [True]
    return schedule


# Schedules that need repair


def test_a_healthy_schedule_is_not_astray(store: Store) -> None:
    """Waiting, due, running or paused until an instant: each has its next row."""
    waiting_schedule(store, "waiting")
    due_schedule(store, "due")
    claimed(store, due_schedule(store, "running").rows[0].id, session_of(store))
    waiting_schedule(store, "paused")
    perform(store, plan_pause, "paused", until=now_of(store) + 9 * HOUR)
    waiting_schedule(store, "rung")
    store.mark_announced([first_row(store, "rung").id])

    assert _astray(store) == set()


def test_a_schedule_that_was_never_started_is_astray(store: Store) -> None:
    """The result includes the view; disabled schedules are left alone."""
    schedule = draft_schedule(store, "new")
    off = draft_schedule(store, "off", enabled=False)
    assert store.create([Birth(schedule), Birth(off)]) == [True, True]

    [view] = store.needing_repair(tzdata=TZDATA, limit=100).value

    assert view == view_of(store, "new")


def test_a_schedule_without_its_next_row_is_astray_until_it_is_reconciled(store: Store) -> None:
    """Whether the schedule records no next row, or records a row that does not exist."""
    _bare(store, "knows")
    _bare(store, "thinks", next_run_at=now_of(store) + HOUR)
    assert _astray(store) == {"knows", "thinks"}

    for name in ("knows", "thinks"):
        perform(store, plan_reconcile, name)
        check_invariants(store, name)

    assert _astray(store) == set()


def test_a_schedule_whose_next_row_has_an_older_stamp_is_astray(store: Store) -> None:
    """Older by version, not by spelling; a newer stamp is left to newer releases."""
    now = now_of(store)
    for name, stamp in [("old", "2025.9"), ("same", "2025.10"), ("new", "2026.1"), ("none", "")]:
        schedule = copy_with(draft_schedule(store, name), created_at=now, cursor=now)
        assert store.create([started(schedule, at=now, tzdata=stamp)]) == [True]

    assert _astray(store, "2025.10") == {"old", "none"}
    assert _astray(store, "2025.9") == {"none"}
    assert _astray(store, "2026.2") == {"old", "same", "new", "none"}


def test_a_next_row_that_newer_zones_leave_where_it_is_is_stamped_anew(store: Store) -> None:
    """Otherwise every pass would find the schedule again, and perhaps no other."""
    now = now_of(store)
    schedule = copy_with(draft_schedule(store, "old"), created_at=now, cursor=now)
    assert store.create([started(schedule, at=now, tzdata="2025.9")]) == [True]
    before = first_row(store, "old")

    reading = store.views(["old"])
    [view] = reading.value
    plan = plan_reconcile(view.schedule, view.rows, PlanningTime(reading.now, "2026.1"))
    assert store.apply([order_of(plan)]) == [True]

    assert first_row(store, "old") == copy_with(before, tzdata="2026.1")
    assert _astray(store, "2026.1") == set()
    assert _astray(store, "2026.2") == {"old"}


def test_a_schedule_that_should_have_no_row_is_not_astray(store: Store) -> None:
    """Disabled, paused for good, deleted, ended, or at its limit."""
    for name in ("disabled", "paused", "deleted", "ending"):
        waiting_schedule(store, name)
    perform(store, plan_disable, "disabled")
    perform(store, plan_pause, "paused")
    perform(store, plan_delete, "deleted")
    ending = view_of(store, "ending").schedule
    to = ending.definition.edited(until=now_of(store) + timedelta(seconds=1))
    perform(store, plan_edit, "ending", to=to)
    assert view_of(store, "ending").schedule.ended
    limited = draft_schedule(store, "limited", limit=1)
    assert store.create([Birth(copy_with(limited, started=True, starts=1))]) == [True]

    assert _astray(store) == set()
    assert _astray(store, "2999.1") == set()


def test_a_broken_schedule_is_astray_until_its_grid_works(store: Store) -> None:
    """With a next row or without; stopped schedules are not astray."""
    _bare(store, "broken", broken="raised ValueError")
    _bare(store, "disabled", broken="raised ValueError", pause=Pause())
    waiting = copy_with(waiting_schedule(store, "waiting").schedule, broken="raised ValueError")
    plan = Plan(view_of(store, "waiting").schedule, waiting)
    assert store.apply([order_of(plan)]) == [True]
    assert _astray(store) == {"broken", "waiting"}

    for name in ("broken", "waiting"):
        perform(store, plan_reconcile, name)

    assert _astray(store) == set()


def test_what_is_astray_comes_as_many_as_asked_for(store: Store) -> None:
    """The rest is there the next time, once these have been mended."""
    names = {f"billing-{number}" for number in range(7)}
    for name in names:
        _bare(store, name)
    seen: set[str] = set()

    while found := store.needing_repair(tzdata=TZDATA, limit=3).value:
        assert len(found) <= 3
        for view in found:
            perform(store, plan_reconcile, view.schedule.name)
            seen.add(view.schedule.name)

    assert seen == names


def test_slices_go_through_every_schedule_once(store: Store) -> None:
    """In order of id, with views; deleted schedules are left out."""
    views = {}
    for number in range(11):
        view = waiting_schedule(store, f"billing-{number}")
        views[view.schedule.id] = view
    waiting_schedule(store, "gone")
    perform(store, plan_delete, "gone")
    found, after = [], ""

    while page := store.slice(after=after, limit=4).value:
        assert len(page) <= 4
        found += page
        after = page[-1].schedule.id

    assert found == [views[each] for each in sorted(views)]


# Schedules that are suspect


def _doubtful(store: Store) -> set[str]:
    return set(store.suspect(after="", limit=100).value.suspect)


def test_a_schedule_that_is_plainly_in_order_is_not_doubtful(store: Store) -> None:
    """With its next row, or rightly without; running and ended rows do not matter."""
    waiting_schedule(store, "waiting")
    due_schedule(store, "due")
    claimed(store, due_schedule(store, "running").rows[0].id, session_of(store))
    for name in ("paused until then", "paused", "disabled", "deleted", "ending"):
        waiting_schedule(store, name)
    perform(store, plan_pause, "paused until then", until=now_of(store) + 9 * HOUR)
    perform(store, plan_pause, "paused")
    perform(store, plan_disable, "disabled")
    perform(store, plan_delete, "deleted")
    ending = view_of(store, "ending").schedule
    to = ending.definition.edited(until=now_of(store) + timedelta(seconds=1))
    perform(store, plan_edit, "ending", to=to)
    assert store.create([Birth(draft_schedule(store, "off", enabled=False))]) == [True]

    stretch = store.suspect(after="", limit=100).value

    assert stretch.suspect == ()
    assert stretch.count == 8


def test_a_schedule_is_doubtful_until_its_next_row_is_right(store: Store) -> None:
    """The row is missing, misplaced, of another revision, duplicated, or should not exist."""
    now = now_of(store)
    assert store.create([Birth(draft_schedule(store, "new"))]) == [True]
    _bare(store, "missing", next_run_at=now + HOUR)
    _bare(store, "knows that it is missing")
    _bare(store, "broken", broken="raised ValueError")
    _bare(store, "paused", pause=Pause(), next_run_at=now + HOUR)
    others = {"elsewhere": [2 * HOUR], "two": [HOUR, 2 * HOUR], "ended": [HOUR]}
    for name, places in {**others, "of another revision": [HOUR], "tried": [HOUR]}.items():
        draft = copy_with(draft_schedule(store, name), started=True, next_run_at=now + HOUR)
        schedule = copy_with(draft, ended=name == "ended")
        tried = {"first_started_at": now} if name == "tried" else {}
        rows = tuple(row_of(View(schedule), now + place, **tried) for place in places)
        newer = copy_with(schedule, revision=2 if name == "of another revision" else 1)
        assert store.create([Birth(newer, rows)]) == [True]
    waiting_schedule(store, "in order")
    expected = {each.schedule.name for each in store.slice(after="", limit=100).value}

    assert _doubtful(store) == expected - {"in order"}


def test_schedules_are_checked_in_order_of_id_each_once(store: Store) -> None:
    """Deleted ones are left out; where fewer come than were asked for, that is the end."""
    names = {}
    for number in range(7):
        names[_bare(store, f"billing-{number}").id] = f"billing-{number}"
    waiting_schedule(store, "gone")
    perform(store, plan_delete, "gone")
    found: list[str] = []
    after = ""

    while True:
        stretch = store.suspect(after=after, limit=3).value
        found += stretch.suspect
        if stretch.count < 3:
            break
        after = stretch.last

    assert sorted(found) == sorted(names.values())
    assert stretch.last == max(names)
    assert store.suspect(after=max(names), limit=3).value == Stretch(0)


# The pass


def test_a_new_store_is_due_for_a_pass(store: Store) -> None:
    """The first pass needs no earlier pass."""
    reading = store.last_pass()

    assert reading.value.due_at <= reading.now
    assert (reading.value.holder, reading.value.finished_at) == ("", None)
    assert reading.value.report == {}


def test_a_pass_begins_only_when_it_is_due(store: Store) -> None:
    """The begin of a pass is the lock; the next is due an interval later, by the store's clock."""
    before = now_of(store)

    begun = store.begin_pass(holder="a", every=5 * MINUTE)

    assert begun is not None
    assert begun.holder == "a"
    assert before + 5 * MINUTE <= begun.due_at <= now_of(store) + 5 * MINUTE
    assert store.last_pass().value == begun
    assert store.begin_pass(holder="b", every=5 * MINUTE) is None
    assert store.begin_pass(holder="a", every=4 * MINUTE) is None
    assert store.last_pass().value == begun


def test_a_pass_that_is_due_again_goes_to_whoever_asks_first(store: Store) -> None:
    """Also if the last one never finished."""
    assert store.begin_pass(holder="a", every=-MINUTE) is not None

    begun = store.begin_pass(holder="b", every=MINUTE)

    assert begun is not None
    assert begun.holder == "b"
    assert store.begin_pass(holder="c", every=MINUTE) is None


def test_a_pass_that_is_due_too_far_ahead_is_due_at_once(store: Store) -> None:
    """No interval of the caller explains that due date; so a wrong due date does not last."""
    assert store.begin_pass(holder="mistaken", every=365 * 24 * HOUR) is not None

    begun = store.begin_pass(holder="b", every=5 * MINUTE)

    assert begun is not None
    assert begun.holder == "b"
    assert begun.due_at <= now_of(store) + 5 * MINUTE
    assert store.begin_pass(holder="c", every=5 * MINUTE) is None


def test_a_pass_is_reported_by_whoever_began_the_last_one(store: Store) -> None:
    """The report of a worker that was overtaken is not written."""
    holders = [new_id(), new_id()]
    assert store.begin_pass(holder=holders[0], every=-MINUTE) is not None
    assert store.begin_pass(holder=holders[1], every=MINUTE) is not None
    report: dict[str, Any] = {"processed": 2**53 + 1, "failed": ["✗", {"a": None}], "late": True}

    store.finish_pass(holder=holders[0], report={"processed": 1})
    assert store.last_pass().value.finished_at is None
    before = now_of(store)
    store.finish_pass(holder=holders[1], report=report)

    last = store.last_pass().value
    assert last.report == report
    assert last.holder == holders[1]
    assert last.finished_at is not None
    assert before <= last.finished_at <= now_of(store)
