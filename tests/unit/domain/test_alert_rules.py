"""Incidents, rules and quiet hours, example by example."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.incidents import (
    Incident,
    SentMessages,
    Sighting,
    Trouble,
    observe,
    read_incidents,
)
from sempre.domain.alerts.quiet_hours import QuietHours, read_quiet_hours
from sempre.domain.alerts.rules import Rule, after_delivery, due_deliveries, open_ones
from sempre.errors import InvalidInput

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
BAD = Sighting(
    trouble=Trouble.FAILURE,
    subject="schedule:bill",
    first="e1",
    job="bill",
    since=NOW,
    count=1,
    error="closed",
    execution="e1",
)
WELL = Sighting(trouble=Trouble.FAILURE, subject="schedule:bill", recovered_at=NOW + HOUR)
RULE = Rule(channel="ops")


def opened() -> Incident:
    [incident] = observe({}, [BAD]).values()
    return incident


def test_an_incident_keeps_its_id_while_its_first_failure_is_read_no_more() -> None:
    later = replace(BAD, first="e40", count=30, execution="e70", since=NOW + HOUR)

    [incident] = observe({BAD.key: opened()}, [later]).values()

    assert incident.id == opened().id == "failure:schedule:bill:e1"
    assert (incident.count, incident.execution, incident.since) == (30, "e70", NOW)


def test_an_incident_that_nothing_is_known_of_stays_open_and_is_not_reminded_of() -> None:
    told = replace(opened(), sent={"ops": SentMessages(1, NOW)})

    found = observe({BAD.key: told}, [])

    later = NOW + 9 * HOUR
    assert not due_deliveries(found.values(), [replace(RULE, remind=HOUR)], later)
    assert open_ones(found.values(), [RULE], later) == found


def test_an_incident_of_a_deleted_schedule_is_gone() -> None:
    gone = Sighting(trouble=Trouble.FAILURE, subject="schedule:bill", is_gone=True)

    assert not observe({BAD.key: opened()}, [gone])


def test_a_recovery_without_an_incident_opens_none() -> None:
    assert not observe({}, [WELL])


def test_an_ended_incident_is_remembered_and_then_forgotten() -> None:
    told = replace(opened(), sent={"ops": SentMessages(1, NOW)})
    ended = observe({BAD.key: told}, [WELL])
    [delivery] = due_deliveries(ended.values(), [RULE], NOW + HOUR)
    done = after_delivery(delivery.incident, delivery, NOW + HOUR)

    assert delivery.phase is Phase.RECOVERED
    assert open_ones([done], [RULE], NOW + HOUR)
    assert not open_ones([done], [RULE], NOW + 2 * HOUR)
    assert not due_deliveries([done], [RULE], NOW + 2 * HOUR)


def test_trouble_after_a_recovery_is_another_incident() -> None:
    ended = replace(opened(), recovered_at=NOW + HOUR)
    again = replace(BAD, first="e9", since=NOW + 2 * HOUR)

    [incident] = observe({BAD.key: ended}, [again]).values()

    assert incident.id == "failure:schedule:bill:e9"
    assert not incident.sent


def test_the_key_of_a_message_names_incident_phase_and_number() -> None:
    rule, incident, keys = replace(RULE, remind=HOUR), opened(), []
    for hour in range(3):
        [delivery] = due_deliveries([incident], [rule], NOW + hour * HOUR)
        keys.append(delivery.key)
        incident = after_delivery(incident, delivery, NOW + hour * HOUR)

    name = "failure:schedule:bill:e1"
    assert keys == [f"{name}:opened", f"{name}:reminder:1", f"{name}:reminder:2"]


def test_the_first_rule_of_a_channel_decides() -> None:
    rules = [replace(RULE, remind=HOUR), RULE, replace(RULE, channel="other")]
    told = replace(opened(), sent={"ops": SentMessages(1, NOW), "other": SentMessages(1, NOW)})

    assert [each.channel for each in due_deliveries([told], rules, NOW + HOUR)] == ["ops"]


@pytest.mark.parametrize("minutes", [0, 4, 5])
def test_overdue_work_is_told_when_the_rule_says_so(minutes: int) -> None:
    late = replace(opened(), trouble=Trouble.OVERDUE)

    found = due_deliveries([late], [RULE], NOW + timedelta(minutes=minutes))

    assert bool(found) == (minutes >= 5)


def test_incidents_survive_their_stored_form() -> None:
    told = {"ops": SentMessages(2, NOW, has_end=True), "secret-token": SentMessages()}
    incident = replace(opened(), sent=told, tags=("a", "b"), recovered_at=NOW)

    assert read_incidents([incident.to_json()]) == {incident.key: incident}


@pytest.mark.parametrize("stored", [None, 7, [7], [{}], [{"trouble": "flood"}], [{"told": 1}]])
def test_incidents_of_an_unknown_form_are_left_out(stored: object) -> None:
    assert read_incidents(stored) == {}


def test_an_alert_survives_its_stored_form() -> None:
    alert = Alert.of(replace(opened(), tags=("a",)), Phase.REMINDER, 3)

    assert Alert.read({**alert.to_json(), "colour": "red"}) == alert


@pytest.mark.parametrize(
    ("phase", "title"),
    [
        (Phase.OPENED, "bill is failing"),
        (Phase.REMINDER, "bill is still failing"),
        (Phase.RECOVERED, "bill has recovered"),
    ],
)
def test_an_alert_says_what_happened_in_one_line(phase: Phase, title: str) -> None:
    alert = Alert.of(opened(), phase, 1)

    assert alert.title == title
    assert "error: closed" in alert.text


# Quiet hours


@pytest.mark.parametrize(
    ("text", "instant", "quiet"),
    [
        ("22:00-07:00 Europe/Rome", "2026-01-15T21:00Z", True),
        ("22:00-07:00 Europe/Rome", "2026-01-15T20:59Z", False),
        ("22:00-07:00 Europe/Rome", "2026-01-15T05:59Z", True),
        ("22:00-07:00 Europe/Rome", "2026-01-15T06:00Z", False),
        # In summer the wall clock of Rome is two hours ahead.
        ("22:00-07:00 Europe/Rome", "2026-07-15T20:00Z", True),
        ("22:00-07:00 Europe/Rome", "2026-07-15T05:00Z", False),
        # The night in which the clock goes forward.
        ("02:00-03:00 Europe/Rome", "2026-03-29T00:59Z", False),
        ("02:00-03:00 Europe/Rome", "2026-03-29T01:00Z", False),
        # The hour that comes twice is quiet twice.
        ("02:00-03:00 Europe/Rome", "2026-10-25T00:30Z", True),
        ("02:00-03:00 Europe/Rome", "2026-10-25T01:30Z", True),
        ("9:00-17:00", "2026-01-15T09:00Z", True),
        ("9:00-17:00", "2026-01-15T17:00Z", False),
    ],
)
def test_quiet_hours_follow_the_wall_clock(text: str, instant: str, *, quiet: bool) -> None:
    hours = read_quiet_hours(text)

    assert hours is not None
    assert hours.covers(datetime.fromisoformat(instant)) is quiet


def test_quiet_hours_without_a_zone_are_in_the_zone_of_the_application() -> None:
    assert str(read_quiet_hours("22:00-7:30", "Asia/Tokyo")) == "22:00-07:30 Asia/Tokyo"
    assert read_quiet_hours("22:00-07:00") == QuietHours(79_200, 25_200, "UTC")
    assert read_quiet_hours(None) is None


@pytest.mark.parametrize("text", ["", "22-7", "24:00-07:00", "22:00-07:60", "x 22:00-07:00", 7])
def test_quiet_hours_that_cannot_be_read_are_refused(text: object) -> None:
    with pytest.raises(InvalidInput):
        read_quiet_hours(text)
