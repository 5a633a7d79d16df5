"""Contracts of an operator's verbs: skip, pause, disable, trigger, edit and delete, and what runs.

Each is performed through a handle, as users do, between the steps of a worker.
"""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

import pytest

from sempre.domain.states import Kind, State
from sempre.errors import NotFound, Refused
from sempre.grids import Every
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import now_of, read

# Skip


def test_a_skipped_slot_does_not_run_and_the_one_after_it_does(store: Store) -> None:
    """The skip is a row that names the caller; the cursor does not move."""
    shop = Workshop(store)
    shop.due()
    shop.worker().work_off()
    cursor = shop.row().cursor

    slot = shop.schedule().skip()

    assert slot == shop.ago(-30)
    assert (shop.row().cursor, shop.row().next_run_at) == (cursor, shop.ago(-90))
    [skipped] = [row for row in shop.rows() if row.state is State.SKIPPED]
    assert (skipped.run_at, skipped.reason, skipped.actor) == (slot, "requested", "operator")
    assert shop.worker().turn() == []


def test_an_unskipped_slot_has_its_row_again(store: Store) -> None:
    """The slot after it is no longer next."""
    shop = Workshop(store)
    shop.due()
    shop.worker().work_off()
    handle = shop.schedule()
    slots = [handle.skip(), handle.skip()]
    assert shop.row().next_run_at == shop.ago(-150)

    handle.unskip(slots[0])

    assert shop.row().next_run_at == slots[0]
    assert [shop.minutes(row.run_at) for row in shop.rows() if row.is_live] == [-30]
    handle.unskip(slots[1])
    assert shop.row().next_run_at == slots[0]


def test_what_has_passed_cannot_be_skipped(store: Store) -> None:
    """Nor unskipped: a decision is final."""
    shop = Workshop(store)
    shop.due()
    handle = shop.schedule()

    with pytest.raises(Refused):
        handle.skip(shop.ago(30))
    with pytest.raises(Refused):
        handle.unskip(shop.ago(30))

    assert shop.minutes_of(shop.worker().work_off()) == [30]


# Pause and disable


def test_a_due_slot_of_a_paused_schedule_is_skipped(store: Store) -> None:
    """The row holds the reason; slots that passed earlier were not paused."""
    shop = Workshop(store)
    shop.behind(catch_up=True)

    shop.schedule().pause(note="migration")

    assert shop.worker().work_off() == []
    assert shop.told() == [(44, "skipped")]
    assert [row.reason for row in shop.rows()] == ["paused"]
    assert [(each.count, each.reason) for each in shop.ranges()] == [(4, "missed")]
    assert shop.row().next_run_at is None


def test_a_pause_until_an_instant_places_the_first_slot_after_it(store: Store) -> None:
    """So the schedule resumes by itself."""
    shop = Workshop(store)
    shop.behind()

    shop.schedule().pause(until=shop.ago(-10))

    assert shop.row().next_run_at == shop.ago(-16)
    assert shop.worker().work_off() == []


def test_a_resumed_schedule_goes_on_with_its_next_slot(store: Store) -> None:
    """Paused slots are not made up for, even if the schedule catches up after a downtime."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    handle = shop.schedule()
    handle.pause()

    handle.resume()

    assert shop.row().pause is None
    assert shop.row().next_run_at == shop.ago(-6)
    assert shop.worker().work_off() == []


def test_a_due_slot_of_a_disabled_schedule_is_skipped(store: Store) -> None:
    """The row holds the reason; no row of the schedule starts."""
    shop = Workshop(store)
    shop.due()

    shop.schedule().disable()

    assert shop.worker().work_off() == []
    [row] = shop.rows()
    assert (row.state, row.reason, row.actor) == (State.SKIPPED, "disabled", "operator")


def test_an_enabled_schedule_goes_on_with_its_next_slot(store: Store) -> None:
    """From now on."""
    shop = Workshop(store)
    shop.behind(catch_up=True)
    handle = shop.schedule()
    handle.disable()

    handle.enable()

    assert shop.row().next_run_at == shop.ago(-6)
    assert shop.worker().work_off() == []


def test_a_retry_that_waits_is_cancelled_by_a_disable(store: Store) -> None:
    """So no row of the schedule is left that could start."""
    shop = Workshop(store)
    retry = shop.tried(failures=1, retry=3)

    shop.schedule().disable()

    ended = read(store, retry.id)
    assert (ended.state, ended.reason) == (State.CANCELLED, "disabled")
    assert shop.worker().work_off() == []


def test_a_run_of_a_schedule_that_is_stopped_meanwhile_finishes(store: Store) -> None:
    """No worker ends the run, and the result counts."""
    for name in ("disabled", "paused", "deleted"):
        shop = Workshop(store)
        shop.due(name)
        worker = shop.worker(holding=True)
        [row] = worker.turn()
        handle = shop.schedule(name)
        verbs = {"disabled": "disable", "paused": "pause", "deleted": "delete"}
        getattr(handle, verbs[name])()

        worker.beat()
        worker.end(row)

        assert worker.hands.asked == {}
        assert read(store, row.id).state is State.SUCCEEDED


def test_repeating_a_verb_changes_nothing(store: Store) -> None:
    """Neither the revision nor any row."""
    shop = Workshop(store)
    shop.due()
    handle = shop.schedule()
    for verb in (handle.start, handle.enable, handle.disable, handle.pause, handle.resume):
        verb()
        before = shop.row(), shop.rows()

        verb()

        assert (shop.row(), shop.rows()) == before


# Trigger


def test_a_trigger_runs_at_once_and_moves_no_slot(store: Store) -> None:
    """The run is a separate row that names the caller."""
    shop = Workshop(store)
    shop.due()
    worker = shop.worker()
    worker.work_off()
    before = shop.row()

    asked = shop.schedule().trigger()

    [begun] = worker.work_off()
    assert (begun.id, begun.kind, begun.actor) == (asked.id, Kind.MANUAL, "operator")
    after = shop.row()
    assert (after.cursor, after.next_run_at) == (before.cursor, before.next_run_at)


def test_a_disabled_schedule_can_be_triggered_and_nothing_else_of_it_starts(store: Store) -> None:
    """Also if the schedule is paused, or both."""
    shop = Workshop(store)
    shop.due()
    handle = shop.schedule()
    handle.disable()
    handle.pause()

    asked = handle.trigger()

    assert [row.id for row in shop.worker().work_off()] == [asked.id]
    assert read(store, asked.id).state is State.SUCCEEDED


# Edit and delete


def test_an_edit_replaces_a_row_that_is_to_come(store: Store) -> None:
    """The new row has an equal slot and the current declaration."""
    shop = Workshop(store)
    shop.due()
    shop.worker().work_off()
    [before] = [row for row in shop.rows() if row.is_live]

    shop.schedule().edit(priority=7, queue="slow")

    [after] = [row for row in shop.rows() if row.is_live]
    assert after.run_at == before.run_at
    assert (after.snapshot.priority, after.snapshot.queue) == (7, "slow")
    old = read(store, before.id)
    assert (old.state, old.reason) == (State.SUPERSEDED, "drift: queue, priority")


def test_a_due_row_runs_by_what_it_was_created_with(store: Store) -> None:
    """The successor follows the current declaration."""
    shop = Workshop(store)
    shop.due(priority=5)

    shop.schedule().edit(priority=7)

    [begun] = shop.worker().work_off()
    assert begun.snapshot.priority == 5
    [waiting] = [row for row in shop.rows() if row.is_live]
    assert waiting.snapshot.priority == 7


def test_an_edit_of_the_grid_decides_what_has_passed(store: Store) -> None:
    """The due row still runs; later slots that passed are one range, marked as edited."""
    shop = Workshop(store)
    shop.behind(catch_up=True)

    shop.schedule().move_to(Every("2h", anchor=shop.ago(60)))

    assert shop.minutes_of(shop.worker().work_off()) == [44]
    assert [(each.count, each.reason) for each in shop.ranges()] == [(4, "edited")]
    assert shop.row().next_run_at == shop.ago(-60)


def test_a_deleted_schedule_leaves_what_is_due_to_run_without_a_successor(store: Store) -> None:
    """The due row runs from its snapshot; no row is left waiting."""
    shop = Workshop(store)
    [due] = shop.due().rows
    shop.due("other")
    shop.schedule().delete()
    with pytest.raises(NotFound):
        shop.schedule().pause()

    begun = shop.worker().work_off()

    assert due.id in [row.id for row in begun]
    assert read(store, due.id).state is State.SUCCEEDED
    assert {row.snapshot.name for row in begun} == {"billing", "other"}
    assert shop.worker().turn() == []


def test_a_name_can_be_used_again_after_a_delete(store: Store) -> None:
    """The new schedule is another one, with a separate history."""
    shop = Workshop(store)
    before = shop.due().schedule
    shop.schedule().delete()

    after = shop.due().schedule

    assert after.id != before.id
    begun = shop.worker().work_off()
    assert {row.schedule_id for row in begun} == {before.id, after.id}
    assert [row.schedule_id for row in shop.rows()] == [after.id] * 2
    assert shop.row().cursor <= now_of(store)
