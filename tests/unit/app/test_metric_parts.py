"""The parts of metrics: readings of the store are cached, counts handed over, readiness decided."""

import json
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event

import pytest

from sempre.app.metrics.cached_reading import CachedReading
from sempre.app.metrics.hand_over import AT_ONCE, Channel, Received, Sender
from sempre.app.metrics.label_bounds import in_groups
from sempre.app.metrics.process_reports import ProcessReport, WorkerProbe
from sempre.app.metrics.readiness import unready_reason
from sempre.clock import SystemClock
from sempre.errors import StoreUnavailable
from sempre.telemetry.metric_catalog import Sample
from sempre.telemetry.tally import MOST, OTHER, Tally
from sempre.testing.polling import eventually
from tests.unit.app.conftest import Hand

ENDED = "sempre_executions_ended_total"
READY = ProcessReport(7, has_session=True, heartbeat_age=1.0, store_up=True, broker_up=True)


# Readiness


@pytest.mark.parametrize(
    ("report", "age", "reason"),
    [
        (READY, 1.0, ""),
        (READY, 31.0, "worker process 7 has been silent for 31 s"),
        (replace(READY, has_session=False), 0.0, "has no session in the store"),
        (replace(READY, heartbeat_age=None), 0.0, "had no heartbeat within its lease of 30 s"),
        (replace(READY, heartbeat_age=31.0), 0.0, "had no heartbeat within its lease of 30 s"),
        (replace(READY, store_up=False), 0.0, "gets errors from the store"),
    ],
)
def test_a_worker_is_ready_or_the_reason_is_one_line(
    report: ProcessReport, age: float, reason: str
) -> None:
    found = unready_reason([(READY, 0.0), (report, age)], lease=30.0, store_up=True)

    assert reason in found
    assert bool(reason) == bool(found)
    assert "\n" not in found


def test_workers_are_not_ready_before_the_first_report_and_without_the_store() -> None:
    assert unready_reason([], lease=30.0, store_up=True) == "no worker process has reported yet"
    without = unready_reason([(READY, 0.0)], lease=30.0, store_up=False)
    assert without == "the store does not answer"


# Readings


class Readings:
    """A reading of the store that counts, fails or hangs on request."""

    def __init__(self) -> None:
        self.count = 0
        self.error: Exception | None = None
        self.gate: Event | None = None

    def __call__(self) -> Sequence[Sample]:
        self.count += 1
        if self.gate is not None:
            self.gate.wait(30.0)
        if self.error is not None:
            raise self.error
        return [Sample("sempre_workers", self.count)]


def test_the_store_is_read_once_in_a_time_whatever_the_rate_of_scrapes(clock: Hand) -> None:
    readings = Readings()
    cached = CachedReading(readings, every=5.0, patience=30.0, clock=clock)

    for _ in range(50):
        assert cached.latest().samples == [Sample("sempre_workers", 1)]
    clock.move(seconds=5)

    assert cached.latest().samples == [Sample("sempre_workers", 2)]
    assert readings.count == 2


def test_a_reading_takes_a_fiftieth_of_the_time_at_most(clock: Hand) -> None:
    def slow() -> Sequence[Sample]:
        clock.move(seconds=10)
        counted.append(1)
        return []

    counted: list[int] = []
    cached = CachedReading(slow, every=60.0, patience=30.0, clock=clock)
    cached.latest()
    clock.move(seconds=489)
    cached.latest()
    assert len(counted) == 1

    clock.move(seconds=1)
    cached.latest()

    assert len(counted) == 2


def test_a_reading_that_fails_is_told_and_tried_again(clock: Hand) -> None:
    readings = Readings()
    cached = CachedReading(readings, every=5.0, patience=30.0, clock=clock)
    assert cached.latest().is_up

    readings.error = StoreUnavailable("down")
    clock.move(seconds=5)
    failed = cached.latest()
    assert (failed.is_up, failed.samples) == (False, ())

    readings.error = None
    clock.move(seconds=5)
    assert cached.latest().is_up


def test_a_store_that_hangs_makes_no_scrape_hang(clock: Hand) -> None:
    readings = Readings()
    cached = CachedReading(readings, every=5.0, patience=0.01, clock=clock)
    eventually(lambda: cached.latest().is_up)
    readings.gate = Event()
    clock.move(seconds=5)

    hung = cached.latest()
    clock.move(seconds=1)
    still = cached.latest()

    assert readings.count == 2
    assert not still.is_up
    readings.gate.set()
    eventually(lambda: cached.latest().is_up)
    assert hung.samples == [Sample("sempre_workers", 1)]


def test_labels_beyond_the_bound_share_one_group() -> None:
    groups = in_groups([f"queue-{number:05}" for number in range(5000)], str)

    assert len(groups) == MOST + 1
    assert sum(map(len, groups.values())) == 5000
    assert len(groups[OTHER]) == 5000 - MOST


# The hand-over


@pytest.fixture
def channel() -> Iterator[Channel]:
    found = Channel()
    yield found
    found.close()


class Probe(WorkerProbe):
    """A probe without a worker."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def report(self) -> ProcessReport:
        return replace(READY, pid=self.pid)


def take_all(channel: Channel, received: Received) -> None:
    channel.receiving.settimeout(0.0)
    try:
        while True:
            received.add(channel.receiving.recv(1 << 20))
    except BlockingIOError:
        return


def test_counts_of_a_process_that_is_gone_stay_in_the_totals(channel: Channel) -> None:
    """A sum that drops would look like a restart, and be counted twice."""
    received, pid = Received(SystemClock()), os.getpid()
    for _ in range(2):
        tally = Tally()
        tally.count(ENDED, "default", "bill", "succeeded", by=3)
        sender = Sender(channel.sending, tally, Probe(pid))
        sender.send()
        sender.send(is_last=True)

    take_all(channel, received)

    assert received.tally.read() == {(ENDED, ("default", "bill", "succeeded")): (6.0,)}
    assert list(received.reports()) == []


def test_counts_that_cannot_be_sent_are_sent_later(channel: Channel) -> None:
    received, tally = Received(SystemClock()), Tally()
    sender = Sender(channel.sending, tally, Probe(os.getpid()))
    channel.sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    sent = 0
    while not tally.read():
        for number in range(3 * AT_ONCE):
            tally.count(ENDED, "default", f"job-{number % MOST}", "succeeded")
            sent += 1
        sender.send()
    take_all(channel, received)

    while tally.read():
        sender.send()
        take_all(channel, received)

    assert sum(each[0] for each in received.tally.read().values()) == sent


def test_processes_keep_their_number_while_they_live(channel: Channel) -> None:
    received = Received(SystemClock())
    alive = os.getpid(), os.getppid()
    for pid in (*alive, alive[0]):
        Sender(channel.sending, Tally(), Probe(pid)).send()
    take_all(channel, received)

    found = [(number, report.pid) for number, report, _ in received.reports()]

    assert found == [(0, alive[0]), (1, alive[1])]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"report": {"pid": 1}}', "\udcff"])
def test_a_datagram_that_cannot_be_read_is_left_out(text: str) -> None:
    received = Received(SystemClock())

    received.add(text.encode("utf-8", "surrogateescape"))

    assert list(received.reports()) == []
    assert received.tally.read() == {}


def test_a_hostile_number_of_names_is_bounded_in_the_totals() -> None:
    received = Received(SystemClock())
    report = {"pid": os.getpid()}
    for number in range(5000):
        changes = [[ENDED, ["default", f"job-{number}", "failed"], [1.0]]]
        received.add(json.dumps({"report": report, "changes": changes}).encode())

    assert len(received.tally.read()) == MOST + 1
