"""Contracts of rows that a process cannot read: the engine reports them and leaves them alone."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

import pytest

from sempre.domain.states import State
from sempre.engine import rescuer, watchdog
from sempre.engine.events import Happened
from sempre.engine.rescuer import Rescuer
from sempre.engine.watchdog import Watchdog
from sempre.errors import UnreadableRow
from sempre.ports.messages import Birth, ExecutionQuery, ScheduleQuery
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker, ForgetfulBroker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import (
    MINUTE,
    draft_schedule,
    enqueued,
    read,
    session_of,
    view_of,
    wanted,
)
from sempre.testing.contracts.unreadable_rows.spoil import Spoil


def _shop(store: Store) -> Workshop:
    """Return a workshop without the audit, which reads more than this process can."""
    shop = Workshop(store)
    shop.store = shop.bare
    return shop


def _names(worker: DrivenWorker) -> set[str]:
    return {str(event.facts["schedule"]) for event in worker.heard(Happened.UNREADABLE)}


def test_rows_that_cannot_be_read_hide_no_slot(store: Store, spoil: Spoil) -> None:
    """With any number of unreadable rows in front and few free places; once readable they run."""
    shop = _shop(store)
    undo = [spoil("schedules", shop.due(f"new-{n}", priority=1).schedule.id) for n in range(12)]
    for number in range(3):
        shop.due(f"old-{number}", priority=5000)
    worker = shop.worker(hands=1)

    begun = {row.snapshot.name for row in worker.work_off()}

    assert begun == {"old-0", "old-1", "old-2"}
    assert _names(worker) == {f"new-{number}" for number in range(12)}
    assert len(worker.heard(Happened.UNREADABLE)) == 12, "each is told of once"
    for each in undo:
        each()
    assert {row.snapshot.name for row in shop.worker().work_off()} == _names(worker)


def test_a_schedule_is_left_alone_whose_next_row_cannot_be_read(store: Store, spoil: Spoil) -> None:
    """No process writes another next row, or treats the row as lost."""
    shop = _shop(store)
    view = shop.due("billing")
    undo = spoil("executions", view.rows[0].id)
    shop.due("fine")
    worker = shop.worker()

    worker.heal()
    begun = [row.snapshot.name for row in worker.work_off()]
    worker.heal()
    undo()

    assert begun == ["fine"]
    assert _names(worker) == {"billing"}
    assert view_of(store) == view
    assert [row.id for row in shop.worker().work_off()] == [view.rows[0].id]


def test_one_off_work_that_cannot_be_read_is_never_claimed_and_hides_none(
    store: Store, spoil: Spoil
) -> None:
    """Also where ids are asked for, as tickets do."""
    shop = _shop(store)
    new = [enqueued(store, priority=1) for _ in range(12)]
    undo = [spoil("executions", each) for each in new]
    old = [enqueued(store, priority=5000) for _ in range(3)]
    worker = shop.worker(hands=1)

    begun = [row.id for row in worker.work_off()]

    assert sorted(begun) == sorted(old)
    assert len(worker.heard(Happened.UNREADABLE)) == 12
    for each in undo:
        each()
    rows = [read(store, each) for each in new]
    assert {(row.is_untried, row.attempt, row.fence) for row in rows} == {(True, 0, 0)}
    assert sorted(row.id for row in shop.worker().work_off()) == sorted(new)


def test_what_is_taken_is_the_same_whether_all_can_be_read_or_not(
    store: Store, spoil: Spoil
) -> None:
    """In the order of priority, and equal to a read by id."""
    session, few = session_of(store), wanted(limit=2)
    first, second = (enqueued(store, priority=n, args={"n": n}) for n in (1, 2))
    plain = store.claim_one_off(few, session=session)
    new, _, third, fourth = (
        enqueued(store, priority=n, args={"n": [n, None, "ä"]}, timeout=n * MINUTE)
        for n in (3, 6, 4, 5)
    )
    spoil("executions", new)
    careful = [store.claim_one_off(few, session=session) for _ in range(2)]

    assert [row.id for row in plain.value] == [first, second]
    assert [row.id for row in careful[0].value] == [third, fourth]
    assert [each.id for each in careful[0].unreadable] == [new]
    for row in (*plain.value, *careful[0].value, *careful[1].value):
        assert row == read(store, row.id)


def test_a_sweep_looks_past_runs_that_cannot_be_read(
    store: Store, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executions of a dead worker are taken back, past any unreadable rows."""
    monkeypatch.setattr(rescuer, "BATCH", 2)
    shop = _shop(store)
    lost = shop.worker(holding=True)
    ids = [enqueued(store) for _ in range(8)]
    lost.turn()
    for each in sorted(ids)[:-1]:
        spoil("executions", each)
    store.retire(lost.heartbeat.session)

    assert Rescuer(shop.engine()).rescue() == 1

    assert read(store, max(ids)).state is not State.RUNNING


def test_a_pass_looks_past_schedules_that_cannot_be_read(
    store: Store, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schedule without a next row gets one, past any unreadable schedules."""
    monkeypatch.setattr(watchdog, "BATCH", 2)
    shop = _shop(store)
    drafts = [draft_schedule(store, f"{n}", grid=shop.hourly()) for n in range(8)]
    assert all(store.create([Birth(draft) for draft in drafts]))
    last = max(drafts, key=lambda each: each.id)
    for draft in drafts:
        if draft is not last:
            spoil("schedules", draft.id)
    worker = shop.worker()

    worker.heal()

    assert view_of(store, last.name).schedule.started
    [told] = [each.facts for each in worker.heard(Happened.PERFORMED)]
    assert (told["lock_acquired"], told["schedules_unreadable"]) == (True, 7)
    assert told["schedules_failed"] == 0


def test_a_whole_round_goes_past_schedules_that_cannot_be_read(
    store: Store, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watchdog reads every schedule in batches; each pass resumes where the last ended."""
    monkeypatch.setattr(watchdog, "BATCH", 2)
    shop = _shop(store)
    views = [shop.due(f"{number}") for number in range(6)]
    ids = sorted(view.schedule.id for view in views)
    for each in ids[:4]:
        spoil("schedules", each)
    dog = Watchdog(shop.engine())

    report = dog.force()

    assert (report.schedules_processed, report.schedules_unreadable) == (2, 4)
    assert report.looked_after == ids[1], "the slice of the pass ended there"


def test_a_ticket_of_what_cannot_be_read_is_left_to_others(store: Store, spoil: Spoil) -> None:
    """The ticket is put back, like a ticket of a job that is unknown here."""
    shop, broker = _shop(store), ForgetfulBroker()
    view = shop.due()
    worker = shop.worker(broker=broker)
    worker.beat()
    worker.engine.bell.ring(view.rows, shop.now)
    spoil("schedules", view.schedule.id)

    assert worker.work_off() == []

    lane = worker.engine.bell.lane("default")
    assert any(view.rows[0].id in body for body in broker.bodies(lane))


def test_every_page_goes_past_rows_that_cannot_be_read(store: Store, spoil: Spoil) -> None:
    """A page may be short or empty, and yet not the last one."""
    shop = _shop(store)
    views = {f"{number}": shop.due(f"{number}") for number in range(6)}
    for name in ("0", "1", "3"):
        spoil("schedules", views[name].schedule.id)
    for name in ("2", "4"):
        spoil("executions", views[name].rows[0].id)

    names, unread, after = [], [], ""
    while True:
        reading = store.schedules(ScheduleQuery(limit=2, after=after))
        names += [each.name for each in reading.value.items]
        unread += [each.name for each in reading.unreadable]
        after = reading.value.after
        if not after:
            break

    assert (names, unread) == (["2", "4", "5"], ["0", "1", "3"])
    assert [each.schedule.name for each in store.slice(after="", limit=9).value] == ["5"]
    found = store.executions(ExecutionQuery(limit=9))
    assert sorted(each.name for each in found.unreadable) == ["2", "4"]
    assert sorted(row.snapshot.name for row in found.value.items) == ["0", "1", "3", "5"]


def test_one_that_was_asked_for_by_name_is_an_error_with_the_remedy(
    store: Store, spoil: Spoil
) -> None:
    """The row exists, so an error "not found" would be wrong."""
    shop = _shop(store)
    view = shop.due("billing")
    spoil("schedules", view.schedule.id)

    with pytest.raises(UnreadableRow, match=r"billing.*cannot be read here.*Upgrade Sempre"):
        shop.schedule("billing").enable()

    app = shop.app()
    app.add("billing", shop.hourly(), app.job(name="bill")(lambda: None))
    assert app.sync().created == ()


def test_what_ran_is_recorded_though_its_schedule_cannot_be_read_any_more(
    store: Store, spoil: Spoil
) -> None:
    """A newer release edited the schedule during the run."""
    shop = _shop(store)
    view = shop.due("billing")
    worker = shop.worker(holding=True)
    [begun] = worker.turn()
    undo = spoil("schedules", view.schedule.id)

    worker.end(begun)
    undo()

    assert read(store, begun.id).state is State.SUCCEEDED
