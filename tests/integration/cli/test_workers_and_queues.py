"""`workers`, `workers drain` and `queues`, beside real worker processes."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sempre import Sempre
from sempre.app.presentation import fleet
from sempre.domain.values import copy_with
from sempre.ports.messages import Session
from sempre.testing.contracts.store.builders import claimed, expire, session_of
from sempre.testing.polling import eventually
from tests.integration.cli.programs import finished, program
from tests.integration.cli.shop import Shop, lines

JOBS = """
from pathlib import Path
from threading import Event

from sempre import Sempre

app = Sempre("sqlite:///jobs.db", lease="3s")

@app.every("1s", overlap="skip")
def slow() -> str:
    Path("started").touch()
    while not Path("finish").exists():
        Event().wait(0.01)
    return "finished in peace"
"""
STORE = ("--store", "sqlite:///jobs.db")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "jobs.py").write_text(JOBS)
    yield tmp_path
    (tmp_path / "finish").touch()


def workers_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(finished(folder, "workers", "--json", *STORE).stdout)[
        "workers"
    ]
    return found


def states(folder: Path) -> set[str]:
    found = finished(folder, "executions", "--json", *STORE)
    return {each["state"] for each in json.loads(found.stdout)["executions"]}


def test_a_drained_worker_finishes_its_run_and_is_not_started_again(folder: Path) -> None:
    with program(folder, "worker", "jobs:app") as worker:
        worker.wait_for("working on ")
        eventually((folder / "started").exists)
        [before] = workers_of(folder)

        drained = finished(folder, "workers", "drain", before["id"][:8], *STORE)
        worker.wait_for("an operator drains this worker")
        worker.wait_for("stopping: this worker claims no more executions")
        [draining] = workers_of(folder)
        (folder / "finish").touch()
        code = worker.process.wait()

    assert before["state"] == "alive"
    assert len(before["running"]) == 1
    assert drained.returncode == 0
    assert drained.stdout.startswith(f"draining {before['id']} (")
    assert drained.stdout.endswith(", 1 run to finish\n")
    assert (draining["id"], draining["state"]) == (before["id"], "draining")
    assert draining["running"] == before["running"]
    assert code == 0
    assert workers_of(folder) == []
    assert states(folder) <= {"succeeded", "skipped", "scheduled"}


def test_a_command_goes_on_until_all_its_processes_are_drained(folder: Path) -> None:
    (folder / "finish").touch()
    with program(folder, "worker", "jobs:app", "--processes", "2") as worker:
        worker.wait_for("working on ", times=2)
        [one, other] = workers_of(folder)

        finished(folder, "workers", "drain", one["id"], *STORE)
        eventually(lambda: len(workers_of(folder)) == 1)
        [left] = workers_of(folder)
        host = finished(folder, "workers", "drain", "--host", other["host"], *STORE)
        code = worker.process.wait()

    assert left["id"] == other["id"]
    assert host.returncode == 0
    assert code == 0
    assert workers_of(folder) == []


def test_a_signal_after_a_drain_still_ends_a_worker(folder: Path) -> None:
    with program(folder, "worker", "jobs:app") as worker:
        worker.wait_for("working on ")
        eventually((folder / "started").exists)
        finished(folder, "workers", "drain", "--all", *STORE)
        worker.wait_for("stopping: this worker claims no more executions")
        (folder / "finish").touch()
        code = worker.end(signal.SIGTERM)

    assert code == 0


def test_a_drained_embedded_worker_ends_and_its_host_goes_on(shop: Shop) -> None:
    app = Sempre(shop.url, lease="3s")
    try:
        with app.running(sync=False) as running:
            [worker] = shop.answer("workers")["workers"]

            assert shop.cli("workers", "drain", "--all").exit_code == 0

            eventually(lambda: shop.answer("workers")["workers"] == [])
            assert running.worker is None
        assert worker["state"] == "alive"
    finally:
        app.close()


def test_workers_are_listed_with_what_they_run(shop: Shop) -> None:
    store = shop.app.engine.store
    session, lost = session_of(store), session_of(store)
    row = claimed(store, shop.app.schedule("leap").trigger().id, session)
    store.register(
        Session("x", host="web-1", pid=7, queues=("default", "mail"), jobs=("leap",), release=3),
        lease=copy_with(shop.app.settings).lease,
    )
    expire(store, lost)

    heading, *rows = lines(shop.cli("workers"))

    columns = "ID STATE HOST PID RUNS SINCE LEASE RELEASE TZDATA QUEUES"
    assert heading.split() == columns.split()
    assert len(rows) == 3
    [web] = [each for each in rows if "web-1" in each]
    assert web.startswith("*  x ")
    assert web.endswith("default, mail")
    [expired] = [each for each in rows if each.startswith("x ")]
    assert lost in expired
    found = {each["id"]: each for each in shop.answer("workers")["workers"]}
    assert found[session]["running"] == [row.id]
    assert found[lost]["state"] == "expired"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["a", "--all"], 2),
        (["--host", "h", "--all"], 2),
        (["nothing"], 4),
        (["--host", "nowhere"], 4),
        (["--all"], 0),
    ],
)
def test_a_drain_of_no_worker_has_its_exit_code(shop: Shop, words: list[str], code: int) -> None:
    result = shop.cli("workers", "drain", *words)

    assert result.exit_code == code
    assert result.stdout == ""


def test_a_drain_is_in_the_log_of_actions(shop: Shop) -> None:
    session = session_of(shop.app.engine.store)

    shop.cli("workers", "drain", session[:8], "-m", "new kernel")

    [action] = shop.answer("log", f"worker:{session}")["actions"]
    assert (action["verb"], action["note"]) == ("drain", "new kernel")


def test_an_ambiguous_worker_is_not_drained(shop: Shop) -> None:
    for identity in ("abcd-1", "abcd-2"):
        shop.app.engine.store.register(Session(identity), lease=shop.app.settings.lease)

    result = shop.cli("workers", "drain", "abcd")

    assert result.exit_code == 2
    assert "abcd-1" in result.stderr
    assert "abcd-2" in result.stderr
    assert {each["state"] for each in shop.answer("workers")["workers"]} == {"alive"}


def backlog(shop: Shop) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in shop.answer("queues")["queues"]}


def enqueue(shop: Shop, count: int, queue: str = "default") -> None:
    @shop.app.job(name=f"of {queue}", queue=queue)
    def work(number: int) -> None: ...

    shop.app.enqueue_many(work.bind(number) for number in range(count))


def test_queues_have_their_backlog_and_who_serves_them(shop: Shop) -> None:
    store = shop.app.engine.store
    enqueue(shop, 3, "mail")
    enqueue(shop, 2)
    store.register(Session("w", queues=("default", "idle")), lease=shop.app.settings.lease)
    claimed(store, shop.app.schedule("leap").trigger().id, "w")

    found = backlog(shop)
    result = shop.cli("queues")

    assert sorted(found) == ["default", "idle", "mail"]
    facts = ("due", "upcoming", "held", "running", "workers", "unserved")
    assert [found["default"][each] for each in facts] == [2, 3, 0, 1, 1, False]
    assert [found["mail"][each] for each in facts] == [3, 0, 0, 0, 0, True]
    assert [found["idle"][each] for each in facts] == [0, 0, 0, 0, 1, False]
    assert found["mail"]["oldest_due_at"].endswith("Z")
    assert result.exit_code == 0
    assert "warning: no live worker serves the queue mail.\n" in result.stderr
    assert "  try: sempre worker APP -q mail\n" in result.stderr
    assert "!  mail" in result.stdout


def test_a_queue_that_a_switch_stops_is_not_unserved(shop: Shop) -> None:
    shop.cli("switch", "off", "queue:mail", "-m", "incident")
    enqueue(shop, 3, "mail")

    mail = backlog(shop)["mail"]
    result = shop.cli("queues")

    assert (mail["due"], mail["held"], mail["unserved"]) == (0, 3, False)
    assert mail["stopped_by"] == "queue:mail"
    assert "stopped by the switch queue:mail" in result.stdout
    assert "warning" not in result.stderr


@pytest.mark.parametrize("most", [5, 9])
def test_counts_are_bounded(shop: Shop, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    enqueue(shop, 8, "mail")
    enqueue(shop, 2)
    monkeypatch.setattr(fleet, "MOST_COUNTED", most)
    monkeypatch.setattr(fleet, "PAGE", 2)

    found = backlog(shop)

    assert found["default"]["due"] == 2
    assert found["default"]["upcoming"] == 3
    assert found["mail"]["due"] == min(8, most + 1)
    assert found["mail"]["upcoming"] == (0 if most == 9 else None)
