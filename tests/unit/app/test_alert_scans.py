"""Scans of alerts by a real worker on a clock that is moved by hand."""

from collections.abc import Callable

import pytest

from sempre import Every, Sempre
from sempre.app.alerts.names import delivery_job, scan_job
from sempre.app.alerts.scan import last_scan
from sempre.app.health.reader import Reader
from tests.unit.app.conftest import Hand
from tests.unit.app.recording import Recording


@pytest.fixture
def channel(app: Sempre) -> Recording:
    channel = Recording()
    app.alert(channel, overdue_after="5m")
    return channel


def work(app: Sempre, clock: Hand, **by: float) -> None:
    """Move the clock, and run what is due in the default queue, scans and messages included."""
    clock.move(**by)
    for _ in range(2):
        with app.running(burst=True, queues=["default"]) as running:
            running.wait_until_exhausted()
        clock.move(seconds=2)


def failing_job(app: Sempre, name: str = "mail") -> Callable[[], object]:
    @app.job(name=name)
    def mail() -> None:
        raise ValueError("no route")

    return mail.enqueue


def test_overdue_work_is_told_and_recovers(app: Sempre, clock: Hand, channel: Recording) -> None:
    @app.job
    def report() -> None: ...

    report.options(queue="night").enqueue()
    work(app, clock, minutes=4)
    assert not channel.messages
    work(app, clock, minutes=2)
    assert channel.told == ["opened overdue report"]
    list(app.executions(job="report").cancel())
    work(app, clock, minutes=2)

    assert channel.told == ["opened overdue report", "recovered overdue report"]


def test_work_that_is_overdue_for_hours_is_one_incident(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    @app.job
    def report() -> None: ...

    for _ in range(4):
        report.options(queue="night").enqueue()
        work(app, clock, hours=1)

    assert channel.told == ["opened overdue report"]


def test_discarded_one_off_work_ends_its_incident(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    failing_job(app)()

    work(app, clock, minutes=2)
    assert [each.done for each in app.executions(job="mail", state="failed").discard()] == [True]
    work(app, clock, minutes=2)

    assert channel.told == ["opened failure mail", "recovered failure mail"]


def test_an_incident_without_an_end_stays_one_when_its_executions_are_read_no_more(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    failing_job(app)()

    for _ in range(4):
        work(app, clock, days=1)

    assert channel.told == ["opened failure mail"]
    assert [each.name for each in last_scan(Reader(app.engine), scan_job(None)).open] == ["mail"]


def test_a_long_row_of_failures_is_one_incident(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    @app.every("1m", catch_up=True, name="bill")
    def bill() -> None:
        raise ValueError("closed")

    work(app, clock, minutes=1)
    # More failures than a scan reads.
    work(app, clock, minutes=130)
    work(app, clock, minutes=5)

    assert len(app.executions(job="bill", state="failed").first(500)) > 130
    assert [each for each in channel.told if "failure" in each] == ["opened failure bill"]


def test_each_of_many_schedules_of_one_job_is_an_incident_of_its_own(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    @app.job
    def bill(tenant: int) -> None:
        raise ValueError(tenant)

    wanted = [(f"bill-{number}", Every("1h"), bill.bind(number)) for number in range(210)]
    app.create_schedules(wanted)
    work(app, clock, hours=1)
    work(app, clock, minutes=2)

    assert len(channel.messages) == 210
    assert len({each.name for each in channel.messages}) == 210


def test_a_scan_that_is_repeated_enqueues_no_message_twice(
    app: Sempre, clock: Hand, channel: Recording
) -> None:
    failing_job(app)()
    work(app, clock, minutes=2)
    scan = app.declarations.tasks[scan_job(None)].function

    # Killed before it ended: its result, and with it the memory of its messages, is lost.
    for _ in range(2):
        scan()

    assert len(list(app.executions(job=delivery_job(channel.name)))) == 1


def test_the_first_scan_finds_what_was_failing_before_alerts_were_declared(
    app: Sempre, clock: Hand
) -> None:
    @app.every("30 days", anchor="2026-11-15 12:00Z", name="bill")
    def bill() -> None:
        raise ValueError("closed")

    work(app, clock, seconds=1)
    work(app, clock, days=30)
    clock.move(days=5)
    channel = Recording()
    app.alert(channel)
    # The worker that starts now declares the scan; the slot of the scan comes a minute later.
    work(app, clock, minutes=1)
    work(app, clock, minutes=1)

    assert channel.told == ["opened failure bill"]
