"""Events become counters and histograms, with a bounded number of series."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.engine.events import Events, Happened
from sempre.errors import MissingExtra
from sempre.telemetry import exposition
from sempre.telemetry.metric_catalog import METRICS, Metric, Sample
from sempre.telemetry.metrics import COUNTED, Recorder
from sempre.telemetry.tally import MOST, OTHER, Tally

NOW = datetime(2026, 11, 15, 18, 15, tzinfo=UTC)
ROW = Execution(
    id="01",
    kind=Kind.SCHEDULED,
    run_at=NOW,
    due_at=NOW,
    snapshot=Snapshot(name="bill-eu", job="bill", queue="money"),
    state=State.RUNNING,
    created_at=NOW,
    attempt=1,
)
ENDED = "sempre_executions_ended_total"


def of(name: str, job: str) -> Execution:
    return replace(ROW, snapshot=Snapshot(name=name, job=job, queue="money"))


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
def events(tally: Tally) -> Events:
    found = Events()
    found.listen(Recorder(tally), *map(Happened, COUNTED))
    return found


def written(tally: Tally, *samples: Sample) -> str:
    return exposition.written(METRICS.values(), tally.read(), samples)


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a series by the values of its labels, in order of their names."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


@pytest.mark.parametrize(
    ("happened", "facts", "state"),
    [
        (Happened.SUCCEEDED, {"seconds": 2.0, "result": None}, "succeeded"),
        (Happened.FAILED, {"seconds": 2.0, "retry_at": None}, "failed"),
        (Happened.FAILED, {"seconds": 2.0, "retry_at": NOW + timedelta(minutes=1)}, "retried"),
        (Happened.RETRY_LATER, {"seconds": 2.0, "retry_at": NOW}, "retried"),
        (Happened.CANCELLED, {"reason": "requested"}, "cancelled"),
        (Happened.SKIPPED, {"verdict": "skip", "reason": "overlap"}, "skipped"),
        (Happened.SKIPPED, {"verdict": "miss", "reason": "deadline"}, "missed"),
        (Happened.RELEASED, {}, "released"),
    ],
)
def test_each_end_of_an_attempt_is_counted_by_its_state(
    events: Events, tally: Tally, happened: Happened, facts: dict[str, object], state: str
) -> None:
    events.emit(happened, execution=ROW, **facts)

    assert {
        series: numbers[0] for series, numbers in tally.read().items() if series[0] == ENDED
    } == {(ENDED, ("money", "bill", state)): 1.0}
    timed = tally.read().get(("sempre_execution_duration_seconds", ("money", "bill")))
    assert (timed is not None and timed[-1] == 2.0) == ("seconds" in facts)


def test_lateness_is_a_histogram_whose_buckets_add_up(events: Events, tally: Tally) -> None:
    for late in (0.01, 0.2, 7200.0, -0.001):
        events.emit(Happened.STARTED, execution=ROW, late=late)

    text = written(tally)

    buckets = {
        labels[-2] if labels[-1] == "money" else labels[1]: value
        for labels, value in values(text, "sempre_execution_lateness_seconds_bucket").items()
    }
    assert buckets["0.01"] == 2.0
    assert buckets["0.25"] == 3.0
    assert buckets["3600.0"] == 3.0
    assert buckets["+Inf"] == 4.0
    assert values(text, "sempre_execution_lateness_seconds_count") == {("bill", "money"): 4.0}
    [total] = values(text, "sempre_execution_lateness_seconds_sum").values()
    assert total == pytest.approx(7200.21)


def test_what_a_pass_healed_is_counted_by_cause(events: Events, tally: Tally) -> None:
    done = {"executions_created": 2, "orphans_enqueued": 3, "rung_again": 4, "purged": 5}
    events.emit(Happened.PERFORMED, lock_acquired=True, seconds=0.2, **done)
    events.emit(Happened.PERFORMED, lock_acquired=False, seconds=0.0, **done)
    events.emit(Happened.RESCUED, execution=ROW, session="gone")

    text = written(tally)

    assert values(text, "sempre_healed_total") == {
        ("announced",): 3.0,
        ("created",): 2.0,
        ("rescued",): 1.0,
        ("rung_again",): 4.0,
    }
    assert values(text, "sempre_watchdog_passes_total") == {(): 1.0}
    assert values(text, "sempre_executions_purged_total") == {(): 5.0}


def test_counters_with_known_labels_begin_at_zero_so_that_the_first_increase_is_seen() -> None:
    text = written(Tally())

    assert values(text, "sempre_healed_total")["rescued",] == 0.0
    assert values(text, "sempre_store_errors_total")["unavailable",] == 0.0
    assert values(text, "sempre_sessions_lost_total") == {(): 0.0}


def test_a_hundred_thousand_schedules_of_thousands_of_jobs_have_a_bounded_number_of_series(
    events: Events, tally: Tally
) -> None:
    for number in range(100_000):
        row = of(f"schedule-{number}", f"job-{number % 5000}")
        events.emit(Happened.SUCCEEDED, execution=row, seconds=0.1, result=None)

    text = written(tally)

    counted = values(text, ENDED)
    assert len(counted) == MOST + 1
    assert sum(counted.values()) == 100_000
    assert counted[OTHER, OTHER, "succeeded"] == 100_000 - MOST * 20
    assert "schedule-" not in text


def test_a_hundred_thousand_queues_have_a_bounded_number_of_series(tally: Tally) -> None:
    for number in range(100_000):
        tally.count(ENDED, f"queue-{number}", "bill", "succeeded")

    assert len(tally.read()) == MOST + 1


def test_tallies_of_several_processes_add_up_and_stay_bounded(tally: Tally) -> None:
    for process in range(3):
        other = Tally()
        for number in range(MOST):
            other.count(ENDED, "money", f"{process}-{number}", "succeeded")
            other.observe("sempre_execution_duration_seconds", 1.0, "money", "bill")
        tally.add(other.take())
        assert other.read() == {}

    ended = {series: each for series, each in tally.read().items() if series[0] == ENDED}
    assert len(ended) <= MOST + 1
    assert sum(each[0] for each in ended.values()) == 3 * MOST
    timed = [each for (name, _), each in tally.read().items() if name != ENDED]
    assert sum(each[-1] for each in timed) == 3 * MOST


def test_a_metric_of_a_newer_release_is_left_out(tally: Tally) -> None:
    tally.add([("sempre_novelty_total", [], [1.0]), (ENDED, ["a", "b", "failed"], [1.0])])

    assert tally.read() == {(ENDED, ("a", "b", "failed")): (1.0,)}


def test_labels_of_any_text_are_written_safely(tally: Tally) -> None:
    tally.count(ENDED, 'a"b\\c\nd', "é", "failed")

    assert values(written(tally), ENDED) == {("é", 'a"b\\c\nd', "failed"): 1.0}


def test_every_metric_has_a_prefix_a_base_unit_and_a_sentence() -> None:
    for metric in METRICS.values():
        assert metric.name.startswith("sempre_")
        assert metric.help.endswith(".")
        assert (metric.kind == "counter") == metric.name.endswith("_total"), metric.name
        if metric.kind == "histogram":
            assert metric.name.endswith("_seconds")
            assert list(metric.buckets) == sorted(metric.buckets)
        assert "schedule" not in metric.labels
        # Prometheus gives each series these labels itself.
        assert not {"job", "instance"} & {*metric.labels}


def test_every_counted_event_exists() -> None:
    assert {*COUNTED} <= {*map(str, Happened)}


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(exposition, "import_module", absent)

    with pytest.raises(MissingExtra, match=r'pip install "sempre\[metrics\]"'):
        exposition.written([Metric("sempre_x", "X.")], {}, [])
