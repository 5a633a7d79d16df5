"""One trace over the process that enqueues, a worker process and its children, by real OTLP."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sempre.domain.arguments import Json
from sempre.ports.history_queries import ExecutionQuery
from sempre.testing.polling import eventually
from sempre.urls import open_store
from tests.integration.fleet.pairings import pairing_on
from tests.integration.traces.collector import Collector, Received, collector

PROGRAM = "tests.integration.traces.program"
ROOT = Path(__file__).resolve().parents[3]
PRODUCER, CONSUMER, ERROR = 4, 5, 2
JOBS = ("in_thread", "on_loop", "in_child", "follow_up", "crash")


@contextmanager
def program(log: Path, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the program until the end of the block; its log goes into a file."""
    command = [sys.executable, "-m", PROGRAM, *words]
    with (
        log.open("wb") as stderr,
        subprocess.Popen(command, cwd=ROOT, stderr=stderr) as process,
    ):
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_enqueuer_a_worker_and_its_children_share_one_trace(kind: str, tmp_path: Path) -> None:
    with pairing_on(f"{kind}+store", tmp_path) as pairing, collector() as found:
        words, log = (pairing.store, found.url), tmp_path / "worker.log"
        with program(tmp_path / "enqueuer.log", *words, "enqueue") as enqueuer:
            assert enqueuer.wait(60) == 0
        with program(log, *words, "work"):
            wanted = [f"run {job}" for job in JOBS] + ["inside in_child"]
            eventually(
                lambda: all(map(found.named, wanted)) and len(found.named("run rerun")) > 1,
                otherwise=lambda: found.spans,
            )
        returned = results(pairing.store)

    caller = found.one("POST /orders")
    for job in JOBS:
        run, enqueue = found.one(f"run {job}"), found.one(f"enqueue {job}")
        assert (enqueue.kind, run.kind) == (PRODUCER, CONSUMER)
        assert run.trace_id == enqueue.trace_id == caller.trace_id
        assert run.parent_id == enqueue.span_id
        assert enqueue.span_id in run.links
    assert found.one("inside in_thread").parent_id == found.one("run in_thread").span_id
    assert found.one("inside on_loop").parent_id == found.one("run on_loop").span_id
    check_child(found, caller)
    traceparents = {
        f"00-{run.trace_id}-{run.span_id}-03"
        for run in (found.one(f"run {job}") for job in ("in_thread", "on_loop", "in_child"))
    }
    assert returned == traceparents
    check_lines(log, found)


def check_lines(log: Path, found: Collector) -> None:
    """Check that lines of jobs name their run and their span, also in a child."""
    lines = {line["message"]: line for line in map(json.loads, log.read_text().splitlines())}
    for message, job in (("in the thread", "in_thread"), ("in the child", "in_child")):
        line, run, inside = lines[message], found.one(f"run {job}"), found.one(f"inside {job}")
        assert (line["action"], line["job"], line["attempt"]) == ("job.log", job, 1)
        assert line["execution"] == run.attributes["sempre.execution_id"]
        assert (line["trace_id"], line["span_id"]) == (inside.trace_id, inside.span_id)


def check_child(found: Collector, caller: Received) -> None:
    """Check the spans of forked children, and of a child that was killed."""
    run, inside = found.one("run in_child"), found.one("inside in_child")
    assert (inside.trace_id, inside.parent_id) == (caller.trace_id, run.span_id)
    # What the job in the child enqueues is in the trace, too.
    assert found.one("enqueue follow_up").parent_id == inside.span_id
    # Three processes have exported: of the caller, of the worker, and of the child.
    assert len({caller.pid, run.pid, inside.pid}) == 3
    # The worker ends the span of a run whose child cannot.
    crashed = found.one("run crash")
    assert crashed.status == ERROR
    assert crashed.attributes["sempre.outcome"] == "crashed"
    # A run after a crash is in the trace, and linked to the run that crashed.
    first, second = sorted(
        found.named("run rerun"), key=lambda run: run.attributes["sempre.attempt"]
    )
    assert first.trace_id == second.trace_id == caller.trace_id
    assert (first.status, second.status) == (ERROR, 0)
    assert second.links == (first.parent_id, first.span_id)


def results(url: str) -> set[Json]:
    """Return what the jobs have returned, those that have."""
    store = open_store(url)
    rows = store.executions(ExecutionQuery(limit=100)).value.items
    found = {each.result for row in rows for each in store.attempts(row.id).value}
    store.close()
    return found - {None}
