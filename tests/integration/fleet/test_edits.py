"""Schedules that are stopped, changed, deleted and made again all the time, while a fleet works.

Once a stop is acknowledged nothing of the schedule starts; every slot that passed is on record; and
at rest each schedule has the one row that it should have.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from threading import Event

import pytest

from sempre import Every, Sempre
from sempre.app.jobs import Job
from sempre.domain.schedule import Schedule
from sempre.errors import Contended
from sempre.ports.messages import ExecutionQuery
from sempre.testing.contracts.store.builders import check_invariants, history_of
from tests.integration.fleet.crew import CLOCK, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.pairings import pairing_on
from tests.integration.fleet.reporting import report

Record = Callable[[str, object], None]
NAMES = ("stopped-a", "stopped-b", "moved-a", "moved-b")
EDITS = 240
# About twenty edits a second.
PAUSE = 0.04
SECOND = Every("1s")
# For so many seconds a schedule is edited without a pause.
STORM = 12.0
# The promise is a grace and a sweep, two seconds here; the rest is for a machine that is busy.
LATE = 5.0
FOREVER = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass
class Editor:
    """Changes schedules, and notes when they were stopped."""

    app: Sempre
    job: Job[[], None]
    chance: Random
    stopped: dict[str, datetime] = field(default_factory=dict)
    rests: list[tuple[str, datetime, datetime]] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)
    contended: int = 0

    def create(self, name: str) -> None:
        [created] = self.app.create_schedules([(name, SECOND, self.job)], tolerance="1h")
        assert created

    def edit(self, name: str) -> None:
        """Do one thing to a schedule; a change that others were faster than is none."""
        try:
            if name in self.ways:
                self.let_go_on(name)
            elif self.chance.random() < 0.5:
                self.stop(name)
            else:
                self.change(name)
        except Contended:
            self.contended += 1

    def stop(self, name: str) -> None:
        handle = self.app.schedule(name)
        identity = handle.row.id
        ways = ["disable", "pause"] + ["delete"] * name.startswith("moved")
        way = self.chance.choice(ways)
        getattr(handle, way)()
        self.stopped[name], self.ways[name] = CLOCK.now(), way
        if way == "delete":
            self.rests.append((identity, self.stopped[name], FOREVER))

    def let_go_on(self, name: str) -> None:
        handle, now, way = self.app.schedule(name), CLOCK.now(), self.ways[name]
        if way == "delete":
            self.create(name)
        else:
            self.rests.append((handle.row.id, self.stopped[name], now))
            handle.enable() if way == "disable" else handle.resume()
        del self.ways[name]

    def change(self, name: str) -> None:
        handle = self.app.schedule(name)
        if name.startswith("moved") and self.chance.random() < 0.5:
            handle.move_to(Every(self.chance.choice(("1s", "2s", "3s"))))
        else:
            handle.edit(priority=self.chance.randrange(2000))


@pytest.mark.long
@pytest.mark.parametrize("name", ["postgresql+beanstalkd", "mariadb+store", "redis+redis"])
def test_a_storm_of_edits_loses_no_slot_of_the_schedule_that_is_edited(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="single") as fleet,
    ):
        fleet.join(2)
        fleet.wait_for_first()
        app = Sempre(pairing.store, broker=pairing.broker)
        ends_at, edits = CLOCK.elapsed() + STORM, count()

        while CLOCK.elapsed() < ends_at:
            with suppress(Contended):
                app.schedule("thread-wait").edit(priority=1000 + next(edits) % 1000)

        until = fleet.wait_for_slots(2.0)
        fleet.part()
        finding = fleet.finding(until)
        record_property("fleet", report(fleet, "edit storm", finding))
        assert not finding.lost
        assert not finding.early
        assert not finding.duplicated
        assert finding.lateness[-1] < LATE
        assert next(edits) > STORM
        app.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["sqlite+store", "postgresql+beanstalkd", "mariadb+store", "redis+redis"]
)
def test_what_is_stopped_does_not_start_and_what_passed_is_on_record(
    name: str, tmp_path: Path, record_property: Record
) -> None:
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="edited") as fleet,
    ):
        fleet.join(3)
        fleet.wait_for_first()
        app = Sempre(pairing.store, broker=pairing.broker)
        job = app.job(name="job-edited")(lambda: None)
        editor = Editor(app, job, Random(name))  # noqa: S311 - no secret
        for each in NAMES:
            editor.create(each)

        for number in range(EDITS):
            editor.edit(NAMES[number % len(NAMES)])
            Event().wait(PAUSE)
        for each in list(editor.ways):
            editor.let_go_on(each)
        fleet.healed()
        until = fleet.wait_for_slots(3.0)

        fleet.part()
        finding = fleet.finding(until)
        record_property("fleet", report(fleet, "edits", finding))
        assert not finding.lost
        assert not finding.early
        assert not finding.doubled
        assert not finding.duplicated
        log = read_log(tmp_path)
        assert not [each for each in log if each["at"] < each["due"]]
        assert {each["schedule"] for each in log} >= set(NAMES)
        assert editor.contended < EDITS / 4
        nothing_started_at_rest(app, editor)
        for each in NAMES:
            check_invariants(app.engine.store, each)
        for each in NAMES[:2]:
            every_slot_is_on_record(app, app.schedule(each).row)
        app.close()


def nothing_started_at_rest(app: Sempre, editor: Editor) -> None:
    assert editor.rests
    store = app.engine.store
    for identity in {each[0] for each in editor.rests}:
        spans = [(since, until) for known, since, until in editor.rests if known == identity]
        rows = store.executions(ExecutionQuery(schedule_id=identity, limit=10_000)).value.items
        starts = [at for row in rows for at in (row.first_started_at, row.started_at) if at]
        wrong = [at for at in starts for since, until in spans if since < at < until]
        assert wrong == []


def every_slot_is_on_record(app: Sempre, schedule: Schedule) -> None:
    """Each slot of a grid that never changed has one row, or lies in one stretch."""
    store = app.engine.store
    rows = [row.run_at for row in history_of(store, schedule) if row.occupies_slot]
    ranges = store.ranges(schedule.id, limit=10_000).value
    for slot in SECOND.between(schedule.created_at, schedule.cursor):
        within = sum(each.first <= slot <= each.last for each in ranges)
        assert rows.count(slot) + within == 1, slot
