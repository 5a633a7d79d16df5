"""A schedule has the options of its job, unless it has its own."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sempre import Cron, Every, Retry, Sempre
from sempre.app import Job
from sempre.domain.definition import Definition
from sempre.errors import PolicyError

INHERITED: dict[str, Any] = {
    "queue": "mail",
    "priority": 7,
    "retry": Retry(3),
    "timeout": timedelta(minutes=20),
    "tags": ("money",),
    "on_unknown": "hold",
}
OWN: dict[str, Any] = {
    "queue": "slow",
    "priority": 9,
    "retry": Retry(0),
    "timeout": None,
    "on_unknown": "skip",
}
Declare = Callable[[Sempre, Job[[], None], dict[str, Any]], None]


def by_decorator(app: Sempre, job: Job[[], None], own: dict[str, Any]) -> None:
    app.every("1h", name="billing", **own)(job)


def by_cron(app: Sempre, job: Job[[], None], own: dict[str, Any]) -> None:
    app.cron("0 * * * *", name="billing", **own)(job)


def by_add(app: Sempre, job: Job[[], None], own: dict[str, Any]) -> None:
    app.add("billing", Every("1h"), job, **own)


def at_run_time(app: Sempre, job: Job[[], None], own: dict[str, Any]) -> None:
    app.create_schedules([("billing", Every("1h"), job)], **own)


def work() -> None:
    """Stand for the user's function."""


def declared(app: Sempre, declare: Declare, **own: object) -> Definition:
    declare(app, app.job(name="bill", **INHERITED)(work), own)
    app.sync()
    return app.schedule("billing").definition


everywhere = pytest.mark.parametrize("declare", [by_decorator, by_cron, by_add, at_run_time])


@everywhere
def test_what_a_schedule_does_not_say_is_as_its_job_says(app: Sempre, declare: Declare) -> None:
    definition = declared(app, declare)

    assert {name: getattr(definition, name) for name in INHERITED} == INHERITED


@everywhere
@pytest.mark.parametrize("name", OWN)
def test_what_a_schedule_says_itself_overrides_its_job(
    app: Sempre, declare: Declare, name: str
) -> None:
    definition = declared(app, declare, **{name: OWN[name]})

    expected = INHERITED | {name: OWN[name]}
    assert {each: getattr(definition, each) for each in INHERITED} == expected


@everywhere
def test_tags_of_a_schedule_are_added_to_those_of_its_job(app: Sempre, declare: Declare) -> None:
    assert declared(app, declare, tags=["night"]).tags == ("money", "night")


def test_schedules_made_together_have_each_the_options_of_its_own_job(app: Sempre) -> None:
    mail = app.job(name="mail", queue="mail")(work)
    bill = app.job(name="bill", queue="money")(lambda: None)
    wanted = [("a", Every("1h"), mail), ("b", Every("1h"), bill), ("c", Every("1h"), mail)]

    app.create_schedules(wanted, priority=3)

    found = {each.name: each.definition for each in app.schedules}
    assert [found[name].queue for name in "abc"] == ["mail", "money", "mail"]
    assert {each.priority for each in found.values()} == {3}


def test_what_is_triggered_runs_as_the_job_says(app: Sempre) -> None:
    declared(app, by_add)

    snapshot = app.schedule("billing").trigger().snapshot

    assert (snapshot.queue, snapshot.timeout) == (INHERITED["queue"], INHERITED["timeout"])


def test_when_the_job_changes_its_schedules_follow_at_the_next_deploy(app: Sempre) -> None:
    declared(app, by_add)
    [before] = app.schedule("billing").executions()
    later = Sempre(app.engine.store, broker=app.engine.bell.broker, clock=app.clock)
    later.add("billing", Every("1h"), later.job(name="bill", queue="other")(work))

    assert later.sync().changed == ("billing",)

    assert app.schedule("billing").definition.queue == "other"
    queues = {row.state: row.snapshot.queue for row in app.schedule("billing").executions()}
    assert queues == {before.state: "other", "superseded": "mail"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("isolation", "process"), ("redact", ["iban"]), ("memory", "1GB"), ("unique", True)],
)
def test_how_a_function_runs_is_said_where_its_job_is_registered(
    app: Sempre, option: str, value: object
) -> None:
    job = app.job(name="bill")(work)

    with pytest.raises(PolicyError, match=f"{option} of the schedule billing.*app.job"):
        app.every("1h", name="billing", **{option: value})(job)  # type: ignore[arg-type]


def test_a_switch_on_a_tag_of_the_job_stops_its_scheduled_runs(app: Sempre) -> None:
    ran: list[str] = []

    @app.job(tags=["money"])
    def bill() -> None:
        ran.append("bill")

    app.add("billing", Cron("0 * * * *"), bill)
    app.add("nightly", Cron("0 * * * *"), bill, tags=["night"])
    with app.testing("2026-11-15 12:30Z") as travel:
        app.switch("tag:money").off("incident 42")
        travel.travel("2h")

        assert ran == []
