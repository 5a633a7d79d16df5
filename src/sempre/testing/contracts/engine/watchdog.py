"""Contracts of the watchdog: a pass restores every schedule's invariants and reports what it did.

Contracts write the faults past the engine, as a crash, another version or a person would.
"""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import datetime, timedelta
from typing import Any, Unpack

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import ScheduleChanges
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.engine.events import Happened
from sempre.grids.grid import Grid
from sempre.grids.unknown_grid import ForeignGrid
from sempre.ports.messages import Birth, View
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import TZDATA, draft_schedule, read, row_of

OFTEN = timedelta(microseconds=1)


class _StuckGrid(Grid, name="sempre contract: stuck"):
    """A user's grid whose answer is never later than asked."""

    def after(self, t: datetime) -> datetime | None:
        """Return the given instant."""
        return t


def _write(
    shop: Workshop,
    name: str = "billing",
    *,
    grid: Grid | None = None,
    **fields: Unpack[ScheduleChanges],
) -> Schedule:
    """Write a schedule without a row past the engine, as if it had been started."""
    draft = draft_schedule(shop.bare, name, grid=grid or shop.hourly())
    schedule = copy_with(copy_with(draft, started=True, cursor=shop.now), **fields)
    assert shop.bare.create([Birth(schedule)]) == [True]
    return schedule


def _misplaced(shop: Workshop, *, tzdata: str, **fields: object) -> Execution:
    """Write a schedule whose next row lies ten minutes after its slot."""
    draft = copy_with(draft_schedule(shop.bare, grid=shop.hourly()), started=True, cursor=shop.now)
    schedule = copy_with(draft, next_run_at=shop.ago(-40))
    row = row_of(View(schedule), shop.ago(-40), **({"tzdata": tzdata} | fields))
    assert shop.bare.create([Birth(schedule, (row,))]) == [True]
    return row


def _foreign(shop: Workshop, name: str) -> Execution:
    """Write a schedule on a grid that only another program knows, with a row that is due."""
    grid = ForeignGrid({"grid": "nobody knows", "phase": 3})
    schedule = copy_with(draft_schedule(shop.bare, name, grid=grid), started=True)
    row = row_of(View(schedule), shop.ago(30))
    written = copy_with(schedule, next_run_at=row.run_at)
    assert shop.bare.create([Birth(written, (row,))]) == [True]
    return row


def _passed(worker: DrivenWorker) -> list[dict[str, Any]]:
    """Return the reports of the passes that a worker itself ran."""
    facts = [dict(event.facts) for event in worker.heard(Happened.PERFORMED)]
    return [each for each in facts if each["lock_acquired"]]


def test_a_pass_starts_a_schedule_that_was_never_started(store: Store) -> None:
    """Disabled schedules are left alone."""
    shop = Workshop(store)
    for name, enabled in (("new", True), ("off", False)):
        draft = draft_schedule(store, name, grid=shop.hourly(), enabled=enabled)
        assert store.create([Birth(draft)]) == [True]
    worker = shop.worker()

    worker.heal()

    assert shop.row("new").started
    assert shop.minutes_of(shop.rows("new")) == [30]
    assert not shop.row("off").started
    assert [row.snapshot.name for row in worker.work_off()] == ["new"]


def test_a_pass_restores_a_next_row_that_is_missing(store: Store) -> None:
    """Whether the schedule records no next row, or records a row that does not exist."""
    shop = Workshop(store)
    _write(shop, "knows")
    _write(shop, "thinks", next_run_at=shop.ago(-30))
    worker = shop.worker()

    worker.heal()

    for name in ("knows", "thinks"):
        assert shop.minutes_of(shop.rows(name)) == [-30]
    [told] = _passed(worker)
    assert (told["executions_created"], told["schedules_failed"]) == (2, 0)


def test_a_pass_replaces_a_row_placed_by_older_zones(store: Store) -> None:
    """If the slot lies elsewhere by newer zones."""
    shop = Workshop(store)
    row = _misplaced(shop, tzdata="2025.9")

    shop.worker().heal()

    old = read(store, row.id)
    assert (old.state, old.reason) == (State.SUPERSEDED, "drift: run_at")
    [placed] = [each for each in shop.rows() if each.is_live]
    assert (shop.minutes(placed.run_at), placed.tzdata) == (-30, TZDATA)


def test_a_row_placed_by_newer_zones_is_left_alone(store: Store) -> None:
    """Or two processes with different zones would replace each other's rows for ever."""
    shop = Workshop(store)
    row = _misplaced(shop, tzdata="2099.1")

    shop.worker(watchdog_interval=OFTEN).heal()

    assert read(store, row.id).is_untried
    assert shop.row().next_run_at == row.run_at
    shop.worker(tzdata="2099.2").heal()
    assert read(store, row.id).state is State.SUPERSEDED


def test_a_pass_replaces_a_row_that_has_drifted(store: Store) -> None:
    """No index shows the drift: each pass reads some schedules regardless of their state."""
    shop = Workshop(store)
    schedule = _write(shop, "other")
    before = row_of(View(copy_with(schedule, name="billing")), shop.ago(-30))
    draft = copy_with(draft_schedule(store, grid=shop.hourly(), priority=7), cursor=shop.now)
    drifted = copy_with(draft, started=True, next_run_at=before.run_at)
    assert store.create([Birth(drifted, (copy_with(before, schedule_id=drifted.id),))]) == [True]

    shop.worker().heal()

    assert read(store, before.id).reason == "drift: priority"
    [placed] = [each for each in shop.rows() if each.is_live]
    assert (placed.run_at, placed.snapshot.priority) == (before.run_at, 7)


# Grids of the user's own


def test_a_broken_grid_is_told_and_harms_no_other_schedule(store: Store) -> None:
    """The schedule is marked as broken, without a next row; every pass reads all schedules."""
    shop = Workshop(store)
    _write(shop, "stuck", grid=_StuckGrid())
    _write(shop, "fine")
    worker = shop.worker()

    worker.heal()

    assert "StuckGrid" in shop.row("stuck").broken
    assert shop.row("stuck").next_run_at is None
    assert shop.minutes_of(shop.rows("fine")) == [-30]
    assert [each.schedule.name for each in store.needing_repair(tzdata=TZDATA, limit=10).value] == [
        "stuck"
    ]
    assert worker.heard(Happened.INTERNAL_ERROR) == []


def test_a_due_row_of_a_broken_grid_still_runs(store: Store) -> None:
    """The row has no successor, and the schedule holds the reason."""
    shop = Workshop(store)
    draft = draft_schedule(store, grid=_StuckGrid())
    schedule = copy_with(draft, started=True, next_run_at=shop.ago(30))
    row = row_of(View(schedule), shop.ago(30))
    assert store.create([Birth(schedule, (row,))]) == [True]

    assert [each.id for each in shop.worker().work_off()] == [row.id]

    assert read(store, row.id).state is State.SUCCEEDED
    assert "StuckGrid" in shop.row().broken
    assert shop.row().next_run_at is None


def test_a_schedule_whose_grid_was_broken_goes_on_after_an_edit(store: Store) -> None:
    """On the new grid."""
    shop = Workshop(store)
    _write(shop, grid=_StuckGrid())
    shop.worker().heal()
    assert shop.row().broken

    shop.schedule().move_to(shop.hourly())

    assert (shop.row().broken, shop.row().next_run_at) == ("", shop.ago(-30))


def test_an_unknown_grid_is_left_alone_and_told(store: Store) -> None:
    """Another program knows the grid: this process judges neither the row nor the slots."""
    shop = Workshop(store)
    row = _foreign(shop, "billing")
    _write(shop, "fine")
    before = shop.row()
    worker = shop.worker()

    worker.heal()
    assert worker.work_off() == []

    assert shop.row() == before
    assert read(store, row.id).is_untried
    assert shop.minutes_of(shop.rows("fine")) == [-30]
    told = worker.heard(Happened.UNKNOWN_GRID)
    assert {event.facts["schedule"] for event in told} == {"billing"}
    assert worker.heard(Happened.FAULTY) == []


def test_rows_of_an_unknown_grid_hide_nobody(store: Store) -> None:
    """With any number of due rows in front, and few free places."""
    shop = Workshop(store)
    for number in range(5):
        _foreign(shop, f"foreign-{number}")
    [row] = shop.due(priority=5000).rows

    assert [each.id for each in shop.worker(hands=1).turn()] == [row.id]


# The pass itself


def test_a_pass_is_run_by_one_of_many_workers(store: Store) -> None:
    """All workers learned that the pass is due; the next pass is an interval later."""
    shop = Workshop(store)
    workers = [shop.worker() for _ in range(3)]
    for worker in workers:
        worker.beat()

    for worker in workers:
        worker.maintain()
    for worker in workers:
        worker.heal()

    assert [len(_passed(worker)) for worker in workers] == [1, 0, 0]


def test_what_a_pass_did_is_kept_in_the_store(store: Store) -> None:
    """The next pass continues from that record, on any worker."""
    shop = Workshop(store)
    _write(shop)
    first, second = (shop.worker(watchdog_interval=OFTEN) for _ in range(2))

    first.heal()

    last = store.last_pass().value
    assert last.finished_at is not None
    assert last.report["executions_created"] == 1
    second.heal()
    [told] = _passed(second)
    assert (told["executions_created"], told["schedules_processed"]) == (0, 1)


def test_what_ended_before_retention_is_gone_and_counted(store: Store) -> None:
    """Rows that ended since stay."""
    shop = Workshop(store)
    schedule = copy_with(draft_schedule(store, grid=shop.hourly(), keep=0), started=True)
    day = 24 * 60
    rows = []
    for days in (40, 31, 29):
        begun = shop.ago(days * day)
        times = {"first_started_at": begun, "started_at": begun, "finished_at": begun}
        rows.append(row_of(View(schedule), begun, state=State.SUCCEEDED, attempt=1, **times))
    assert store.create([Birth(schedule, tuple(rows))]) == [True]
    worker = shop.worker()

    worker.heal()

    assert shop.minutes_of(shop.rows())[0] == 29 * day
    [told] = _passed(worker)
    assert told["purged"] == 2
    assert sum(each.count for each in store.rollups(schedule.id).value) == 2
