"""Metrics of one application: as text, on an address, and while its store is down."""

from collections.abc import Iterator
from http.client import HTTPConnection
from threading import Event
from typing import NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sempre import Concurrency, Every, Job, Sempre, Skip
from sempre.app.metrics.exporter import store_metrics
from sempre.brokers.store import StoreBroker
from sempre.engine.events import Happened
from sempre.errors import InvalidInput, MissingExtra, StoreUnavailable
from sempre.ports.messages import Pass, Reading
from sempre.stores.memory import MemoryStore
from sempre.telemetry import exposition
from sempre.telemetry.metric_catalog import METRICS
from sempre.telemetry.metrics import COUNTED
from sempre.telemetry.tally import MOST, OTHER
from sempre.testing.polling import eventually
from tests.unit.app.conftest import Hand

ENDED = "sempre_executions_ended_total"


class Failing(MemoryStore):
    """A store that can stop answering."""

    error: StoreUnavailable | None = None

    def last_pass(self) -> Reading[Pass]:
        if self.error is not None:
            raise self.error
        return super().last_pass()


class Billing(NamedTuple):
    app: Sempre
    store: Failing
    bill: Job[[str], None]


@pytest.fixture
def billing() -> Iterator[Billing]:
    store = Failing()
    app = Sempre(store, broker=StoreBroker())

    @app.job
    def bill(outcome: str) -> None:
        if outcome == "fail":
            raise ValueError("no money")
        if outcome == "skip":
            raise Skip("nothing to bill")

    app.add("monthly", Every("1 month"), bill.bind("ok"), note="a secret note")
    yield Billing(app, store, bill)
    app.close()


def value(text: str, name: str, **labels: str) -> float | None:
    """Return the value of one series; None if it is not there."""
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return found[0] if found else None


def ended(app: Sempre) -> float:
    series = app.process_metrics.tally.read().items()
    return sum(numbers[0] for (name, _), numbers in series if name == ENDED)


def get(url: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30.0)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_an_application_returns_its_metrics_as_text(billing: Billing) -> None:
    app = billing.app
    app.metrics()
    with app.running(concurrency=3):
        for outcome in ("ok", "ok", "fail", "skip"):
            billing.bill.enqueue(outcome)
        eventually(lambda: ended(app) == 4)

        text = app.metrics()

    assert value(text, ENDED, job_name="bill", state="succeeded") == 2.0
    assert value(text, ENDED, job_name="bill", state="failed") == 1.0
    assert value(text, ENDED, job_name="bill", state="skipped") == 1.0
    assert value(text, "sempre_execution_lateness_seconds_count", job_name="bill") == 4.0
    assert value(text, "sempre_worker_capacity_runs", process="0") == 3.0
    assert value(text, "sempre_store_up") == 1.0
    assert value(text, "sempre_build_info") == 1.0


def test_metrics_contain_no_arguments_notes_and_names_of_schedules(billing: Billing) -> None:
    billing.app.sync()
    billing.bill.options(queue="money").enqueue("a secret argument")

    text = billing.app.metrics()

    assert value(text, "sempre_schedules") == 1.0
    assert value(text, "sempre_queue_depth", queue="money") == 1.0
    assert "monthly" not in text
    assert "secret" not in text


def test_without_a_request_for_metrics_no_event_is_made_for_them(billing: Billing) -> None:
    app = billing.app
    names = [Happened(each) for each in COUNTED]
    assert not any(app.events.has_listener(name) for name in names)

    with app.running():
        assert not app.events.has_listener(Happened.STARTED)

    app.metrics()
    assert all(app.events.has_listener(name) for name in names)


def test_an_embedded_worker_serves_its_metrics_while_it_runs(billing: Billing) -> None:
    with billing.app.running(metrics="127.0.0.1:0") as running:
        url = running.served.url  # type: ignore[attr-defined]  # of an embedded worker
        assert get(url, "/healthz") == (200, "alive\n")
        eventually(lambda: get(url, "/readyz") == (200, "ready\n"))
        billing.bill.enqueue("ok")
        eventually(lambda: value(get(url, "/metrics")[1], ENDED, state="succeeded"))

    with pytest.raises(ConnectionRefusedError):
        get(url, "/healthz")


def test_a_failing_store_makes_no_scrape_fail_and_is_reported(clock: Hand) -> None:
    store = Failing(clock)
    app = Sempre(store, broker=StoreBroker(), clock=clock)
    app.process_metrics.count()
    app.process_metrics.tally.count(ENDED, "default", "bill", "succeeded")
    assert value(app.metrics(), "sempre_store_up") == 1.0

    store.error = StoreUnavailable("the disk is gone")
    clock.move(seconds=10)
    text = app.metrics()

    assert value(text, "sempre_store_up") == 0.0
    assert value(text, ENDED, state="succeeded") == 1.0
    # An age that no longer grows would look healthy.
    assert value(text, "sempre_workers") is None
    assert value(text, "sempre_schedules") is None
    store.error = None
    clock.move(seconds=10)
    assert value(app.metrics(), "sempre_store_up") == 1.0
    app.close()


def test_an_address_in_use_is_refused_before_the_worker_begins(billing: Billing) -> None:
    with billing.app.running(metrics="127.0.0.1:0") as running:
        address = running.served.url.removeprefix("http://")  # type: ignore[attr-defined]  # as above
        other = billing.app.running(metrics=address)
        with pytest.raises(InvalidInput, match="already in use"):
            other.begin()
        assert other.worker is None


def test_without_the_extra_a_worker_with_metrics_does_not_begin(
    billing: Billing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(exposition, "import_module", absent)

    with pytest.raises(MissingExtra, match=r'pip install "sempre\[metrics\]"'):
        billing.app.running(metrics="127.0.0.1:0").begin()
    with pytest.raises(MissingExtra):
        billing.app.metrics()


def test_gauges_of_the_store_tell_of_switches_limits_pauses_and_pairs(app: Sempre) -> None:
    @app.job(limit=Concurrency(1))
    def narrow() -> None: ...

    @app.job(unique=True)
    def derive(number: int) -> None: ...

    @derive.pair(every="1m")
    def pending() -> list[int]:
        return [1, 2]

    app.add("paused", Every("1h"), narrow)
    app.add("off", Every("1h"), narrow, enabled=False)
    app.sync()
    app.schedule("paused").pause(note="why")
    app.switch("narrow").off("an incident", mode="hold")
    narrow.enqueue()

    text, samples = store_metrics(app.engine)

    assert value(text, "sempre_schedules") == 3.0
    assert value(text, "sempre_schedules_enabled") == 2.0
    assert value(text, "sempre_schedules_paused") == 1.0
    assert value(text, "sempre_switches_off") == 1.0
    assert value(text, "sempre_executions", state="held") == 1.0
    assert value(text, "sempre_limits_full") == 0.0
    assert value(text, "sempre_problem", code="S501") == 1.0
    assert value(text, "sempre_problem", code="S201") == 0.0
    assert value(text, "sempre_pair_cadence_seconds", pair="derive") == 60.0
    assert {each.name for each in samples} <= set(METRICS)
    app.close()


def test_a_full_limit_and_the_work_that_runs_and_waits_are_counted(billing: Billing) -> None:
    begun, gate = Event(), Event()

    @billing.app.job(limit=Concurrency(1))
    def narrow() -> None:
        begun.set()
        gate.wait(60.0)

    with billing.app.running():
        for _ in range(3):
            narrow.enqueue()
        assert begun.wait(60.0)

        def is_counted() -> bool:
            text, _ = store_metrics(billing.app.engine)
            running = value(text, "sempre_executions", state="running")
            return (running, value(text, "sempre_limits_full")) == (1.0, 1.0)

        eventually(is_counted)
        gate.set()


def test_no_child_of_an_embedded_worker_holds_the_address(billing: Billing) -> None:
    running = billing.app.running(metrics="127.0.0.1:0")
    with running:
        served = running.served  # type: ignore[attr-defined]  # of an embedded worker
        assert {*served.private} <= {*running.executors.private}


def test_the_series_of_a_store_do_not_grow_with_schedules_jobs_and_queues(app: Sempre) -> None:
    def lines(text: str) -> int:
        return len([line for line in text.splitlines() if not line.startswith("#")])

    few = lines(store_metrics(app.engine)[0])

    def job(number: int) -> Job[[], None]:
        @app.job(name=f"job-{number}", queue=f"queue-{number}")
        def run() -> None: ...

        return run

    jobs = [job(number) for number in range(400)]
    app.create_schedules(
        (f"schedule-{number}", Every("1 day"), jobs[number % 400]) for number in range(4000)
    )
    app.enqueue_many(job.bind() for job in jobs)

    text, _ = store_metrics(app.engine)

    # The depth and the age of 100 queues, and of all others together.
    assert lines(text) == few + 2 * (MOST + 1)
    assert value(text, "sempre_schedules") == 4000.0
    assert value(text, "sempre_queue_depth", queue=OTHER) == 300.0
    app.close()
