"""Allora's README: one schedule on many machines, and a daemon that comes back."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Signal

import pytest

from sempre import Cron, Every, Grid, Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.testing.polling import eventually
from tests.integration.fleet.pairings import pairing_on
from tests.promises.driven import NOON, Hand, worker_of
from tests.promises.machines import machine

BEFORE_MIDNIGHT = datetime(2026, 11, 15, 23, 58, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 16, tzinfo=UTC)


# Any block will do


def test_what_a_block_returns_does_not_matter() -> None:
    app = Sempre("memory://")
    calls: list[int] = []

    def empty_cache() -> subprocess.CompletedProcess[str]:
        calls.append(1)
        return subprocess.CompletedProcess(["rake", "cache:clear"], 0)

    app.add("empty_cache", Every("1h"), empty_cache, retry=3)
    with app.testing(NOON) as t:
        t.travel("1h")

        [row] = [each for each in t.executions("empty_cache") if each.started_at]
    assert (row.state, row.attempt, calls) == (State.SUCCEEDED, 1, [1])


def test_a_job_that_the_store_does_not_know_gets_its_first_time_when_a_worker_starts() -> None:
    clock = Hand()
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)
    app.add("old", Every("1h"), lambda: None)
    with app.running(burst=True):
        [first] = app.schedule("old").executions()
    app.add("new", Every("2h"), lambda: None)
    assert [each.name for each in app.schedules] == ["old"]

    with app.running(burst=True):
        pass

    [row] = app.schedule("new").executions()
    assert (row.run_at, row.is_live) == (NOON + timedelta(hours=2), True)
    assert app.schedule("old").executions() == [first]


# On many machines


@dataclass(frozen=True)
class Shift:
    """What two machines did with the schedule of `examples/allora.py` in some seconds."""

    rows: list[Execution]
    names: set[str]
    logs: list[list[str]]
    stayed: list[bool]
    codes: list[int]


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shift]:
    folder = tmp_path_factory.mktemp("machines")
    with (
        pairing_on("redis+store", folder) as pairing,
        machine(folder / "one.log", "allora.py", pairing.store) as one,
        machine(folder / "two.log", "allora.py", pairing.store) as two,
    ):
        machines = (one, two)

        def say() -> list[list[str]]:
            return [each.lines for each in machines]

        eventually(
            lambda: all(any("working on" in line for line in each.lines) for each in machines),
            otherwise=say,
        )
        app = Sempre(pairing.store)

        def succeeded() -> list[Execution]:
            rows = app.schedule("every-few-seconds").executions()
            return [row for row in rows if row.state is State.SUCCEEDED]

        eventually(lambda: len(succeeded()) > 1, otherwise=say)
        stayed = [each.is_in_the_foreground for each in machines]
        codes = [each.stop() for each in machines]
        names = {each.name for each in app.schedules}
        yield Shift(app.schedule("every-few-seconds").executions(), names, say(), stayed, codes)
        app.close()


def test_a_job_runs_on_one_of_many_machines_only(shift: Shift) -> None:
    done = [row for row in shift.rows if row.state is State.SUCCEEDED]
    told = [line for log in shift.logs for line in log if "every-few-seconds succeeded" in line]

    assert len({row.run_at for row in done}) == len(done) >= 2
    assert {row.attempt for row in done} == {1}
    assert len(told) == len(done)


def test_machines_that_declare_the_same_schedule_share_it(shift: Shift) -> None:
    assert shift.names == {"empty_cache", "update_stats", "every-few-seconds"}
    assert len([row for row in shift.rows if row.is_live]) == 1


def test_the_daemon_stays_in_the_foreground_and_logs(shift: Shift) -> None:
    assert shift.stayed == [True, True]
    assert shift.codes == [0, 0]
    for log in shift.logs:
        assert any("working on redis://" in line for line in log)


def test_in_memory_every_machine_runs_the_job_for_itself() -> None:
    ran = [Signal(), Signal()]
    machines = [Sempre("memory://"), Sempre("memory://")]
    for app, signal in zip(machines, ran, strict=True):
        app.add("clean", Every("1s"), signal.set)

    with machines[0].running(), machines[1].running():
        eventually(lambda: all(signal.is_set() for signal in ran))


# Coming back


def daemon(path: Path, clock: Hand, grid: Grid) -> Sempre:
    """Return the program of a schedule, as if it was just started."""
    store = SqlStore(Sqlite(str(path), clock=clock))
    app = Sempre(store, broker=StoreBroker(), clock=clock)
    app.add("job", grid, lambda: None)
    return app


def test_stopped_before_midnight_and_started_after_it_the_midnight_job_still_runs(
    tmp_path: Path,
) -> None:
    before = daemon(tmp_path / "jobs.db", Hand(BEFORE_MIDNIGHT), Cron("0 0 * * *"))
    assert worker_of(before).work_off() == []
    before.close()

    after = daemon(tmp_path / "jobs.db", Hand(MIDNIGHT + timedelta(minutes=1)), Cron("0 0 * * *"))
    begun = worker_of(after).work_off()

    assert [row.run_at for row in begun] == [MIDNIGHT]
    assert after.schedule("job").row.next_run_at == MIDNIGHT + timedelta(days=1)
    after.close()


def test_what_is_overdue_runs_once_and_then_the_schedule_is_back_in_the_present(
    tmp_path: Path,
) -> None:
    before = daemon(tmp_path / "jobs.db", Hand(NOON), Every("1h"))
    worker_of(before).work_off()
    before.close()

    clock = Hand(NOON + timedelta(hours=5, minutes=30))
    after = daemon(tmp_path / "jobs.db", clock, Every("1h"))
    begun = worker_of(after).work_off()

    assert [row.run_at for row in begun] == [NOON + timedelta(hours=1)]
    assert after.schedule("job").row.next_run_at == NOON + timedelta(hours=6)
    [missed] = after.engine.store.ranges(after.schedule("job").row.id, limit=10).value
    assert (missed.count, missed.reason) == (4, "missed")
    after.close()


# Schedules are code


class After(Grid, name="promise: so many hours after"):
    """Allora's EveryJob: so long after whatever it is asked about."""

    def __init__(self, *, hours: int) -> None:
        self.hours = hours

    def after(self, t: datetime) -> datetime | None:
        return t + timedelta(hours=self.hours)

    def parameters(self) -> dict[str, object]:
        return {"hours": self.hours}


@pytest.mark.parametrize(
    ("grid", "first"),
    [
        (Every(3600), NOON + timedelta(hours=1)),
        (Every("1 hour"), NOON + timedelta(hours=1)),
        (Every(timedelta(hours=1)), NOON + timedelta(hours=1)),
        (Cron("0 2,14 * * *"), NOON + timedelta(hours=2)),
        (After(hours=5), NOON + timedelta(hours=5)),
    ],
    ids=["seconds", "words", "timedelta", "cron", "a grid of one's own"],
)
def test_a_job_is_added_by_name_with_an_interval_a_cron_text_or_an_own_rule(
    grid: Grid, first: datetime
) -> None:
    clock = Hand()
    app = Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock)
    app.add("update_stats", grid, lambda: None)
    worker = worker_of(app)
    clock.move(seconds=(first - NOON).total_seconds())

    assert [(row.snapshot.name, row.run_at) for row in worker.turn()] == [("update_stats", first)]


def test_start_without_joining_returns_a_handle_and_the_job_runs() -> None:
    ran = Signal()
    app = Sempre("memory://")
    app.add("job", Every("1s"), ran.set)

    handle = app.start(join=False)

    assert handle is not None
    eventually(ran.is_set)
    handle.end()


class Diary(MemoryStore):
    """A store of one's own: here one that notes what was claimed of it."""

    def __init__(self) -> None:
        super().__init__()
        self.claims = 0

    def claim(self, *args: object, **options: object) -> list[Execution | None]:
        claimed: list[Execution | None] = super().claim(*args, **options)  # type: ignore[arg-type]
        self.claims += len(claimed)
        return claimed


def test_a_store_of_ones_own_takes_the_place_of_those_that_come_along() -> None:
    ran, store = Signal(), Diary()
    app = Sempre(store)
    app.add("job", Every("1s"), ran.set)

    with app.running():
        eventually(ran.is_set)

    assert store.claims >= 1
