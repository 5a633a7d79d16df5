"""Alerts on virtual time: one message per incident, reminders, recovery, quiet hours, scopes."""

from datetime import UTC, datetime, timedelta

import pytest

from sempre import Retry, Sempre
from sempre.alerts import Ping
from sempre.app.alerts.names import delivery_job
from sempre.errors import InvalidInput, NamingError
from tests.unit.app.recording import Recording

NOON = "2026-11-15 12:00:00Z"


@pytest.fixture
def channel() -> Recording:
    return Recording()


class Flaky:
    """A job that fails while it is told to."""

    def __init__(self) -> None:
        self.is_broken = True

    def run(self) -> None:
        if self.is_broken:
            raise ValueError("the bank is closed, password=hunter2")


def test_an_incident_is_told_once_however_often_its_schedule_fails(
    app: Sempre, channel: Recording
) -> None:
    app.alert(channel)
    app.every("1m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        t.travel("3h")

    assert channel.told == ["opened failure bill"]
    [told] = channel.messages
    assert told.count == 1
    assert told.since == datetime(2026, 11, 15, 12, 1, tzinfo=UTC)
    assert "ValueError" in told.error
    assert "hunter2" not in str(told.to_json())


def test_an_alert_follows_its_failure_within_seconds(app: Sempre, channel: Recording) -> None:
    app.alert(channel)
    app.cron("30 12 * * *", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        t.travel_to("2026-11-15 12:30:10Z")

        assert channel.told == ["opened failure bill"]


def test_a_reminder_follows_while_the_trouble_lasts(app: Sempre, channel: Recording) -> None:
    app.alert(channel, remind="1h")
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        t.travel("2h30m")

    assert channel.told == ["opened failure bill", "reminder failure bill", "reminder failure bill"]
    assert [each.reminder for each in channel.messages] == [0, 1, 2]
    assert len({each.id for each in channel.messages}) == 1


def test_a_recovery_is_told_once(app: Sempre, channel: Recording) -> None:
    flaky = Flaky()
    app.alert(channel)
    app.every("10m", name="bill")(flaky.run)

    with app.testing(NOON) as t:
        t.travel("25m")
        flaky.is_broken = False
        t.travel("3h")

    assert channel.told == ["opened failure bill", "recovered failure bill"]
    assert channel.messages[1].recovered_at == datetime(2026, 11, 15, 12, 30, tzinfo=UTC)


def test_trouble_that_comes_back_is_a_new_incident(app: Sempre, channel: Recording) -> None:
    flaky = Flaky()
    app.alert(channel)
    app.every("10m", name="bill")(flaky.run)

    with app.testing(NOON) as t:
        for is_broken in (True, False, True, False):
            flaky.is_broken = is_broken
            t.travel("20m")

    assert [word.split()[0] for word in channel.told] == ["opened", "recovered"] * 2
    assert len({each.id for each in channel.messages}) == 2


def test_a_rule_without_recovery_is_told_of_failures_only(app: Sempre, channel: Recording) -> None:
    flaky = Flaky()
    app.alert(channel, on={"failure"})
    app.every("10m", name="bill")(flaky.run)

    with app.testing(NOON) as t:
        t.travel("15m")
        flaky.is_broken = False
        t.travel("3h")

    assert channel.told == ["opened failure bill"]


def test_alert_after_decides_how_many_failures_are_an_incident(
    app: Sempre, channel: Recording
) -> None:
    app.alert(channel)
    app.every("10m", name="bill", alert_after=3)(Flaky().run)

    with app.testing(NOON) as t:
        t.travel("25m")
        assert not channel.messages
        t.travel("10m")

    assert [each.count for each in channel.messages] == [3]


def test_a_retry_that_succeeds_is_no_incident(app: Sempre, channel: Recording) -> None:
    tries: list[int] = []
    app.alert(channel)

    @app.every("1h", retry=Retry(2, base="1m"))
    def bill() -> None:
        tries.append(1)
        if len(tries) % 2:
            raise ValueError("try again")

    with app.testing(NOON) as t:
        t.travel("3h30m")

    assert len(tries) == 6
    assert not channel.messages


def test_rules_choose_by_schedule_job_and_tag(app: Sempre) -> None:
    named, jobs, tagged, others = (Recording(name) for name in ("named", "jobs", "tagged", "none"))
    app.alert(named, schedules=["bill-*"])
    app.alert(jobs, jobs=["mail"])
    app.alert(tagged, tags=["money"])
    app.alert(others, schedules=["report"], tags=["night"])
    app.every("10m", name="bill-eu", tags=["money"])(Flaky().run)

    @app.job
    def mail() -> None:
        raise ValueError("no route")

    with app.testing(NOON) as t:
        mail.enqueue()
        t.travel("30m")

    assert named.told == ["opened failure bill-eu"]
    assert jobs.told == ["opened failure mail"]
    assert not jobs.messages[0].is_schedule
    assert tagged.told == ["opened failure bill-eu"]
    assert not others.messages


def test_one_off_work_recovers_by_its_next_success(app: Sempre, channel: Recording) -> None:
    app.alert(channel)

    @app.job
    def mail(number: int) -> None:
        if number:
            raise ValueError("no route")

    with app.testing(NOON) as t:
        mail.enqueue(1)
        mail.enqueue(2)
        t.travel("10m")
        mail.enqueue(0)
        t.travel("10m")

    assert channel.told == ["opened failure mail", "recovered failure mail"]


def test_trouble_in_quiet_hours_is_told_at_their_end(app: Sempre, channel: Recording) -> None:
    app.alert(channel, quiet="22:00-07:00 Europe/Rome")
    app.cron("0 2 * * *", name="bill", timezone="Europe/Rome")(Flaky().run)

    with app.testing("2026-11-15 20:00Z") as t:
        t.travel_to("2026-11-16 05:59Z")
        assert not channel.messages
        t.travel_to("2026-11-16 06:02Z")

    assert channel.told == ["opened failure bill"]


def test_trouble_that_came_and_went_in_quiet_hours_is_one_message(
    app: Sempre, channel: Recording
) -> None:
    flaky = Flaky()
    app.alert(channel, quiet="22:00-07:00 Europe/Rome")
    app.cron("0 2-5 * * *", name="bill", timezone="Europe/Rome")(flaky.run)

    with app.testing("2026-11-15 20:00Z") as t:
        t.travel_to("2026-11-16 02:30Z")
        flaky.is_broken = False
        t.travel_to("2026-11-16 08:00Z")

    assert channel.told == ["recovered failure bill"]
    assert channel.messages[0].since == datetime(2026, 11, 16, 1, tzinfo=UTC)


def test_a_failure_that_ended_before_the_scan_saw_it_is_told(
    app: Sempre, channel: Recording
) -> None:
    outcomes = iter([True, True, False, True, True, True, True, True])
    app.alert(channel)

    @app.every("5s")
    def bill() -> None:
        if not next(outcomes, True):
            raise ValueError("once")

    with app.testing("2026-11-15 12:00:01Z") as t:
        # Without the fast path: its process died before it heard of the failure.
        app.events._listeners.clear()  # noqa: SLF001 - the death of a process, in one process
        t.travel("3m")

    assert channel.told == ["recovered failure bill"]


def test_a_channel_that_is_down_gets_its_message_later(app: Sempre, channel: Recording) -> None:
    app.alert(channel)
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        channel.is_down = True
        t.travel("30m")
        assert not channel.messages
        channel.is_down = False
        t.travel("2h")

    assert channel.told == ["opened failure bill"]


def test_trouble_is_not_told_after_its_end(app: Sempre, channel: Recording) -> None:
    flaky = Flaky()
    app.alert(channel)
    app.every("10m", name="bill")(flaky.run)

    with app.testing(NOON) as t:
        channel.is_down = True
        t.travel("15m")
        flaky.is_broken = False
        t.travel("6m")
        channel.is_down = False
        t.travel("3h")

    assert channel.told == ["recovered failure bill"]


def test_no_channel_outside_is_told_of_simulated_failures(app: Sempre, channel: Recording) -> None:
    channel.works_in_tests = False
    app.alert(channel)
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        t.travel("1h")
        [row] = app.executions(job=delivery_job(channel.name))

    assert (row.state, row.reason) == ("skipped", "on virtual time nothing is sent")
    assert not channel.messages


def test_a_ping_without_a_schedule_is_refused(app: Sempre) -> None:
    with pytest.raises(InvalidInput, match="schedules="):
        app.alert(Ping("https://hc-ping.com/uuid"))

    app.alert(Ping("https://hc-ping.com/uuid"), schedules=["bill"])


def test_a_delivery_that_fails_for_good_is_no_incident(app: Sempre, channel: Recording) -> None:
    app.alert(channel)
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        channel.is_down = True
        t.travel("12h")
        job = delivery_job(channel.name)
        failed = [row.snapshot.job for row in app.executions(job=job, state="failed")]
        channel.is_down = False
        t.travel("1h")

    assert failed == [job]
    assert not channel.messages


def test_a_message_that_a_switch_rejects_is_told_when_the_switch_is_on_again(
    app: Sempre, channel: Recording
) -> None:
    app.alert(channel)
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        app.switch(f"job:{delivery_job(channel.name)}").off("maintenance")
        t.travel("30m")
        assert not channel.messages
        app.switch(f"job:{delivery_job(channel.name)}").on()
        t.travel("5m")

    assert channel.told == ["opened failure bill"]


def test_a_paused_schedule_is_reminded_of_no_more_and_has_not_recovered(
    app: Sempre, channel: Recording
) -> None:
    app.alert(channel, remind="1h")
    app.every("10m", name="bill")(Flaky().run)

    with app.testing(NOON) as t:
        t.travel("30m")
        app.schedule("bill").pause(note="the bank is closed")
        t.travel("5h")

    assert channel.told == ["opened failure bill"]


def test_runs_are_told_to_channels_that_hear_them(app: Sempre) -> None:
    channel, flaky = Recording(hears_runs=True), Flaky()
    channel.hears_incidents = False
    app.alert(channel, schedules=["bill"])
    app.every("1h", name="bill")(flaky.run)
    app.every("1h", name="other")(Flaky().run)

    with app.testing("2026-11-15 12:30Z") as t:
        t.travel("1h")
        flaky.is_broken = False
        t.travel("1h")

    assert sorted(channel.told[:2]) == ["fail bill", "start bill"]
    assert sorted(channel.told[2:]) == ["start bill", "success bill"]
    assert channel.messages[0].monitor is not None


def test_an_application_without_alerts_has_no_job_schedule_or_listener_for_them(
    app: Sempre,
) -> None:
    @app.every("1h")
    def bill() -> None: ...

    assert set(app.declarations.tasks) == {"bill"}
    assert set(app.declarations.schedules) == {"bill"}
    assert not app.events._listeners  # noqa: SLF001 - what the engine asks before each event


def test_two_channels_of_one_name_are_refused(app: Sempre) -> None:
    app.alert(Recording())

    with pytest.raises(NamingError, match="Pass name="):
        app.alert(Recording())


@pytest.mark.parametrize(
    "options",
    [
        {"on": {"failures"}},
        {"on": ()},
        {"remind": "10s"},
        {"quiet": "22-7"},
        {"quiet": "07:00-07:00"},
        {"quiet": "22:00-07:00 Europe/Atlantis"},
        {"tags": ["two words"]},
        {"schedules": "bill"},
        {"overdue_after": "soon"},
    ],
)
def test_options_that_cannot_be_read_are_refused(
    app: Sempre, channel: Recording, options: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput):
        app.alert(channel, **options)  # type: ignore[arg-type]  # wrong on purpose


def test_something_else_than_a_channel_is_refused(app: Sempre) -> None:
    with pytest.raises(InvalidInput, match="Webhook"):
        app.alert("https://example.com")  # type: ignore[arg-type]  # wrong on purpose


def test_the_next_release_reads_no_alert_of_an_unknown_phase(
    app: Sempre, channel: Recording
) -> None:
    app.alert(channel)

    with app.testing(NOON) as t:
        app.alerts.jobs["recording"].enqueue(key="x", alert={"phase": "exploded", "name": "bill"})
        t.travel(timedelta(minutes=1))
        [row] = app.executions(job=delivery_job("recording"))

    assert "newer release" in row.reason
