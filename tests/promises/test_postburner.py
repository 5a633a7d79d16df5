"""Postburner's Schedule: what lies on the grid, what is queued, what an edit does.

The promises of its Scheduler are in `test_watchdog.py`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest

from sempre import Cron, Every, Sempre
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.brokers.store import StoreBroker
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.errors import Contended
from sempre.grids.grid import Grid
from sempre.ports.messages import Birth
from sempre.stores.memory import MemoryStore
from tests.integration.brokers.beanstalkd_server import BeanstalkdServer, beanstalkd_server
from tests.promises.driven import NOON, Hand, worker_of
from tests.promises.tubes import peek

ANCHOR = datetime.fromisoformat("2026-01-31T09:00:00+00:00")


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def app(clock: Hand) -> Sempre:
    # A lease that outlives the jumps of the clock, so that its worker is the same all the time.
    return Sempre(MemoryStore(clock), broker=StoreBroker(), clock=clock, lease="3h")


@pytest.fixture(scope="module")
def server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


def hour(number: int) -> datetime:
    return NOON + timedelta(hours=number)


def schedule_on(app: Sempre, grid: Grid, **options: Any) -> StoredSchedule:  # noqa: ANN401
    def bill(region: str = "all") -> str:
        return region

    app.add("bill", grid, app.job(bill), **options)
    app.sync()
    return app.schedule("bill")


def unstarted(app: Sempre, *, started: bool = False) -> StoredSchedule:
    """Write a schedule without executions past the engine, as a crash or a person would."""
    definition = define(job="bill", grid=Every("1h"))
    schedule = Schedule(
        id="s1",
        name="bill",
        definition=definition,
        created_at=NOON,
        cursor=NOON,
        started=started,
    )
    assert app.engine.store.create([Birth(schedule)]) == [True]
    return app.schedule("bill")


def live(schedule: StoredSchedule) -> list[Execution]:
    return [row for row in schedule.executions() if row.is_live]


# Grids


@pytest.mark.parametrize(
    ("unit", "texts"),
    [
        ("seconds", ["2026-01-31T09:00:02", "2026-01-31T09:00:04"]),
        ("minutes", ["2026-01-31T09:02", "2026-01-31T09:04"]),
        ("hours", ["2026-01-31T11:00", "2026-01-31T13:00"]),
        ("days", ["2026-02-02T09:00", "2026-02-04T09:00"]),
        ("weeks", ["2026-02-14T09:00", "2026-02-28T09:00"]),
        ("months", ["2026-03-31T09:00", "2026-05-31T09:00"]),
        ("years", ["2028-01-31T09:00", "2030-01-31T09:00"]),
    ],
)
def test_an_execution_is_due_at_the_anchor_plus_n_intervals_in_every_unit(
    app: Sempre, unit: str, texts: list[str]
) -> None:
    schedule = schedule_on(app, Every(2, unit, anchor=ANCHOR))

    times = schedule.next_run_at_times(after=ANCHOR, count=2)

    assert times == [datetime.fromisoformat(f"{text}+00:00") for text in texts]
    assert schedule.next_run_at(after=ANCHOR - timedelta(microseconds=1)) == ANCHOR


@pytest.mark.parametrize(
    ("grid", "texts"),
    [
        (Every("1 day", anchor="2026-01-01 09:00"), ["2026-11-16T09:00", "2026-11-17T09:00"]),
        (Every("1 week", anchor="2026-01-03"), ["2026-11-21T00:00", "2026-11-28T00:00"]),
        (Every("1 month", anchor="2026-01-01"), ["2026-12-01T00:00", "2027-01-01T00:00"]),
        (Cron("0 8 * * 1-5"), ["2026-11-16T08:00", "2026-11-17T08:00"]),
        (Cron("*/15 * * * *"), ["2026-11-15T12:15", "2026-11-15T12:30"]),
    ],
    ids=["daily at 9", "weekly on Saturday", "monthly on the 1st", "weekdays at 8", "quarters"],
)
def test_the_examples_of_the_seed_fire_when_it_says(
    app: Sempre, grid: Grid, texts: list[str]
) -> None:
    times = schedule_on(app, grid).next_run_at_times(count=2)

    assert times == [datetime.fromisoformat(f"{text}+00:00") for text in texts]


def test_times_are_calculated_in_the_zone_of_the_schedule(app: Sempre) -> None:
    rome = schedule_on(app, Cron("0 9 * * *", timezone="Europe/Rome"))

    assert rome.zone == "Europe/Rome"
    assert rome.next_run_at(after="2026-07-01T00:00:00Z") == datetime.fromisoformat(
        "2026-07-01T07:00:00+00:00"
    )
    assert rome.next_run_at(after="2026-12-01T00:00:00Z") == datetime.fromisoformat(
        "2026-12-01T08:00:00+00:00"
    )


def test_the_next_run_is_the_first_of_the_next_runs(app: Sempre) -> None:
    schedule = schedule_on(app, Every("1h"))

    assert [schedule.next_run_at()] == schedule.next_run_at_times(count=1)
    assert [schedule.next_run_at(after=hour(7))] == schedule.next_run_at_times(
        after=hour(7), count=1
    )


def test_late_runs_do_not_move_the_grid(app: Sempre, clock: Hand) -> None:
    schedule = schedule_on(app, Every("1h"))
    worker = worker_of(app)
    for _ in range(3):
        clock.move(minutes=60, seconds=20)
        worker.turn()

    slots = sorted(row.run_at for row in schedule.executions())

    assert slots == [hour(number) for number in (1, 2, 3, 4)]


# Immediate enqueue


def test_an_execution_is_put_on_the_delayed_queue_as_soon_as_it_is_created(
    server: BeanstalkdServer, clock: Hand
) -> None:
    app = Sempre(MemoryStore(clock), broker=server.broker(), clock=clock)
    schedule = schedule_on(app, Every("1h"), queue="invoices", priority=7)

    [row] = schedule.executions()
    found = peek(server, app.engine.bell.lane("invoices"))
    assert row.state is State.SCHEDULED
    assert found is not None
    assert found.said == [app.engine.store.uuid, row.id, 0]
    assert found.priority == 7
    # A second early, as the server counts whole seconds: never late, and not begun before its time.
    assert found.delay == 3599
    app.close()


def test_an_execution_beyond_the_horizon_is_put_on_the_delayed_queue_by_a_pass_inside_it(
    server: BeanstalkdServer, clock: Hand
) -> None:
    app = Sempre(MemoryStore(clock), broker=server.broker(), clock=clock, horizon="24h")
    schedule = schedule_on(app, Every("48h", anchor=hour(48)), queue="far")

    [row] = schedule.executions()
    assert row.state is State.PENDING
    assert peek(server, app.queue_name("far")) is None

    clock.move(hours=23)
    assert app.watchdog.perform().orphans_enqueued == 0
    assert peek(server, app.queue_name("far")) is None

    clock.move(hours=1)
    assert app.watchdog.perform().orphans_enqueued == 1
    found = peek(server, app.queue_name("far"))
    assert found is not None
    assert found.said == [app.engine.store.uuid, row.id, 0]
    assert found.delay == 24 * 3600 - 1
    assert [each.state for each in schedule.executions()] == [State.SCHEDULED]
    app.close()


@pytest.mark.parametrize(
    ("own", "queue", "priority"),
    [({}, "mail", 7), ({"queue": "slow"}, "slow", 7), ({"priority": 3}, "mail", 3)],
)
def test_queue_and_priority_of_a_schedule_are_those_of_its_job_unless_it_has_its_own(
    server: BeanstalkdServer, clock: Hand, own: dict[str, Any], queue: str, priority: int
) -> None:
    app = Sempre(MemoryStore(clock), broker=server.broker(), clock=clock)

    @app.job(queue="mail", priority=7)
    def send() -> None: ...

    app.add("newsletter", Every("1h"), send, **own)
    app.sync()

    [row] = app.schedule("newsletter").executions()
    found = peek(server, app.queue_name(queue))
    assert found is not None
    assert found.said == [app.engine.store.uuid, row.id, 0]
    assert found.priority == priority
    app.close()


def test_an_attempt_puts_the_next_execution_on_the_delayed_queue_without_any_pass(
    server: BeanstalkdServer, clock: Hand
) -> None:
    app = Sempre(MemoryStore(clock), broker=server.broker(), clock=clock)
    schedule = schedule_on(app, Every("1h"), queue="invoices")
    worker = worker_of(app, queues="invoices")
    clock.move(hours=1)

    [begun] = worker.turn()

    [following] = live(schedule)
    assert (begun.run_at, following.run_at) == (hour(1), hour(2))
    assert following.state is State.SCHEDULED
    app.close()


def test_the_interval_of_the_watchdog_does_not_affect_when_executions_run(clock: Hand) -> None:
    app = Sempre(
        MemoryStore(clock),
        broker=StoreBroker(),
        clock=clock,
        lease="3h",
        watchdog_interval="24h",
    )
    schedule_on(app, Every("1h"))
    worker = worker_of(app)

    begun = []
    for _ in range(5):
        clock.move(hours=1)
        begun += [(row.run_at, clock.now()) for row in worker.turn()]

    assert begun == [(hour(number), hour(number)) for number in range(1, 6)]


# Starting


def test_start_creates_the_first_execution_at_once_and_only_once(app: Sempre) -> None:
    schedule = unstarted(app)
    assert not schedule.started

    first = schedule.start()

    assert first is not None
    assert first.run_at == hour(1)
    assert schedule.started
    assert schedule.start() is None
    assert [row.id for row in schedule.executions()] == [first.id]


def test_a_schedule_that_nobody_started_is_started_by_the_next_pass(app: Sempre) -> None:
    schedule = unstarted(app)

    assert app.watchdog.perform().executions_created == 1

    assert [row.run_at for row in live(schedule)] == [hour(1)]


# create_next_execution!


def test_the_next_execution_is_created_if_none_is_live_and_only_then(app: Sempre) -> None:
    schedule = unstarted(app, started=True)

    created = schedule.create_next_execution()

    assert created is not None
    assert created.run_at == hour(1)
    assert schedule.create_next_execution() is None


def test_of_many_who_create_the_next_execution_at_once_one_does(app: Sempre) -> None:
    schedule = unstarted(app, started=True)
    barrier, answers = Barrier(8), list[object]()

    def create() -> None:
        barrier.wait()
        try:
            answers.append(schedule.create_next_execution())
        except Contended as error:
            answers.append(error)

    threads = [Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    created = [answer for answer in answers if isinstance(answer, Execution)]
    assert len(answers) == 8
    assert [row.id for row in live(schedule)] == [row.id for row in created]
    assert answers.count(None) == 7


def test_on_a_clock_that_stands_still_an_execution_is_not_its_own_future(
    app: Sempre, clock: Hand
) -> None:
    odd = timedelta(microseconds=185_940)
    schedule = schedule_on(app, Every("1h", anchor=NOON + odd))
    worker = worker_of(app)
    clock.move(microseconds=185_940)

    [begun] = worker.turn()

    assert begun.run_at == clock.now()
    assert schedule.create_next_execution() is None
    assert [row.run_at for row in live(schedule)] == [hour(1) + odd]


def test_a_skipped_or_superseded_row_does_not_stand_in_for_the_next_execution(app: Sempre) -> None:
    schedule = schedule_on(app, Every("1h"))
    schedule.skip(hour(1))
    schedule.skip(hour(2))
    assert [row.run_at for row in live(schedule)] == [hour(3)]

    schedule.disable()
    schedule.enable()

    assert [row.run_at for row in live(schedule)] == [hour(3)]
    assert schedule.create_next_execution() is None


# Edits


@pytest.mark.parametrize(
    "change",
    [
        {"job": "mail"},
        {"args": {"region": "eu"}},
        {"queue": "slow"},
        {"priority": 7},
        {"grid": Every("1h", timezone="Asia/Kolkata")},
        {"grid": Every("1h", anchor="2026-01-01 00:20")},
        {"grid": Every("2h")},
        {"grid": Every("1d")},
        {"grid": Cron("30 * * * *")},
    ],
    ids=["job", "args", "queue", "priority", "timezone", "anchor", "interval", "unit", "cron"],
)
def test_an_edit_replaces_the_future_execution_by_one_that_is_right(
    app: Sempre, change: dict[str, Any]
) -> None:
    schedule = schedule_on(app, Every("1h"))
    [before] = live(schedule)

    if "grid" in change:
        schedule.move_to(change["grid"])
    else:
        schedule.edit(**change)

    [after] = live(schedule)
    assert after.id != before.id
    assert after.run_at == schedule.next_run_at()
    assert after.snapshot.drift_from(schedule.row.snapshot()) == ()
    old = next(row for row in schedule.executions() if row.id == before.id)
    assert old.state is State.SUPERSEDED
    assert old.reason.startswith(("drift", "edited"))


@pytest.mark.parametrize("created", [True, False], ids=["created enabled", "created disabled"])
def test_disabling_leaves_no_future_execution_and_enabling_one(
    app: Sempre, *, created: bool
) -> None:
    schedule = schedule_on(app, Every("1h"), enabled=created)

    schedule.disable()
    assert live(schedule) == []
    assert not schedule.definition.enabled

    schedule.enable()
    assert [row.run_at for row in live(schedule)] == [hour(1)]
    assert schedule.definition.enabled

    schedule.edit(enabled=False)
    assert live(schedule) == []

    schedule.edit(enabled=True)
    assert [row.run_at for row in live(schedule)] == [hour(1)]


def test_enabling_and_disabling_return_whether_that_changed_anything(app: Sempre) -> None:
    schedule = schedule_on(app, Every("1h"))

    assert [schedule.enable(), schedule.disable(), schedule.disable()] == [False, True, False]
    assert [schedule.enable(), schedule.enable()] == [True, False]


def test_reconciling_is_idempotent_and_leaves_what_is_past_or_runs_alone(
    app: Sempre, clock: Hand
) -> None:
    schedule = schedule_on(app, Every("1h"))
    worker = worker_of(app)
    worker.hands.holding = True
    clock.move(hours=1)
    worker.turn()
    before = {row.id: row for row in schedule.executions()}

    assert not schedule.reconcile()
    assert not schedule.reconcile()

    assert {row.id: row for row in schedule.executions()} == before
    assert sorted(row.state for row in before.values()) == [State.RUNNING, State.SCHEDULED]


def test_the_watchdog_leaves_disabled_schedules_without_an_execution(app: Sempre) -> None:
    schedule = schedule_on(app, Every("1h"), enabled=False)

    app.watchdog.perform()

    assert schedule.executions() == []
