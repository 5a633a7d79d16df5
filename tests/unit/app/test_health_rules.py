"""The rules that decide which work is failing, without a store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Cron, Every, Sempre
from sempre.app.health.failures import (
    LOOK_BACK,
    failed_jobs,
    failing,
    is_held,
    is_overrunning,
    is_quarantined,
    one_line,
)
from sempre.app.health.reading import read_facts
from sempre.domain.definition import Definition, define
from sempre.domain.execution import Execution
from sempre.domain.job_policy import read_policy
from sempre.domain.rules import read_definition, write_rules
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.errors import PolicyError

NOW = datetime(2026, 11, 15, 18, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SCHEDULE = Schedule(
    id="1",
    name="bill",
    definition=define(job="billing", grid=Every("5m"), redact=["iban"]),
    created_at=NOW,
    cursor=NOW,
    started=True,
)


def ended(state: State = State.FAILED, ago: int = 0, **changes: object) -> Execution:
    at = NOW - ago * MINUTE
    row = Execution(
        id=f"{ago:02}",
        kind=Kind.SCHEDULED,
        run_at=at,
        due_at=at,
        snapshot=SCHEDULE.snapshot(),
        schedule_id="1",
        state=state,
        reason="error: ValueError: no",
        created_at=at,
        finished_at=at,
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def patient(count: int) -> Schedule:
    return replace(SCHEDULE, definition=SCHEDULE.definition.edited(alert_after=count))


def test_one_failure_is_enough_by_default() -> None:
    found = failing(SCHEDULE, [ended(ago=1), ended(State.SUCCEEDED, ago=2)], NOW)

    assert found is not None
    assert (found.name, found.count, found.since) == ("bill", 1, NOW - MINUTE)
    assert (found.error, found.execution_id) == ("error: ValueError: no", "01")
    assert not found.is_longer


def test_a_success_ends_it() -> None:
    assert failing(SCHEDULE, [ended(State.SUCCEEDED), ended(ago=1)], NOW) is None
    assert failing(SCHEDULE, [], NOW) is None


def test_a_patient_schedule_fails_when_as_many_in_a_row_have_failed() -> None:
    two = [ended(ago=1), ended(ago=2), ended(State.SUCCEEDED, ago=3)]

    assert failing(patient(3), two, NOW) is None
    assert failing(patient(3), two[:2], NOW) is None
    found = failing(patient(2), two, NOW)

    assert found is not None
    assert (found.count, found.since) == (2, NOW - 2 * MINUTE)


def test_failures_beyond_what_was_read_may_have_begun_earlier() -> None:
    found = failing(SCHEDULE, [ended(ago=number) for number in range(LOOK_BACK)], NOW)

    assert found is not None
    assert found.is_longer


@pytest.mark.parametrize(
    "stopped",
    [
        replace(SCHEDULE, definition=SCHEDULE.definition.edited(enabled=False)),
        replace(SCHEDULE, pause=Pause()),
        replace(SCHEDULE, deleted=True),
        replace(SCHEDULE, broken="backwards"),
    ],
)
def test_a_schedule_that_is_stopped_is_not_failing(stopped: Schedule) -> None:
    assert failing(stopped, [ended()], NOW) is None


def test_a_pause_that_is_over_hides_nothing() -> None:
    resumed = replace(SCHEDULE, pause=Pause(until=NOW - MINUTE))

    assert failing(resumed, [ended()], NOW)


def test_an_error_is_one_short_line_without_secrets() -> None:
    reason = "error: ValueError: password=hunter2 iban=IT60X0542811101\nin line 2 " + "x" * 200
    found = failing(SCHEDULE, [ended(reason=reason)], NOW)

    assert found is not None
    assert "hunter2" not in found.error
    assert "IT60" not in found.error
    assert "\n" not in found.error
    assert len(found.error) == 120
    assert one_line("a\tb\n c") == "a b c"


def test_a_schedule_is_held_only_if_sempre_paused_it() -> None:
    itself = Pause(note="execution 01 has an unknown outcome", actor="sempre")

    assert is_held(replace(SCHEDULE, pause=itself), NOW)
    assert not is_held(replace(SCHEDULE, pause=Pause(actor="anna")), NOW)
    assert not is_held(SCHEDULE, NOW)


def one_off(ago: int, job: str = "mail") -> Execution:
    return ended(ago=ago, schedule_id=None, snapshot=Snapshot(name=job, job=job))


def test_jobs_are_counted_by_their_one_off_failures() -> None:
    rows = [one_off(1), one_off(2, "bill"), one_off(3), ended(ago=4)]

    bill, mail = failed_jobs(rows)

    assert (bill.job, bill.count, bill.execution_id) == ("bill", 1, "02")
    assert (mail.job, mail.count, mail.execution_id) == ("mail", 2, "01")
    assert mail.oldest_of_last is None


def test_the_tenth_last_failure_of_a_job_is_known() -> None:
    [mail] = failed_jobs([one_off(number) for number in range(12)])

    assert mail.count == 12
    assert mail.oldest_of_last == NOW - 9 * MINUTE


def test_an_execution_is_quarantined_by_its_reason() -> None:
    assert is_quarantined(ended(reason="quarantined: exit code -11"))
    assert not is_quarantined(ended())
    assert not is_quarantined(ended(State.CANCELLED, reason="quarantined"))


def running(ago: int, **changes: object) -> Execution:
    given: dict[str, object] = {"started_at": NOW - ago * MINUTE, "finished_at": None}
    return ended(State.RUNNING, ago, **(given | changes))


def test_a_run_is_too_long_when_it_lasts_beyond_the_next_slot() -> None:
    assert is_overrunning(running(6), NOW)
    assert not is_overrunning(running(5), NOW)


def test_a_run_that_started_late_has_its_whole_interval() -> None:
    assert not is_overrunning(running(60, started_at=NOW - MINUTE), NOW)


def test_only_slots_can_run_for_longer_than_their_interval() -> None:
    once = replace(SCHEDULE.snapshot(), grid=Cron("0 0 1 1 *"))

    assert not is_overrunning(running(6, kind=Kind.MANUAL), NOW)
    assert not is_overrunning(one_off(6), NOW)
    assert not is_overrunning(running(6, snapshot=once), NOW)


def test_alert_after_is_a_count_of_at_least_one() -> None:
    assert define(job="a", grid=Every("5m")).alert_after == 1
    assert define(job="a", grid=Every("5m"), alert_after=3).alert_after == 3
    for wrong in (0, -1, "3", True, None):
        with pytest.raises(PolicyError, match="alert_after"):
            define(job="a", grid=Every("5m"), alert_after=wrong)


def test_a_job_gives_alert_after_to_its_schedules_and_not_to_its_runs() -> None:
    policy = read_policy({"alert_after": 3})

    assert policy.inherited["alert_after"] == 3
    assert "alert_after" not in vars(policy.snapshot("mail", {}))


@pytest.mark.parametrize("count", [1, 3])
def test_a_stored_definition_keeps_alert_after(count: int) -> None:
    definition = define(job="a", grid=Every("5m"), alert_after=count)

    text = write_rules(definition)

    assert ("alert_after" in text) is (count > 1)
    assert read_definition(text).alert_after == count
    assert isinstance(read_definition(text), Definition)


def test_a_schedule_that_failed_long_ago_in_a_journey_is_failing() -> None:
    """Time travel files old executions away; they still count."""
    app = Sempre("memory://", retention="365d")

    @app.cron("0 0 1 * *", alert_after=3)
    def bill() -> None:
        raise ValueError("no")

    @app.every("1h")
    def refresh() -> None: ...

    with app.testing("2026-01-15 12:00:00Z") as travel:
        travel.travel_to("2026-04-15 12:00:00Z")
        facts = read_facts(app.engine)

    assert [(each.name, each.count) for each in facts.failing] == [("bill", 3)]
