"""`sempre status`, `reconcile` and `db` on real SQLite files."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sempre import Cron, Sempre
from sempre.domain.definition import define
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning import Plan
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, State
from sempre.ports.messages import Birth, Order, Session, Switch
from sempre.stores.sql.dialects import Dialect
from sempre.stores.sql.store import SqlStore
from tests.integration.cli.shop import Shop, lines
from tests.unit.cli.commands import sempre


def codes(shop: Shop) -> list[str]:
    return [problem["code"] for problem in shop.answer("status")["problems"]]


def lose_next_row(app: Sempre, name: str, **changes: object) -> Schedule:
    """Write a schedule without the next row that it wants, as no verb could leave it."""
    definition = define(job="leap", grid=Cron("@yearly"), **changes)
    now = app.clock.now()
    lost = Schedule(
        id=name, name=name, definition=definition, created_at=now, cursor=now, started=True
    )
    app.engine.store.create([Birth(lost)])
    return lost


def leave_ahead(app: Sempre, name: str) -> None:
    """Leave a schedule, a lease and the pass as a jump of the clock by an hour would."""
    store, hour = app.engine.store, timedelta(hours=1)
    reading = store.views([name])
    [view] = reading.value
    now, schedule = reading.now, view.schedule
    passed = SlotRange(
        schedule_id=schedule.id,
        first=now + timedelta(minutes=1),
        last=now + hour,
        count=2,
        reason="missed",
    )
    plan = Plan(schedule, replace(schedule, cursor=now + hour), ranges=(passed,))
    assert store.apply([Order(plan)]) == [True]
    store.register(Session("w9"), lease=hour)


@pytest.fixture
def healthy(shop: Shop) -> Shop:
    """A worker that is alive, and a pass that has just been."""
    worker = Session("w1", queues=("default",), jobs=("leap", "fail"))
    shop.app.engine.store.register(worker, lease=timedelta(minutes=1))
    shop.app.watchdog.perform()
    return shop


def test_all_is_well(healthy: Shop) -> None:
    heading, schedules, watchdog, workers, failing, overdue = lines(healthy.cli("status"))

    assert heading == "healthy"
    assert schedules == "  schedules    3 (0 disabled, 0 paused)"
    assert watchdog.endswith("s ago (every 5m)")
    assert workers == "  workers      1"
    assert failing == "  failing      0"
    assert overdue == "  overdue      0"


def test_status_in_json_has_the_numbers(healthy: Shop) -> None:
    answer = healthy.answer("status")

    assert answer["healthy"] is True
    assert answer["problems"] == []
    assert answer["schedules"] == 3
    assert answer["without_future"] == answer["late"] == 0
    assert answer["workers"] == 1
    assert 0 <= answer["watchdog_age_s"] < 60


def age_pass(shop: Shop, minutes: int) -> None:
    """Let the last pass have been so long ago."""
    with closing(sqlite3.connect(shop.url.removeprefix("sqlite:///"))) as connection:
        age = (
            f"due_at = due_at - {minutes}*60000000, finished_at = finished_at - {minutes}*60000000"
        )
        connection.execute(f"UPDATE sempre_passes SET {age}")  # noqa: S608 - our own numbers
        connection.commit()


def test_a_longer_interval_of_the_application_is_no_alarm(healthy: Shop) -> None:
    """The command does not know the application's setting; the pass row does."""
    age_pass(healthy, 30)
    healthy.app.watchdog.perform(interval=1800)
    age_pass(healthy, 11)

    answer = healthy.answer("status")
    assert (answer["healthy"], answer["problems"]) == (True, [])
    assert answer["watchdog_interval_s"] == 1800
    assert lines(healthy.cli("status"))[2].endswith("(every 30m)")

    age_pass(healthy, 21)

    assert codes(healthy) == ["S101"]


def test_reconcile_heals_a_pass_that_is_due_in_a_year(healthy: Shop) -> None:
    age_pass(healthy, 30)
    healthy.app.watchdog.perform(interval=365 * 86_400)

    assert lines(healthy.cli("reconcile")) == ["nothing to repair"]

    last = healthy.app.engine.store.last_pass()
    assert last.value.due_at <= last.now + timedelta(minutes=5)


def test_without_a_worker_it_is_unhealthy(shop: Shop) -> None:
    result = shop.cli("status")

    assert result.exit_code == 1
    assert "error S401  no worker is alive." in result.stdout
    assert "try: sempre worker" in result.stderr


def test_a_schedule_without_a_next_row_is_found_and_healed(healthy: Shop) -> None:
    lose_next_row(healthy.app, "lost")

    assert codes(healthy) == ["S201"]
    result = healthy.cli("reconcile")

    assert lines(result) == ["1 executions created"]
    assert "checked 4 schedules" in result.stderr
    assert codes(healthy) == []


def test_one_schedule_is_healed_by_name(healthy: Shop) -> None:
    lose_next_row(healthy.app, "lost")

    assert lines(healthy.cli("reconcile", "lost"))[0].startswith("repaired lost, next ")
    assert lines(healthy.cli("reconcile", "lost"))[0].startswith("ok lost, next ")
    assert healthy.answer("reconcile", "lost") == {"name": "lost", "healed": False}


def test_a_store_in_order_has_nothing_to_heal(healthy: Shop) -> None:
    assert lines(healthy.cli("reconcile")) == ["nothing to repair"]
    assert healthy.answer("reconcile")["report"]["executions_created"] == 0


def test_a_schedule_whose_job_no_worker_knows_is_a_problem(healthy: Shop) -> None:
    @healthy.app.job
    def poll_api() -> None: ...

    healthy.app.create_schedules([("poll", Cron("@yearly"), poll_api)])

    result = healthy.cli("status")

    assert result.exit_code == 1
    assert "error S204  1 schedule with a job that no live worker knows: poll." in result.stdout
    assert "try: sempre disable poll, or start a worker that declares the job" in result.stderr
    healthy.cli("disable", "poll")
    assert codes(healthy) == []


def test_what_a_deploy_disabled_is_a_warning_until_an_operator_decides(healthy: Shop) -> None:
    for names in (["leap", "bread"], ["leap"]):
        code = Sempre(healthy.url, owner="bakery")
        for name in names:
            code.add(name, Cron("@yearly"), lambda: None)
        code.sync()
        code.close()

    told = "warning S205  1 schedule disabled by a deploy, missing from its code: bread."
    assert told in lines(healthy.cli("status"))
    assert lines(healthy.cli("disable", "bread")) == ["disabled bread, no next slot"]
    assert codes(healthy) == []


def test_an_overdue_execution_is_a_problem_behind_however_many_that_are_held(
    healthy: Shop,
) -> None:
    app = healthy.app
    now = app.clock.now()
    slot = now - timedelta(minutes=5)
    schedule = Schedule(
        id="late",
        name="late",
        definition=define(job="leap", grid=Cron("* * * * *")),
        created_at=slot,
        cursor=slot - timedelta(minutes=1),
        started=True,
        next_run_at=slot,
    )
    row = Execution(
        id="late row",
        kind=Kind.SCHEDULED,
        run_at=slot,
        due_at=slot,
        snapshot=schedule.snapshot(),
        schedule_id="late",
        state=State.SCHEDULED,
        created_at=slot,
        tzdata=app.engine.tzdata,
    )
    newer = replace(row, run_at=slot + timedelta(seconds=1), kind=Kind.MANUAL, held_by="all")
    held = [replace(newer, id=f"held {number}") for number in range(100)]
    app.engine.store.create([Birth(schedule, (row, *held))])

    answer = healthy.answer("status")

    assert [problem["code"] for problem in answer["problems"]] == ["S301"]
    assert answer["late"] == 1
    assert 299 < answer["latest_s"] < 400
    assert healthy.answer("list", "--late")["schedules"][0]["name"] == "late"


def test_a_switch_that_is_off_is_told_of_and_does_no_harm(healthy: Shop) -> None:
    switch = Switch("incident-42", "queue:default", reason="database down")
    healthy.app.engine.store.switch(switch, off=True)

    result = healthy.cli("status")

    assert result.exit_code == 0
    assert "warning S501  the switch incident-42 is off (reject queue:default)" in result.stdout


def test_paused_and_disabled_schedules_are_counted_and_no_problem(healthy: Shop) -> None:
    healthy.cli("pause", "leap")
    healthy.cli("disable", "doomed")

    result = healthy.cli("status")

    assert result.exit_code == 0
    assert "  schedules    3 (1 disabled, 1 paused)" in result.stdout


def test_a_new_store_is_set_up_and_found_current(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"

    made = sempre("db", "upgrade", "--store", url)
    again = sempre("db", "upgrade", "--store", url)
    status = sempre("db", "status", "--store", url, "--json")

    assert made.stdout.startswith(f"ok {url}: upgraded\n")
    assert again.stdout.startswith(f"ok {url}: already current\n")
    assert json.loads(status.stdout)["current"] is True


def test_a_copy_becomes_a_store_of_its_own_unless_somebody_works_on_it(shop: Shop) -> None:
    store = shop.app.engine.store
    original = shop.answer("db", "status")["uuid"]
    store.register(Session("w1"), lease=timedelta(minutes=1))
    refused = shop.cli("db", "upgrade", "--as-copy")
    store.retire("w1")

    told = shop.answer("db", "upgrade", "--as-copy")

    assert refused.exit_code == 5
    assert "1 worker is alive" in refused.stderr
    assert told["did"] == "new store id"
    assert shop.answer("db", "status")["uuid"] == told["uuid"] != original


@pytest.mark.parametrize("command", [["list"], ["status"], ["run", "x"], ["db", "status"]])
def test_a_mistyped_file_is_no_store_and_none_is_made(tmp_path: Path, command: list[str]) -> None:
    url = f"sqlite:///{tmp_path / 'typo.db'}"

    result = sempre(*command, "--store", url)

    assert result.exit_code == 3
    assert f"no store at {url}" in result.stderr
    assert f"  try: sempre db upgrade --store {url}" in result.stderr
    assert not (tmp_path / "typo.db").exists()


def test_a_file_that_is_not_set_up_names_the_command_that_does(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    url = f"sqlite:///{tmp_path / 'empty.db'}"

    listed, status = sempre("list", "--store", url), sempre("db", "status", "--store", url)

    assert listed.exit_code == 3
    assert "  try: sempre db upgrade --store " in listed.stderr
    assert status.exit_code == 1
    assert "not set up yet" in status.stdout


@pytest.mark.parametrize("command", [["list"], ["status"], ["pause", "x"], ["run", "x"]])
def test_no_command_sets_up_a_file_that_is_not(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "empty.db").touch()

    result = sempre(*command, "--store", f"sqlite:///{tmp_path / 'empty.db'}")

    assert result.exit_code == 3
    with closing(sqlite3.connect(tmp_path / "empty.db")) as file:
        assert file.execute("SELECT name FROM sqlite_master").fetchall() == []


@pytest.mark.parametrize("command", [["list"], ["status"], ["show", "leap"], ["pause", "leap"]])
def test_a_command_opens_the_store_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    opened: list[SqlStore] = []
    original = SqlStore.__init__

    def note(self: SqlStore, dialect: Dialect) -> None:
        opened.append(self)
        original(self, dialect)

    monkeypatch.setattr(SqlStore, "__init__", note)

    assert shop.cli(*command).exit_code in (0, 1)

    assert len(opened) == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("memory://", 2),
        ("sqlte:///x.db", 2),
        ("jobs.db", 2),
        ("redis://127.0.0.1:1", 3),
        ("postgresql://127.0.0.1:1/x", 3),
        ("mariadb://nobody@127.0.0.1:1/x", 3),
    ],
)
def test_a_store_that_cannot_be_used_has_its_exit_code(url: str, code: int) -> None:
    result = sempre("list", "--store", url)

    assert result.exit_code == code
    assert result.stderr.startswith("error: ")


def test_a_password_is_never_shown() -> None:
    result = sempre("list", "--store", "redis://user:hunter2@127.0.0.1:1")

    assert result.exit_code == 3
    assert "hunter2" not in result.stderr


def test_the_store_is_found_in_the_project_file(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.sempre]\nstore = "{shop.url}"\n')

    assert sempre("list").exit_code == 0


def test_a_broker_that_is_down_is_a_warning_and_the_run_is_kept(shop: Shop) -> None:
    result = shop.cli("run", "leap", "--broker", "beanstalkd://127.0.0.1:1")

    assert result.exit_code == 0
    assert "warning: the broker does not answer" in result.stderr
    assert len(shop.answer("executions", "--kind", "manual")["executions"]) == 1


def test_what_a_jump_of_the_clock_has_left_is_an_error_until_it_is_healed(healthy: Shop) -> None:
    """Never "-59m ago" and healthy."""
    name = next(iter(healthy.app.schedules)).name
    leave_ahead(healthy.app, name)
    age_pass(healthy, -59)

    assert codes(healthy) == ["S403"]
    [told] = [line for line in healthy.cli("status").stdout.splitlines() if "watchdog  " in line]
    assert told == "  watchdog     last pass in the future (every 5m)"

    healthy.cli("reconcile")

    assert codes(healthy) == []
    row = healthy.app.schedule(name).row
    assert row.cursor <= healthy.app.clock.now()


def test_reconcile_brings_one_schedule_back(healthy: Shop) -> None:
    name = next(iter(healthy.app.schedules)).name
    leave_ahead(healthy.app, name)

    healthy.cli("reconcile", name)

    assert healthy.app.schedule(name).row.cursor <= healthy.app.clock.now()
    assert healthy.app.engine.store.ranges(healthy.app.schedule(name).row.id, limit=5).value == []
