"""Postburner's Scheduler: the message in a real tube, the checks for it, and the pass."""

import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Event as Signal
from threading import Thread

import pytest

from sempre import Every, Grid, Sempre
from sempre.brokers.memory import MemoryBroker
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.engine.events import Event, Happened
from sempre.errors import StoreUnavailable
from sempre.ports.messages import Birth
from sempre.stores.memory import MemoryStore
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.telemetry.logs import Narrator
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import BeanstalkdServer, beanstalkd_server
from tests.integration.sql.postgresql_server import postgresql_server
from tests.promises.driven import Hand, worker_of
from tests.promises.tubes import Found, peek, remove

SEED_FACTS = {
    "interval",
    "lock_acquired",
    "schedules_processed",
    "schedules_failed",
    "executions_created",
    "orphans_enqueued",
}


@pytest.fixture(scope="module")
def server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[BeanstalkdServer]:
    with beanstalkd_server() as running:
        yield running


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def app(server: BeanstalkdServer, clock: Hand) -> Iterator[Sempre]:
    opened = app_on(server, clock)
    yield opened
    opened.close()


def app_on(server: BeanstalkdServer, clock: Hand, **settings: int) -> Sempre:
    return Sempre(
        MemoryStore(clock),
        broker=server.broker(),
        clock=clock,
        watchdog_interval=settings.get("interval", 300),
        watchdog_priority=settings.get("priority", 100),
    )


def tube_of(app: Sempre, queue: str = "scheduler") -> str:
    return app.engine.bell.lane(queue)


def kick_all(server: BeanstalkdServer, app: Sempre) -> None:
    with server.wire() as wire:
        wire.ask([f"use {tube_of(app)}\r\n".encode(), b"kick 10\r\n"])


def counted(server: BeanstalkdServer, app: Sempre) -> int:
    with server.wire() as wire:
        [stats] = wire.ask([f"stats-tube {tube_of(app)}\r\n".encode()])
    states = ("ready", "delayed", "reserved", "buried")
    return sum(int(stats.fields()[f"current-jobs-{state}"]) for state in states)


def watchdog_of(server: BeanstalkdServer, app: Sempre, state: str = "delayed") -> Found | None:
    return peek(server, tube_of(app), state)


# enqueue_watchdog


def test_the_watchdog_is_a_delayed_message_of_the_queue_scheduler(
    server: BeanstalkdServer, app: Sempre
) -> None:
    app.watchdog.enqueue()

    found = watchdog_of(server, app)
    assert found is not None
    assert found.tube.rpartition(".")[2] == "scheduler"
    assert found.said == {"scheduler": True, "interval": 300}
    assert (found.priority, found.delay, found.time_to_run) == (100, 300, 120)


def test_interval_and_priority_of_the_watchdog_can_be_given(
    server: BeanstalkdServer, app: Sempre
) -> None:
    app.watchdog.enqueue(interval=60, priority=0)

    found = watchdog_of(server, app)
    assert found is not None
    assert found.said == {"scheduler": True, "interval": 60}
    assert (found.priority, found.delay) == (0, 60)


def test_interval_and_priority_of_the_watchdog_come_from_the_settings(
    server: BeanstalkdServer, clock: Hand
) -> None:
    app = app_on(server, clock, interval=90, priority=7)
    app.watchdog.enqueue()

    found = watchdog_of(server, app)
    assert found is not None
    assert found.said["interval"] == 90
    assert (found.priority, found.delay) == (7, 90)
    app.close()


def test_enqueueing_the_watchdog_answers_with_its_id(server: BeanstalkdServer, app: Sempre) -> None:
    handle = app.watchdog.enqueue()

    found = watchdog_of(server, app)
    assert found is not None
    assert handle == found.handle


def test_the_queues_of_the_watchdog_and_of_work_have_public_names(
    server: BeanstalkdServer, app: Sempre
) -> None:
    app.watchdog.enqueue()
    worker_of(app)

    with server.wire() as wire:
        [tubes] = wire.ask([b"list-tubes\r\n"])
    assert app.watchdog.queue_name == tube_of(app)
    assert app.watchdog.queue_name in tubes.body.decode()
    assert app.queue_name("default") == tube_of(app, "default")
    assert app.queue_name("scheduler") == app.watchdog.queue_name


def test_inserting_a_watchdog_is_logged_with_its_id_interval_time_and_tube(
    app: Sempre, caplog: pytest.LogCaptureFixture
) -> None:
    app.events.listen(Narrator(app.clock))

    with caplog.at_level(logging.INFO, "sempre"):
        handle = app.watchdog.enqueue(interval=90)

    [line] = [each.getMessage() for each in caplog.records if "watchdog" in each.getMessage()]
    assert f"message {handle} in {tube_of(app)} runs at 2026-11-15T12:01:30Z" in line
    assert "every 90s" in line


# A message decides nothing


@pytest.mark.parametrize(("interval", "priority"), [(12, 100), (300, 0)])
def test_a_changed_setting_counts_at_the_next_message(
    server: BeanstalkdServer, clock: Hand, interval: int, priority: int
) -> None:
    app = app_on(server, clock)
    worker = worker_of(app)
    worker.turn()
    old = app.watchdog.enqueue(interval=interval, priority=priority)
    kick_all(server, app)

    worker.turn()

    found = watchdog_of(server, app)
    assert found is not None
    assert found.handle != old
    assert (found.said["interval"], found.priority, found.delay) == (300, 100, 300)
    assert counted(server, app) == 1
    app.close()


def test_extra_messages_end_at_their_next_turn(server: BeanstalkdServer, clock: Hand) -> None:
    app = app_on(server, clock)
    worker = worker_of(app)
    worker.turn()
    for interval in (300, 300, 3, 86_400 * 365):
        app.watchdog.enqueue(interval=interval)
    assert counted(server, app) == 4
    kick_all(server, app)

    worker.turn()
    worker.maintain()

    assert counted(server, app) == 1
    found = watchdog_of(server, app)
    assert found is not None
    assert (found.said["interval"], found.delay) == (300, 300)
    due_at = app.engine.store.last_pass().value.due_at
    assert due_at <= clock.now() + timedelta(seconds=300)
    app.close()


# watchdog_exists?


def test_a_watchdog_exists_whether_it_is_delayed_or_ready(
    server: BeanstalkdServer, app: Sempre
) -> None:
    assert not app.watchdog.exists()
    handle = app.watchdog.enqueue()
    assert app.watchdog.exists()

    with server.wire() as wire:
        wire.ask([f"kick-job {handle}\r\n".encode()])
    assert watchdog_of(server, app, "ready") is not None
    assert app.watchdog.exists()

    remove(server, handle)
    assert not app.watchdog.exists()


# ensure_watchdog!


def test_ensuring_makes_a_watchdog_that_is_missing_and_no_second_one(
    server: BeanstalkdServer, app: Sempre, clock: Hand
) -> None:
    app.watchdog.ensure()
    first = watchdog_of(server, app)
    assert first is not None

    clock.move(seconds=61)
    app.watchdog.ensure()

    remove(server, first.handle)
    assert watchdog_of(server, app) is None


def test_a_check_is_not_repeated_within_a_minute_of_one_that_succeeded(
    server: BeanstalkdServer, app: Sempre, clock: Hand
) -> None:
    app.watchdog.ensure()
    found = watchdog_of(server, app)
    assert found is not None
    remove(server, found.handle)

    clock.move(seconds=59)
    app.watchdog.ensure()
    assert not app.watchdog.exists()

    clock.move(seconds=1)
    app.watchdog.ensure()
    assert app.watchdog.exists()


def test_a_check_is_not_repeated_within_a_minute_of_one_that_failed(
    own_server: BeanstalkdServer, clock: Hand
) -> None:
    app = app_on(own_server, clock)
    told: list[Event] = []
    app.events.listen(told.append, Happened.BROKER_DOWN)
    assert not app.watchdog.exists()
    own_server.kill()

    app.watchdog.ensure()
    own_server.start()
    clock.move(seconds=59)
    app.watchdog.ensure()
    assert told
    assert not app.watchdog.exists()

    clock.move(seconds=1)
    app.watchdog.ensure()
    assert app.watchdog.exists()
    app.close()


class SlowBroker(MemoryBroker):
    """Takes its time to say whether a lane has messages, and counts who asked."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.asked, self.may_answer = Signal(), Signal()

    def has_any(self, lane: str) -> bool:
        self.looks += 1
        if not self.asked.is_set():
            self.asked.set()
            self.may_answer.wait()
        return super().has_any(lane)


def test_only_one_thread_checks_at_a_time(clock: Hand) -> None:
    broker = SlowBroker()
    app = Sempre(MemoryStore(clock), broker=broker, clock=clock)
    _ = app.engine
    first = Thread(target=app.watchdog.ensure)
    first.start()
    eventually(broker.asked.is_set)

    app.watchdog.ensure()

    assert broker.looks == 1
    broker.may_answer.set()
    first.join()


# perform


def test_a_pass_tells_that_it_begins_and_then_what_it_did(app: Sempre) -> None:
    told: list[Event] = []
    app.events.listen(told.append, Happened.PERFORM_STARTED, Happened.PERFORMED)
    app.add("bill", Every("1h"), lambda: None)
    app.sync()

    app.watchdog.perform(interval=77)

    began, ended = told
    assert (began.name, dict(began.facts)) == ("perform_start", {"interval": 77})
    assert ended.name == "perform"
    assert ended.facts.keys() >= SEED_FACTS
    assert ended.facts["interval"] == 77
    assert ended.facts["lock_acquired"] is True
    assert ended.facts["schedules_processed"] == 1
    assert json.dumps(dict(ended.facts))


class Moody(Grid, name="promises: moody"):
    """A rule of the user's own that raises whenever it is asked."""

    def after(self, t: datetime) -> datetime | None:
        raise ZeroDivisionError(f"no slot after {t}")


def test_one_schedule_that_fails_harms_no_other_and_is_counted(app: Sempre, clock: Hand) -> None:
    told: list[Event] = []
    app.events.listen(told.append, Happened.PERFORMED)
    grids: dict[str, Grid] = {"bad": Moody(), "good": Every("1h"), "well": Every("2h")}
    for name, grid in grids.items():
        schedule = Schedule(
            id=name,
            name=name,
            definition=define(job="bill", grid=grid),
            created_at=clock.now(),
            cursor=clock.now(),
            started=True,
        )
        assert app.engine.store.create([Birth(schedule)]) == [True]

    report = app.watchdog.perform()

    assert (report.schedules_failed, report.executions_created) == (1, 2)
    assert [event.facts["schedules_failed"] for event in told] == [1]
    assert app.schedule("good").row.next_run_at == clock.now() + timedelta(hours=1)
    assert app.schedule("well").row.next_run_at == clock.now() + timedelta(hours=2)
    assert app.schedule("bad").row.next_run_at is None


def test_a_pass_that_another_has_begun_is_skipped_and_says_so(app: Sempre, clock: Hand) -> None:
    assert app.watchdog.perform().lock_acquired
    assert not app.watchdog.perform().lock_acquired

    clock.move(seconds=300)

    assert app.watchdog.perform().lock_acquired


def test_a_watchdog_that_comes_twice_passes_once(server: BeanstalkdServer, clock: Hand) -> None:
    app = app_on(server, clock)
    worker = worker_of(app)
    worker.turn()
    for _ in range(2):
        app.watchdog.enqueue(interval=300)
    kick_all(server, app)

    for _ in range(2):
        worker.turn()
        worker.maintain()

    passes = [event.facts["lock_acquired"] for event in worker.heard(Happened.PERFORMED)]
    assert passes.count(True) == 1
    app.close()


def test_the_watchdog_is_in_its_queue_again_though_the_pass_failed(
    server: BeanstalkdServer, clock: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(server, clock)
    worker = worker_of(app)
    worker.turn()
    handle = app.watchdog.enqueue()
    with server.wire() as wire:
        wire.ask([f"kick-job {handle}\r\n".encode()])

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("the store is down.")

    monkeypatch.setattr(app.engine.store, "begin_pass", fail)
    worker.turn()
    worker.maintain()

    [told] = worker.heard(Happened.STORE_DOWN)
    assert told.facts["error"] == "the store is down."
    found = watchdog_of(server, app)
    assert found is not None
    assert (found.handle, found.said["interval"], found.delay) == (handle, 300, 300)
    assert (found.priority, found.time_to_run) == (100, 120)
    app.close()


def test_an_exhausted_pool_skips_the_pass_names_the_setting_and_the_next_one_is_run() -> None:
    with postgresql_server() as conninfo:
        dialect = Postgresql(conninfo, connections=1, connect_after=0.1)
        app = Sempre(SqlStore(dialect))
        app.engine.store.upgrade()
        told: list[Event] = []
        app.events.listen(told.append, Happened.STORE_DOWN)

        report = dialect.read(lambda _: app.watchdog.perform())

        assert not report.lock_acquired
        assert "?connections=1" in told[0].facts["error"]
        assert app.watchdog.perform().lock_acquired
        app.close()
