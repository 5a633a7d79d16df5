"""`sempre doctor` on real stores, brokers, pipes and a terminal."""

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sempre import Cron, Sempre
from sempre.domain.definition import define
from sempre.domain.schedule import Schedule
from sempre.ports.messages import Birth, Session
from tests.integration.cli.programs import clean_environment
from tests.integration.cli.shop import Shop, lines
from tests.integration.cli.test_every_store import free_port
from tests.integration.redis.redis_server import redis_server
from tests.unit.cli.commands import sempre

FIELDS: dict[str, Any] = {
    "code": str,
    "message": str,
    "severity": str,
    "names": list,
    "advice": (str, type(None)),
}


@pytest.fixture
def fleet(shop: Shop) -> Shop:
    """Two workers that are alike, and a pass that has just been."""
    for name in ("w1", "w2"):
        join(shop, name)
    shop.app.watchdog.perform()
    return shop


def join(shop: Shop, name: str, **changes: Any) -> None:  # noqa: ANN401 - of a session
    usual = Session(name, name, queues=("default",), jobs=("leap", "fail"))
    session = replace(usual, **{"tzdata": shop.app.engine.tzdata, **changes})
    shop.app.engine.store.register(session, lease=timedelta(minutes=1))


def found(shop: Shop, *options: str) -> dict[str, dict[str, object]]:
    return {each["code"]: each for each in shop.answer("doctor", *options)["problems"]}


def outdate(shop: Shop) -> None:
    """Give the store the version of an older schema."""
    with closing(sqlite3.connect(shop.url.removeprefix("sqlite:///"))) as connection:
        connection.execute("UPDATE sempre_meta SET version = 1")
        connection.commit()


def lose_next_row(shop: Shop) -> None:
    now = shop.app.clock.now()
    lost = Schedule(
        id="lost",
        name="lost",
        definition=define(job="leap", grid=Cron("@hourly")),
        created_at=now,
        cursor=now,
        started=True,
    )
    shop.app.engine.store.create([Birth(lost)])


def test_all_is_well(fleet: Shop) -> None:
    result = fleet.cli("doctor")

    assert lines(result) == ["healthy"]
    assert result.stderr == "0 problems found.\n"


def test_a_schedule_that_keeps_nothing_forgets_its_last_run(fleet: Shop) -> None:
    """The slots of a schedule on 29 February are four years apart."""
    fleet.app.schedule("leap").edit(keep=0)

    line, heading = lines(fleet.cli("doctor"))

    assert heading == "healthy"
    assert line.startswith("warning S706  1 schedule with slots farther apart than history")
    assert line.endswith(" Try: keep=1 or more, or a longer retention")


def test_what_status_reports_is_reported(fleet: Shop) -> None:
    fleet.run("doomed")

    result = fleet.cli("doctor")

    assert result.exit_code == 1
    assert "unhealthy" in result.stdout
    assert found(fleet).keys() == {"S207"}


def test_an_older_schema_is_an_error_and_is_upgraded_when_that_is_confirmed(shop: Shop) -> None:
    outdate(shop)

    [problem] = shop.answer("doctor")["problems"]
    refused = shop.cli("doctor", "--fix")
    still = shop.answer("doctor")["problems"]
    fixed = shop.answer("doctor", "--fix", "--yes")

    assert problem["code"] == "S701"
    assert "version 1 of the schema" in problem["message"]
    assert refused.exit_code == 5
    assert "confirm with --yes" in refused.stderr
    assert [each["code"] for each in still] == ["S701"]
    assert fixed["fixed"][0] == "upgraded the schema of the store"
    assert "S701" not in {each["code"] for each in fixed["problems"]}


def test_a_pass_repairs_what_is_missing_only_when_asked(fleet: Shop) -> None:
    lose_next_row(fleet)

    before, again = found(fleet), found(fleet)
    fixed = fleet.answer("doctor", "--fix")

    assert before.keys() == again.keys() == {"S201", "S707"}
    assert before["S707"]["names"] == ["lost"]
    assert fixed["fixed"] == ["ran a watchdog pass: 1 executions created"]
    assert fixed["problems"] == []
    assert fleet.answer("doctor", "--fix")["fixed"] == []


def test_leases_in_the_future_are_shortened(fleet: Shop) -> None:
    fleet.app.engine.store.register(Session("w9"), lease=timedelta(hours=9))

    assert "S403" in found(fleet)
    fixed = fleet.answer("doctor", "--fix")

    assert "S403" not in {each["code"] for each in fixed["problems"]}
    assert fixed["fixed"] == ["ran a watchdog pass: nothing to create or announce"]


def test_versions_and_releases_over_the_fleet_are_compared(fleet: Shop) -> None:
    join(fleet, "w3", tzdata="2020.1", release=7)

    problems = found(fleet)

    assert problems.keys() == {"S703", "S704"}
    assert "2020.1 (w3)" in str(problems["S703"]["message"])
    assert problems["S704"]["message"] == "workers run releases 0 (w1, w2), 7 (w3)."


def test_a_queue_without_a_worker_is_an_error(fleet: Shop) -> None:
    @fleet.app.job(name="leap2")
    def slow() -> None: ...

    fleet.app.create_schedules([("slow", Cron("@hourly"), slow.bind())], queue="slow")
    join(fleet, "w1", jobs=("leap", "fail", "leap2"))

    problems = found(fleet)

    assert problems.keys() == {"S709"}
    assert problems["S709"]["names"] == ["slow"]


def test_unsafe_settings_are_named(fleet: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMPRE_WATCHDOG_INTERVAL", "2h")

    problems = found(fleet)

    assert problems.keys() == {"S705"}
    assert problems["S705"]["names"] == ["watchdog_interval"]


def test_a_broker_that_is_down_is_an_error(fleet: Shop) -> None:
    result = fleet.cli("doctor", "--broker", "beanstalkd://127.0.0.1:1", "--json")

    assert result.exit_code == 1
    codes = [each["code"] for each in json.loads(result.stdout)["problems"]]
    assert "S708" in codes


def test_every_problem_in_json_has_the_same_fields(fleet: Shop) -> None:
    lose_next_row(fleet)
    fleet.run("doomed")

    answer = fleet.answer("doctor")

    assert answer.keys() == {"healthy", "fixed", "problems"}
    for problem in answer["problems"]:
        assert problem.keys() == FIELDS.keys()
        assert all(isinstance(problem[name], FIELDS[name]) for name in FIELDS)


def test_a_store_that_does_not_exist_is_unreachable(tmp_path: Path) -> None:
    app = Sempre(f"sqlite:///{tmp_path / 'none.db'}")
    shop = Shop(app, f"sqlite:///{tmp_path / 'none.db'}")

    assert shop.cli("doctor").exit_code == 3
    assert not (tmp_path / "none.db").exists()


def on_terminal(shop: Shop, *arguments: str, answer: str = "") -> tuple[int, str]:
    """Run a command on a pseudo-terminal, and type an answer; return its code and its output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sempre", *arguments, "--store", shop.url]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=clean_environment()
    ) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        text = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
        code = process.wait()
    os.close(ours)
    return code, text


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize(("answer", "code", "is_fixed"), [("y\n", 1, True), ("n\n", 5, False)])
def test_a_terminal_asks_before_a_schema_is_upgraded(
    shop: Shop, answer: str, code: int, *, is_fixed: bool
) -> None:
    outdate(shop)

    ended, text = on_terminal(shop, "doctor", "--fix", answer=answer)

    assert "upgrade the schema of the store?" in text
    assert ended == code
    assert ("S701" not in found(shop)) is is_fixed


def test_colour_is_for_terminals_only(fleet: Shop) -> None:
    fleet.run("doomed")

    _, text = on_terminal(fleet, "doctor")

    assert "\x1b[" in text
    assert "            try: sempre show doomed\r\n" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b[" not in fleet.cli("doctor").stdout


def test_a_redis_server_without_a_file_keeps_weaker_promises() -> None:
    port = free_port()
    with redis_server(port=port, appendonly="no"):
        url = f"redis://127.0.0.1:{port}/0?allow_no_aof=1"
        assert sempre("db", "upgrade", "--store", url).exit_code == 0

        result = sempre("doctor", "--store", url, "--json")

    [problem] = json.loads(result.stdout)["problems"]
    assert (problem["code"], problem["severity"]) == ("S702", "warning")
    assert result.exit_code == 0
