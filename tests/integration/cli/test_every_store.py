"""The command line on every store that has a server: they all answer what it asks."""

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sempre import Cron, Sempre
from sempre.app.transfer.lines import write_line
from sempre.app.transfer.reading import Export
from sempre.ports.messages import Session
from tests.integration.cli.shop import Shop
from tests.integration.redis.redis_server import redis_server
from tests.integration.sql.mariadb_server import mariadb_server, new_database
from tests.integration.sql.postgresql_server import running_postgresql
from tests.unit.cli.commands import sempre


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def postgresql() -> Iterator[str]:
    with running_postgresql() as server:
        folder = server.socket.parent
        yield f"postgresql:///postgres?host={folder}&user=postgres&schema=shop"


def mariadb() -> Iterator[str]:
    with mariadb_server() as path:
        yield new_database(path)


def redis() -> Iterator[str]:
    port = free_port()
    with redis_server(port=port):
        yield f"redis://127.0.0.1:{port}/0?prefix=shop"


@pytest.fixture(scope="module", params=[postgresql, mariadb, redis], ids=lambda each: each.__name__)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from request.param()


@pytest.fixture
def served(url: str) -> Iterator[Shop]:
    """The same schedules on a server, after one run that failed."""
    app = Sempre(url)

    @app.job
    def fail() -> None:
        raise ValueError("no such region")

    app.add("doomed", Cron("0 4 29 2 *"), fail)
    app.sync()
    served = Shop(app, url)
    served.run("doomed")
    yield served
    app.close()


def test_every_command_answers(served: Shop) -> None:
    [doomed] = served.answer("list")["schedules"]
    [failed] = served.answer("executions", "--failed", "-s", "doomed")["executions"][:1]
    shown = served.answer("execution", failed["id"])["execution"]

    assert doomed["state"] == "failing"
    assert shown["attempts"][-1]["state"] == "failed"
    assert served.answer("show", "doomed")["schedule"]["next"]
    assert served.answer("next")["next"][0]["name"] == "doomed"
    assert served.answer("execution", failed["id"][:-1])["execution"]["id"] == failed["id"]
    assert served.answer("executions", "--upcoming")["executions"][0]["schedule"] == "doomed"


def test_why_explains_runs_and_slots(served: Shop) -> None:
    [failed] = served.answer("executions", "--failed", "-s", "doomed")["executions"][:1]
    # Other tests skip the first slot.
    slot = served.answer("next", "doomed", "-n", "2")["next"][1]["run_at"]
    assert served.cli("skip", "doomed", "--at", slot, "-m", "migration").exit_code == 0

    ran = served.answer("why", failed["id"])["why"]
    skipped = served.answer("why", f"doomed@{slot}")["why"]
    never = served.answer("why", "doomed@2020-02-29T04:00")["why"]

    assert [each["code"] for each in ran["causes"]][:2] == ["triggered", "attempt_failed"]
    assert (skipped["verdict"], skipped["causes"][-1]["facts"]["note"]) == ("skipped", "migration")
    assert never["causes"][-1]["code"] == "before_creation"


def test_workers_and_queues_are_listed_and_drained(served: Shop) -> None:
    store = served.app.engine.store
    store.register(Session("w", host="h", queues=("default",)), lease=timedelta(minutes=1))
    try:
        [worker] = served.answer("workers")["workers"]
        drained = served.answer("workers", "drain", "--host", "h")["workers"]
        [draining] = served.answer("workers")["workers"]
        [queue] = served.answer("queues")["queues"]
        frame = served.answer("top")
    finally:
        store.retire("w")

    assert (worker["state"], draining["state"]) == ("alive", "draining")
    assert drained == [{"id": "w", "asked": True}]
    assert (queue["name"], queue["workers"]) == ("default", 1)
    assert [each["schedule"] for each in frame["failed"]][:1] == ["doomed"]


def test_every_verb_works(served: Shop) -> None:
    for arguments in (
        ["pause", "doomed", "--until", "2h"],
        ["resume", "doomed"],
        ["skip", "doomed"],
        ["unskip", "doomed"],
        ["disable", "doomed"],
        ["enable", "doomed"],
        ["run", "doomed"],
        ["reconcile"],
        ["reconcile", "doomed"],
        ["backfill", "doomed", "--from", "2026-01-01T00:00Z", "--to", "2026-01-02T00:00Z"],
        ["db", "status"],
        ["db", "upgrade"],
    ):
        result = served.cli(*arguments)
        assert result.exit_code == 0, (arguments, result.stderr)


def test_health_is_told(served: Shop) -> None:
    result = served.cli("status", "--json")

    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [problem["code"] for problem in answer["problems"]] == ["S207", "S401"]
    assert [each["name"] for each in answer["failing"]] == ["doomed"]
    assert [each["name"] for each in served.answer("list", "--failing")["schedules"]] == ["doomed"]


def test_the_set_up_is_examined(served: Shop) -> None:
    answer = served.answer("doctor")

    codes = {problem["code"] for problem in answer["problems"]}
    assert {"S207", "S401"} <= codes <= {"S207", "S401", "S702"}
    assert answer["fixed"] == []


def test_a_server_that_is_not_set_up_is_refused(url: str) -> None:
    empty = url.replace("schema=shop", "schema=nothing").replace("prefix=shop", "prefix=nothing")
    if empty == url:
        empty = f"{url}&prefix=nothing_"

    result = sempre("list", "--store", empty)

    assert result.exit_code == 3
    assert "not set up yet" in result.stderr
    assert "try: sempre db upgrade, with the same --store" in result.stderr


def test_a_plan_is_previewed_applied_and_refused_once_the_store_moved_on(
    served: Shop, tmp_path: Path
) -> None:
    first, second = str(tmp_path / "first.json"), str(tmp_path / "second.json")
    before = [write_line(each) for each in Export(served.app.engine.store).records()]

    shown = served.answer("plan", "edit", "doomed", "--cron", "0 5 29 2 *", "--out", first)
    served.answer("plan", "pause", "doomed", "--until", "2h", "--out", second)
    after = [write_line(each) for each in Export(served.app.engine.store).records()]
    applied = served.answer("apply", first)
    refused = served.cli("apply", second)

    assert after == before
    [step] = shown["plan"]["steps"]
    assert len(step["ended"]) == 1
    [done] = applied["applied"]
    assert (done["done"], done["next_run_at"]) == (True, step["next_run_at"]["after"])
    superseded = [*served.app.executions(state="superseded", schedule="doomed")]
    assert step["ended"][0]["id"] in {row.id for row in superseded}
    assert refused.exit_code == 5
    assert "doomed has changed since" in refused.stderr
    assert "edit by " in refused.stderr
