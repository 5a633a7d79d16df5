"""`sempre status` on failing, held, orphaned and poisoned work in a real SQLite file."""

from datetime import timedelta
from typing import Any

import pytest

from sempre import Cron, Every, Job, Sempre
from sempre.domain.definition import define
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, Session, Switch, Work
from sempre.testing.contracts.store.builders import claimed, expire, rescued
from tests.integration.cli.shop import Shop

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def fleet(shop: Shop) -> Shop:
    """A worker of the queue default that knows every job, and a pass that has just been."""
    worker = Session("w1", queues=("default",), jobs=("leap", "fail", "mail", "patient"))
    shop.app.engine.store.register(worker, lease=MINUTE)
    shop.app.watchdog.perform()
    return shop


def problems(shop: Shop) -> dict[str, Any]:
    return {each["code"]: each for each in shop.answer("status")["problems"]}


def enqueue(shop: Shop, *, ago: timedelta = HOUR, **fields: Any) -> Execution:  # noqa: ANN401
    """Write one-off work that has been due for some time."""
    snapshot = Snapshot(name="mail", job="mail", queue=fields.pop("queue", "default"))
    if job := fields.pop("job", None):
        snapshot = Snapshot(name=job, job=job)
    at = shop.app.clock.now() - ago
    given: dict[str, Any] = {"id": f"{at.timestamp()}", "state": State.SCHEDULED}
    row = Execution(
        kind=Kind.ENQUEUED, run_at=at, due_at=at, created_at=at, snapshot=snapshot, **given | fields
    )
    shop.app.engine.store.enqueue([Work(row)])
    return row


def grow(app: Sempre) -> None:
    """Add a schedule that is failing after two failures."""

    @app.cron("@yearly", alert_after=2)
    def patient() -> None:
        raise ValueError("not yet")

    app.sync()


def failing_mail(app: Sempre) -> Job[[], None]:
    @app.job
    def mail() -> None:
        raise ValueError("password=hunter2 is wrong")

    return mail


def test_a_schedule_that_fails_makes_the_store_unhealthy_until_it_succeeds(fleet: Shop) -> None:
    fleet.run("doomed")

    result = fleet.cli("status")

    assert result.exit_code == 1
    [line] = [each for each in result.stdout.splitlines() if "S207" in each]
    assert line.startswith("error S207  doomed fails since 20")
    assert line.endswith("ago: error: ValueError: no such region.")
    assert "  try: sempre show doomed" in result.stderr
    assert "  failing      1" in result.stdout


def test_status_and_list_agree_on_what_is_failing(fleet: Shop) -> None:
    fleet.run("doomed", "leap")
    grow(fleet.app)
    fleet.run("patient")

    def failing() -> tuple[list[str], list[str]]:
        listed = fleet.answer("list", "--failing")["schedules"]
        return problems(fleet)["S207"]["names"], [each["name"] for each in listed]

    assert failing() == (["doomed"], ["doomed"])

    fleet.run("patient")

    assert failing() == (["doomed", "patient"], ["doomed", "patient"])
    states = {each["name"]: each["state"] for each in fleet.answer("list")["schedules"]}
    assert states == {
        "doomed": "failing",
        "hourly": "never ran",
        "leap": "ok",
        "patient": "failing",
    }


def test_a_pause_silences_a_failing_schedule(fleet: Shop) -> None:
    fleet.run("doomed")

    fleet.cli("pause", "doomed", "--note", "known")

    assert problems(fleet) == {}
    assert fleet.answer("list", "--failing")["schedules"] == []


def test_the_numbers_of_a_failing_schedule_are_in_json(fleet: Shop) -> None:
    [identity] = fleet.run("doomed")

    [failing] = fleet.answer("status")["failing"]

    assert failing.pop("since").endswith("Z")
    assert failing == {
        "name": "doomed",
        "failures": 1,
        "error": "error: ValueError: no such region",
        "execution": identity,
    }


def test_a_schedule_that_sempre_paused_is_held_until_a_person_resumes_it(fleet: Shop) -> None:
    store = fleet.app.engine.store
    now = fleet.app.clock.now()
    charge = Schedule(
        id="charge",
        name="charge",
        definition=define(job="leap", grid=Every("1h", anchor=now - MINUTE), on_unknown="hold"),
        created_at=now - HOUR,
        cursor=now - HOUR,
    )
    store.create([Birth(charge)])
    fleet.app.schedule("charge").start()
    [view] = store.views(["charge"]).value
    store.register(Session("w2"), lease=HOUR)
    [row] = [each for each in view.rows if each.is_due(now)] or view.rows
    claimed(store, row.id, "w2")
    expire(store, "w2")
    rescued(store, row.id)

    found = problems(fleet)

    assert found.keys() == {"S208"}
    assert found["S208"]["names"] == ["charge"]
    assert f"execution {row.id}" in found["S208"]["message"]
    fleet.cli("resume", "charge")
    assert "S208" not in problems(fleet)


def test_a_run_that_lasts_beyond_its_next_slot_is_a_warning(fleet: Shop) -> None:
    store, now = fleet.app.engine.store, fleet.app.clock.now()
    slow = Schedule(
        id="slow",
        name="slow",
        definition=define(job="leap", grid=Every("1m")),
        created_at=now - HOUR,
        cursor=now,
    )
    row = Execution(
        id="slow run",
        kind=Kind.SCHEDULED,
        run_at=now - HOUR,
        due_at=now - HOUR,
        started_at=now - HOUR,
        first_started_at=now - HOUR,
        created_at=now - HOUR,
        snapshot=slow.snapshot(),
        schedule_id="slow",
        state=State.RUNNING,
        session="w1",
    )
    store.create([Birth(slow, (row,))])
    fleet.app.schedule("slow").start()

    found = problems(fleet)

    assert found.keys() == {"S209"}
    assert found["S209"]["severity"] == "warning"
    assert fleet.cli("status").exit_code == 0


def test_one_off_work_that_failed_is_a_warning_without_its_secrets(fleet: Shop) -> None:
    mail = failing_mail(fleet.app)
    for _ in range(2):
        mail.enqueue()
    fleet.work()

    found = problems(fleet)

    assert found.keys() == {"S305"}
    message = found["S305"]["message"]
    assert message.startswith(
        "2 one-off executions failed within a day: mail (2). mail: error: Val"
    )
    assert "hunter2" not in message
    assert fleet.answer("status")["failed_jobs"] == {"mail": 2}


def test_a_one_off_job_of_which_the_last_ten_failed_is_an_error(fleet: Shop) -> None:
    mail = failing_mail(fleet.app)
    for _ in range(10):
        mail.enqueue()
    fleet.work()

    found = problems(fleet)

    assert found.keys() == {"S306"}
    assert found["S306"]["names"] == ["mail"]


def test_a_success_among_the_last_ten_makes_it_a_warning(fleet: Shop) -> None:
    outcomes = iter([False] * 5 + [True] + [False] * 5)

    @fleet.app.job
    def mail() -> None:
        if not next(outcomes):
            raise ValueError("no")

    for _ in range(11):
        mail.enqueue()
        fleet.work()

    assert problems(fleet).keys() == {"S305"}


def test_a_failure_that_is_retried_or_discarded_is_settled(fleet: Shop) -> None:
    mail = failing_mail(fleet.app)
    mail.enqueue()
    fleet.work()
    [row] = fleet.answer("executions", "--failed")["executions"]

    result = fleet.cli("discard", row["id"])

    assert result.exit_code == 0, result.stderr
    assert problems(fleet) == {}


def test_due_work_of_a_job_that_no_worker_knows_is_an_error(fleet: Shop) -> None:
    enqueue(fleet, job="forgotten")

    found = problems(fleet)

    assert found.keys() == {"S301", "S307"}
    assert found["S307"]["message"] == (
        "1 due execution of jobs that no live worker knows: forgotten."
    )


def test_due_work_in_a_queue_that_no_worker_serves_is_an_error(fleet: Shop) -> None:
    enqueue(fleet, queue="slow")

    found = problems(fleet)

    assert found.keys() == {"S301", "S308"}
    assert found["S308"]["advice"] == "sempre worker APP -q slow"


def test_an_execution_that_crashed_three_times_is_an_error_for_a_day(fleet: Shop) -> None:
    now = fleet.app.clock.now()
    poison = Schedule(
        id="poison",
        name="poison",
        definition=define(job="leap", grid=Cron("@yearly"), enabled=False),
        created_at=now,
        cursor=now,
    )
    given: dict[str, Any] = {
        "kind": Kind.SCHEDULED,
        "created_at": now,
        "snapshot": poison.snapshot(),
        "schedule_id": "poison",
        "state": State.FAILED,
        "reason": "quarantined: signal 11",
        "crashes": 3,
    }
    rows = [
        Execution(id=f"{days}", run_at=at, due_at=at, finished_at=at, **given)
        for days, at in ((0, now - MINUTE), (2, now - timedelta(days=2)))
    ]
    fleet.app.engine.store.create([Birth(poison, tuple(rows))])

    found = problems(fleet)

    assert found.keys() == {"S309"}
    assert found["S309"]["message"] == (
        "1 execution quarantined after three crashes, within a day: poison."
    )


@pytest.mark.parametrize("until", [None, HOUR])
def test_work_that_a_switch_without_an_end_holds_for_long_is_an_error(
    fleet: Shop, until: timedelta | None
) -> None:
    end = None if until is None else fleet.app.clock.now() + until
    switch = Switch("incident", "job:mail", mode="hold", until=end)
    fleet.app.engine.store.switch(switch, off=True)
    enqueue(fleet, ago=2 * HOUR)

    found = problems(fleet)

    assert found.keys() == ({"S501", "S502"} if until is None else {"S501"})
    if until is None:
        assert found["S502"]["message"] == (
            "the switch incident holds 1 due execution, the first one for 2h."
        )


def test_slots_that_a_switch_holds_are_held_and_not_overdue(fleet: Shop) -> None:
    store, now = fleet.app.engine.store, fleet.app.clock.now()
    late = Schedule(
        id="late",
        name="late",
        definition=define(job="leap", grid=Every("1d", anchor=now - 2 * HOUR)),
        created_at=now - 3 * HOUR,
        cursor=now - 3 * HOUR,
        started=True,
        next_run_at=now - 2 * HOUR,
    )
    row = Execution(
        id="late slot",
        kind=Kind.SCHEDULED,
        run_at=now - 2 * HOUR,
        due_at=now - 2 * HOUR,
        created_at=now - 2 * HOUR,
        snapshot=late.snapshot(),
        schedule_id="late",
        state=State.SCHEDULED,
        tzdata=fleet.app.engine.tzdata,
    )
    store.create([Birth(late, (row,))])
    store.switch(Switch("incident", "job:leap", mode="hold"), off=True)

    assert problems(fleet).keys() == {"S501", "S502"}


def test_the_json_of_status_has_these_fields_and_types(fleet: Shop) -> None:
    fleet.run("doomed")

    answer = fleet.answer("status")

    kinds = {name: type(value).__name__ for name, value in answer.items()}
    assert kinds == {
        **dict.fromkeys(("healthy",), "bool"),
        **dict.fromkeys(("now",), "str"),
        **dict.fromkeys(("watchdog_age_s", "watchdog_interval_s", "latest_s"), "float"),
        **dict.fromkeys(("schedules", "enabled", "paused", "without_future", "broken"), "int"),
        **dict.fromkeys(("orphaned", "disabled_by_deploy", "ahead", "late", "unannounced"), "int"),
        **dict.fromkeys(("quarantined", "unknown_work", "unserved_work", "held_work"), "int"),
        **dict.fromkeys(("workers",), "int"),
        **dict.fromkeys(("failing", "held", "overrunning", "switches_off", "problems"), "list"),
        **dict.fromkeys(("unreadable", "failed_jobs"), "dict"),
    }
    [problem] = answer["problems"]
    assert problem.keys() == {"code", "message", "severity", "names", "advice"}
