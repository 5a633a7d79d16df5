"""Contracts of history: pages by key that are complete and without repeats."""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_delete, plan_disable, plan_edit
from sempre.domain.states import Kind, State
from sempre.grids import Every
from sempre.ports.messages import Birth, ExecutionQuery, ScheduleQuery, Settled, View
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
    view_of,
    waiting_schedule,
)


def _history(store: Store, count: int, **fields: Any) -> list[Execution]:  # noqa: ANN401
    """Create a schedule with rows of the past, each a minute older than the one before."""
    schedule = draft_schedule(store)
    now = now_of(store)
    given = {"state": State.SUCCEEDED, "kind": Kind.MANUAL, "finished_at": now} | fields
    rows = [row_of(View(schedule), now - number * MINUTE, **given) for number in range(count)]
    assert store.create([Birth(schedule, tuple(rows[1::2] + rows[::2]))]) == [True]
    return rows


def _pages(
    store: Store,
    between: Callable[[], object] = lambda: None,
    **query: Any,  # noqa: ANN401
) -> Iterator[list[Execution]]:
    """Yield page after page of history; something may happen between them."""
    after = ""
    while True:
        page = store.executions(ExecutionQuery(after=after, **query)).value
        yield list(page.items)
        if not page.after:
            return
        after = page.after
        between()


def test_history_comes_newest_slot_first_and_to_an_end(store: Store) -> None:
    """Page by page, each as long as asked for, the last one without a key for another."""
    rows = _history(store, 10)
    schedule_id = rows[0].schedule_id

    pages = list(_pages(store, schedule_id=schedule_id, limit=4))
    whole = list(_pages(store, schedule_id=schedule_id, limit=10))

    assert pages == [rows[:4], rows[4:8], rows[8:]]
    assert whole == [rows]
    assert list(_pages(store, schedule_id=new_id())) == [[]]


def test_rows_of_one_slot_are_paged_without_loss(store: Store) -> None:
    """The key is the slot and the id, so that a boundary inside a slot loses nothing."""
    schedule = draft_schedule(store)
    now = now_of(store)
    slots = [
        now - HOUR,
        now - HOUR,
        now - HOUR + timedelta(microseconds=1),
        now.replace(microsecond=0),
    ]
    rows = [row_of(View(schedule), slots[at % 4], kind=Kind.MANUAL) for at in range(20)]
    assert store.create([Birth(schedule, tuple(rows))]) == [True]

    found = [row for page in _pages(store, limit=3) for row in page]

    assert sorted(row.id for row in found) == sorted(row.id for row in rows)
    assert [row.run_at for row in found] == sorted((row.run_at for row in rows), reverse=True)


def test_the_latest_rows_of_many_schedules_come_at_once(store: Store) -> None:
    """Equal to the first page of each schedule; a schedule without history has an empty list."""
    names = ["a", "b", "c'); --"]
    ids = [due_schedule(store, name).schedule.id for name in names]
    busy = view_of(store, "b").schedule
    slots = [now_of(store) - (5 + number % 4) * HOUR for number in range(9)]
    perform(store, plan_disable, "b")
    rows = [row_of(View(busy), slot, kind=Kind.MANUAL) for slot in slots]
    other = draft_schedule(store, "d")
    assert store.create([Birth(other, tuple(rows))]) == [True]
    claimed(store, view_of(store, "a").rows[0].id, session_of(store))
    asked = [*ids, new_id(), "%s"]

    for limit in (1, 3, 50):
        found = store.latest([*asked, asked[0]], limit=limit).value

        assert found.keys() == set(asked)
        for each in asked:
            first = next(_pages(store, schedule_id=each, limit=limit))
            assert list(found[each]) == first
    assert len(found[ids[1]]) > len(rows)
    assert store.latest([], limit=3).value == {}


def test_pages_of_history_are_complete_while_rows_come_in(store: Store) -> None:
    """New rows, before and after, shift no page: each existing row is seen once."""
    rows = _history(store, 12)
    ahead = iter(range(1, 100))

    def meanwhile() -> None:
        enqueued(store, due_in=next(ahead) * MINUTE)
        enqueued(store, due_in=-next(ahead) * HOUR)

    found = [row for page in _pages(store, meanwhile, limit=3) for row in page]

    ids = [row.id for row in found]
    assert len(ids) == len(set(ids))
    assert [each for each in ids if each in {row.id for row in rows}] == [row.id for row in rows]


def test_a_page_of_history_is_asked_for_by_schedule_job_state_and_kind(store: Store) -> None:
    """Each condition narrows the result; without conditions all rows are returned."""
    rows = _history(store, 4)
    failed = due_schedule(store, "other", job="dun").rows[0]
    mail = enqueued(store)

    def ids(**query: Any) -> set[str]:  # noqa: ANN401
        return {row.id for page in _pages(store, **query) for row in page}

    everything = {*(row.id for row in rows), failed.id, mail}
    assert ids() == everything
    assert ids(schedule_id=failed.schedule_id) == {failed.id}
    assert ids(job="dun") == {failed.id}
    assert ids(job="mail") == {mail}
    assert ids(states=frozenset({State.SUCCEEDED})) == {row.id for row in rows}
    assert ids(states=frozenset({State.SUCCEEDED, State.PENDING})) == everything
    assert ids(states=frozenset({State.RUNNING})) == set()
    assert ids(kinds=frozenset({Kind.ENQUEUED, Kind.SCHEDULED})) == {failed.id, mail}
    assert ids(kinds=frozenset({Kind.ENQUEUED}), job="dun") == set()


def test_a_page_of_history_is_asked_for_by_time(store: Store) -> None:
    """Both ends are inclusive, to the microsecond."""
    rows = _history(store, 6)
    tick = timedelta(microseconds=1)

    def found(**query: Any) -> list[Execution]:  # noqa: ANN401
        return [row for page in _pages(store, limit=2, **query) for row in page]

    assert found(since=rows[2].run_at) == rows[:3]
    assert found(until=rows[2].run_at) == rows[2:]
    assert found(since=rows[4].run_at, until=rows[1].run_at) == rows[1:5]
    assert found(since=rows[4].run_at + tick, until=rows[1].run_at - tick) == rows[2:4]


def test_history_shows_one_off_work_and_what_runs(store: Store) -> None:
    """Rows show the current state, and running rows the lease."""
    mail = enqueued(store, due_in=-2 * HOUR)
    row = claimed(store, due_schedule(store, limit=1).rows[0].id, session_of(store))

    assert list(_pages(store)) == [[row, read(store, mail)]]


def test_what_runs_has_its_place_among_the_others_in_every_page(store: Store) -> None:
    """By job or of all jobs, beside rows of any state, and after the run has ended too."""
    mails = [enqueued(store, due_in=-number * MINUTE) for number in range(1, 10)]
    lone = enqueued(store, job="bill", due_in=-5 * MINUTE)
    session = session_of(store)
    running = [claimed(store, each, session) for each in (mails[1], mails[4], mails[5], lone)]
    assert succeed(store, running[1]) is Settled.DONE

    def ids(**query: Any) -> list[str]:  # noqa: ANN401
        return [row.id for page in _pages(store, limit=2, **query) for row in page]

    assert ids(job="mail") == mails
    assert ids(job="bill") == [lone]
    assert [each for each in ids() if each != lone] == mails
    assert sorted(ids()) == sorted([*mails, lone])
    assert ids(job="mail", states=frozenset({State.RUNNING})) == [mails[1], mails[5]]
    assert sorted(ids(states=frozenset({State.RUNNING}))) == sorted([mails[1], mails[5], lone])


def test_ranges_come_newest_first(store: Store) -> None:
    """At most the given number is returned."""
    minutely = Every("1m", anchor=now_of(store) - 3 * HOUR)
    view = due_schedule(store, grid=minutely)
    perform(store, plan_disable)
    hourly = Every("5m", anchor=now_of(store) - 3 * HOUR)
    perform(store, plan_edit, to=view.schedule.definition.edited(grid=hourly))
    schedule_id = view.schedule.id

    ranges = store.ranges(schedule_id, limit=100).value

    assert ranges
    assert ranges == sorted(ranges, key=lambda each: each.first, reverse=True)
    assert store.ranges(schedule_id, limit=1).value == ranges[:1]
    assert store.ranges(new_id(), limit=1).value == []


# Schedules


def _names(store: Store, **query: Any) -> list[list[str]]:  # noqa: ANN401
    pages, after = [], ""
    while True:
        page = store.schedules(ScheduleQuery(after=after, **query)).value
        pages.append([schedule.name for schedule in page.items])
        if not page.after:
            return pages
        after = page.after


def test_schedules_come_by_name_in_pages(store: Store) -> None:
    """Deleted ones are not listed; one that comes in meanwhile shifts nothing."""
    names = [f"billing-{number:02}" for number in range(9)]
    for name in reversed(names):
        waiting_schedule(store, name)
    waiting_schedule(store, "billing-gone")
    perform(store, plan_delete, "billing-gone")

    assert _names(store, limit=4) == [names[:4], names[4:8], names[8:]]
    assert _names(store, limit=9) == [names]

    first = store.schedules(ScheduleQuery(limit=4)).value
    assert first.items == tuple(view_of(store, name).schedule for name in names[:4])
    waiting_schedule(store, "a-new-one")
    second = store.schedules(ScheduleQuery(limit=4, after=first.after)).value
    assert [schedule.name for schedule in second.items] == names[4:8]


def test_schedules_are_found_by_tag_and_job(store: Store) -> None:
    """A tag is a whole word."""
    waiting_schedule(store, "a", tags=["eu", "money"])
    waiting_schedule(store, "b", tags=["eu-west"], job="dun")
    waiting_schedule(store, "c", tags=["us"], job="dun")

    assert _names(store, tag="eu") == [["a"]]
    assert _names(store, tag="eu-west") == [["b"]]
    assert _names(store, job="dun") == [["b", "c"]]
    assert _names(store, job="dun", tag="us") == [["c"]]
    assert _names(store, tag="e") == [[]]


def test_schedules_are_found_by_part_of_their_name(store: Store) -> None:
    """In any case; characters of patterns match only themselves."""
    for name in ("Billing EU", "billing us", "100%", "1000", "a_b", "axb", "c\\d"):
        waiting_schedule(store, name)

    assert _names(store, text="BILLING") == [["Billing EU", "billing us"]]
    assert _names(store, text="ng u") == [["billing us"]]
    assert _names(store, text="0%") == [["100%"]]
    assert _names(store, text="a_b") == [["a_b"]]
    assert _names(store, text="\\") == [["c\\d"]]
    assert _names(store, text="nothing") == [[]]
