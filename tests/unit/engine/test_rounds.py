"""The rounds of the watchdog: the store checks every schedule, and a few are looked at in full."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

import pytest

from sempre import Cron, Sempre
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.engine import pass_report, watchdog
from sempre.engine.pass_report import PassReport
from sempre.ports.messages import Reading, View
from sempre.stores.memory import MemoryStore

COUNT = 12


class HarmedStore(MemoryStore):
    """A store that people write into past all plans, and that counts what is looked at in full."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at = 0

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        self.looked_at += len(names)
        return super().views(names)

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        found = super().slice(after=after, limit=limit)
        self.looked_at += len(found.value)
        return found

    def all(self) -> list[Schedule]:
        return sorted(self.tables.schedules.values(), key=lambda each: each.id)

    def supersede_rows(self, schedule: Schedule) -> None:
        """End the next row, with nothing in the schedule that tells of it."""
        for row in list(self.tables.rows_of(schedule.id)):
            self.tables.put(copy_with(row, state=State.SUPERSEDED))

    def move_row(self, schedule: Schedule) -> datetime:
        """Place the next row and what the schedule says of it where the grid has no slot."""
        [row] = self.tables.rows_of(schedule.id)
        moved = row.run_at + timedelta(seconds=1)
        self.tables.put(copy_with(row, run_at=moved, due_at=moved))
        self.tables.schedules[schedule.id] = copy_with(schedule, next_run_at=moved)
        return moved

    def pass_due(self, **report: object) -> None:
        """Let a pass be due that goes on where another one ended."""
        self.tables.maintenance = None
        assert self.begin_pass(holder="before", every=timedelta(0)) is not None
        self.finish_pass(holder="before", report=asdict(PassReport(**report)))  # type: ignore[arg-type]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> HarmedStore:
    monkeypatch.setattr(watchdog, "BATCH", 3)
    # Finds all that is missing by looking at every row, which no other store can afford.
    monkeypatch.setattr(
        HarmedStore, "needing_repair", lambda self, **_: Reading(self.clock.now(), [])
    )
    return HarmedStore()


@pytest.fixture
def app(store: HarmedStore) -> Sempre:
    app = Sempre(store)

    @app.job
    def report() -> None: ...

    grid = Cron("0 3 1 1 *")
    app.create_schedules((f"s{number}", grid, report) for number in range(COUNT))
    return app


def test_a_row_that_is_gone_behind_our_back_is_restored_when_its_schedules_turn_comes(
    app: Sempre, store: HarmedStore
) -> None:
    lost = store.all()[4]
    store.supersede_rows(lost)
    store.pass_due(looked_after=store.all()[8].id, last_round=COUNT)

    first = app.watchdog.perform()
    store.pass_due(**{name: getattr(first, name) for name in pass_report.KEPT})
    second = app.watchdog.perform()

    assert [each.executions_created for each in (first, second)] == [0, 1]
    assert [each.schedules_processed for each in (first, second)] == [3, 3]
    assert [row.is_live for row in store.views([lost.name]).value[0].rows] == [True]


def test_as_many_are_checked_in_a_day_as_there_are_whatever_is_looked_at_in_full(
    app: Sempre, store: HarmedStore
) -> None:
    store.supersede_rows(store.all()[-1])
    store.pass_due(last_round=COUNT * 288)

    report = app.watchdog.perform()

    assert (report.schedules_processed, report.executions_created) == (COUNT, 1)
    assert (report.slice_after, report.last_round) == ("", COUNT)
    assert store.looked_at == 3 + 1


def test_a_row_that_is_not_at_its_slot_is_found_when_its_schedule_is_looked_at_in_full(
    app: Sempre, store: HarmedStore
) -> None:
    schedule = store.all()[10]
    moved = store.move_row(schedule)
    reports = [PassReport()]

    for _ in range(4):
        store.pass_due(**{name: getattr(reports[-1], name) for name in pass_report.KEPT})
        reports.append(app.watchdog.perform())

    assert [each.executions_created for each in reports[1:]] == [0, 0, 0, 1]
    assert app.schedule(schedule.name).row.next_run_at == moved - timedelta(seconds=1)


def test_the_round_of_full_looks_begins_again_at_its_end(app: Sempre, store: HarmedStore) -> None:
    store.pass_due(looked_after=store.all()[-2].id)

    assert app.watchdog.perform().looked_after == ""
