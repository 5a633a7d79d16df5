"""Contracts of broken grids: an engine reports that a schedule stops, and that it goes on."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from datetime import datetime, timedelta
from typing import Any, ClassVar

from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.grids import Every, Grid
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import waiting_schedule

OFTEN = timedelta(microseconds=1)


class _MoodyGrid(Grid, name="sempre contract: moody"):
    """A user's grid: hourly, except while it raises."""

    raises: ClassVar[bool] = False

    def __init__(self, anchor: str) -> None:
        """Count from an anchor."""
        self.anchor = anchor

    def after(self, t: datetime) -> datetime | None:
        """Return the next slot, or raise."""
        if _MoodyGrid.raises:
            message = "the calendar is not there"
            raise LookupError(message)
        return Every("1h", anchor=self.anchor).after(t)

    def parameters(self) -> dict[str, Any]:
        """Return the anchor."""
        return {"anchor": self.anchor}


class _Mood:
    """Lets every moody grid raise for a while."""

    def __enter__(self) -> None:
        _MoodyGrid.raises = True

    def __exit__(self, *_: object) -> None:
        _MoodyGrid.raises = False


def _moody(shop: Workshop) -> _MoodyGrid:
    return _MoodyGrid(shop.ago(30).isoformat())


def _told(worker: DrivenWorker, name: Happened) -> list[str]:
    """Return the schedules that a worker reported."""
    return [str(event.facts["schedule"]) for event in worker.heard(name)]


def _failed(worker: DrivenWorker) -> list[int]:
    """Return how many schedules failed in each pass of a worker."""
    facts = [event.facts for event in worker.heard(Happened.PERFORMED)]
    return [each["schedules_failed"] for each in facts if each["lock_acquired"]]


def test_a_pass_that_finds_the_grid_broken_says_so_once_and_leaves_the_row(store: Store) -> None:
    """The row that waits is all that such a schedule has left."""
    shop = Workshop(store)
    [row] = waiting_schedule(store, grid=_moody(shop)).rows
    worker = shop.worker(watchdog_interval=OFTEN)

    with _Mood():
        for _ in range(3):
            worker.heal()

    assert _told(worker, Happened.SCHEDULE_BROKEN) == ["billing"]
    [event] = worker.heard(Happened.SCHEDULE_BROKEN)
    assert "the calendar is not there" in str(event.facts["error"])
    assert [each.id for each in shop.rows() if each.is_live] == [row.id]
    assert shop.row().next_run_at == row.run_at


def test_a_broken_grid_counts_as_failed_in_every_pass(store: Store) -> None:
    """Once per pass, even if several parts of the pass read the schedule."""
    shop = Workshop(store)
    waiting_schedule(store, grid=_moody(shop))
    waiting_schedule(store, "fine")
    worker = shop.worker(watchdog_interval=OFTEN)

    with _Mood():
        worker.heal()
        worker.heal()
    worker.heal()

    assert _failed(worker) == [1, 1, 0]


def test_an_application_that_heals_says_so(store: Store) -> None:
    """By itself, in a later pass."""
    shop = Workshop(store)
    waiting_schedule(store, grid=_moody(shop))
    worker = shop.worker(watchdog_interval=OFTEN)
    with _Mood():
        worker.heal()

    worker.heal()
    worker.heal()

    assert _told(worker, Happened.SCHEDULE_MENDED) == ["billing"]
    assert shop.row().broken == ""
    assert len([each for each in shop.rows() if each.is_live]) == 1


def test_a_claim_that_finds_the_grid_broken_says_so_once(store: Store) -> None:
    """The due row runs, and has no successor until the grid works again."""
    shop = Workshop(store)
    [row] = shop.due(grid=_moody(shop)).rows
    worker = shop.worker(watchdog_interval=OFTEN)

    with _Mood():
        begun = worker.work_off()
    worker.heal()

    assert [each.id for each in begun] == [row.id]
    assert shop.rows()[0].state is State.SUCCEEDED
    assert _told(worker, Happened.SCHEDULE_BROKEN) == ["billing"]
    assert _told(worker, Happened.SCHEDULE_MENDED) == ["billing"]
    assert shop.row().next_run_at == shop.ago(-30)


def test_a_verb_that_finds_the_grid_broken_says_so(store: Store) -> None:
    """An operator's edit meets the broken grid before any pass."""
    shop = Workshop(store)
    waiting_schedule(store, grid=_moody(shop))
    worker = shop.worker()

    with _Mood():
        StoredSchedule(worker.engine, "billing").edit(priority=7)

    assert _told(worker, Happened.SCHEDULE_BROKEN) == ["billing"]
    [live] = [each for each in shop.rows() if each.is_live]
    assert live.snapshot.priority == 7
