"""`sempre drill` on real workers: what it harms, what it leaves alone, and what it finds."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sempre import Sempre
from sempre.cli.context import open_context
from sempre.cli.drill.baseline import Baseline
from sempre.cli.drill.kill import why_spared
from sempre.cli.output import Output
from sempre.cli.store_choice import choose_store
from sempre.testing.polling import eventually
from tests.integration.brokers.beanstalkd_server import beanstalkd_server
from tests.integration.cli.programs import Program, finished, program
from tests.integration.cli.shop import Shop
from tests.integration.fleet.crew import CLOCK
from tests.integration.fleet.pairings import Pairing, pairing_on

YES = "--yes-this-is-not-production"
QUICK = {"SEMPRE_LEASE": "3s", "SEMPRE_BEAT": "1s", "SEMPRE_SWEEP": "1s", "SEMPRE_GRACE": "0s"}
JOBS = """
from threading import Event

from sempre import Sempre

app = Sempre(lease="3s", beat="1s", sweep="1s", grace="1s")

@app.every("1s", tolerance="1h", overlap="wait")
def tick() -> None: ...

@app.every("2s", tolerance="1h", overlap="wait")
def slow() -> None:
    Event().wait(1.9)

@app.every("100d")
def rare() -> None: ...
"""


@pytest.fixture(params=["sqlite+store", "postgresql+beanstalkd"])
def pairing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pairing]:
    with pairing_on(request.param, tmp_path) as opened:
        yield opened


def where(pairing: Pairing) -> dict[str, str]:
    return {"SEMPRE_STORE": pairing.store, "SEMPRE_BROKER": pairing.broker}


def test_nothing_is_lost_when_queues_are_flushed_and_workers_killed(
    pairing: Pairing, tmp_path: Path
) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    with program(tmp_path, "worker", "jobs.py", "--processes", "2", **where(pairing)) as workers:
        workers.wait_for("slow succeeded")

        found = finished(
            tmp_path, "drill", "--kill", "2", "--for", "3s", "--json", YES, **where(pairing)
        )

        answer = json.loads(found.stdout)
        assert found.returncode == 0, found.stderr
        assert len(answer["killed"]) == 2
        assert_flushed(pairing, answer, found.stderr)
        by_name = {each["name"]: each for each in answer["schedules"]}
        assert answer["lost"] == 0
        assert by_name["tick"]["ran"] >= 3
        assert by_name["tick"]["due"] == by_name["tick"]["ran"]
        # Both workers were killed, and one of them ran it nearly all the time.
        assert by_name["slow"]["again"] <= 1
        assert by_name["rare"]["due"] == 0
        assert answer["recovered"] is not None
        workers.wait_for("tick succeeded")


def assert_flushed(pairing: Pairing, answer: dict[str, Any], said: str) -> None:
    if pairing.messenger is None:
        assert answer["flushed"] is None
        assert "the store is the broker" in said
    else:
        # The sentinel and the watchdog's own message, besides rows that are not due at once.
        assert answer["flushed"] >= 2


def test_lanes_of_other_deployments_are_left_alone(tmp_path: Path) -> None:
    with beanstalkd_server() as server:
        broker = f"beanstalkd://{server.address.path}"
        stores = [f"sqlite:///{tmp_path / name}.db" for name in "ab"]
        apps = [prepared(store, "10m", broker=broker) for store in stores]
        mine = {"SEMPRE_STORE": stores[0], "SEMPRE_BROKER": broker}

        found = finished(tmp_path, "drill", "--kill", "0", "--for", "0.1s", "--json", YES, **mine)

        assert json.loads(found.stdout)["flushed"] == 1
        bells = [app.engine.bell for app in apps]
        assert [bell.broker.has_any(bell.lane("default")) for bell in bells] == [False, True]
        for app in apps:
            app.close()


def prepared(store: str, every: str, *, broker: str | None = None) -> Sempre:
    """Return an application of one schedule, which is in the store."""
    app = Sempre(store, broker=broker)

    @app.every(every)
    def tick() -> None: ...

    app.sync()
    return app


def test_without_a_word_that_it_is_meant_nothing_is_harmed(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    store = {"SEMPRE_STORE": "sqlite:///jobs.db"}
    with program(tmp_path, "worker", "jobs.py", **store) as workers:
        workers.wait_for("tick succeeded")

        found = finished(tmp_path, "drill", **store)

        assert found.returncode == 5
        assert found.stdout == ""
        assert f"a drill requires {YES}" in found.stderr
        assert "the store is the broker" in found.stderr
        assert f"would kill worker {worker_of(workers)}" in found.stderr
        workers.wait_for("tick succeeded")


def worker_of(workers: Program) -> int:
    """Return the pid of the one worker of a supervisor."""
    [child] = (
        Path(f"/proc/{workers.process.pid}/task/{workers.process.pid}/children").read_text().split()
    )
    return int(child)


def test_a_program_that_works_on_the_side_is_left_alone(shop: Shop) -> None:
    with shop.app.running():
        eventually(shop.app.engine.store.sessions)
        answer = shop.answer("drill", "--for", "0.1s", YES)

    assert answer["killed"] == []
    [spared] = answer["spared"]
    assert (spared["pid"], spared["reason"]) == (os.getpid(), "the process is not `sempre worker`")
    assert answer["well"]


def test_a_process_that_has_ended_or_is_no_worker_is_spared() -> None:
    assert why_spared(2**22 + 1) == "no such process on this host"
    assert why_spared(os.getppid())


def test_if_nobody_works_what_is_due_still_waits_and_it_exits_with_1(tmp_path: Path) -> None:
    prepared(f"sqlite:///{tmp_path / 'jobs.db'}", "1s").close()

    found = finished(
        tmp_path, "drill", "--for", "1s", YES, SEMPRE_STORE="sqlite:///jobs.db", **QUICK
    )

    assert found.returncode == 1
    assert "no worker to kill on this host" in found.stderr
    assert "wait for a worker" in found.stdout
    assert "not yet" in found.stdout


def test_a_slot_whose_row_has_vanished_is_lost(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    app = prepared(url, "1s")
    with open_context(choose_store(url, None, None), Output()) as opened:
        watch = Baseline(opened)
        with app.running(sync=False):
            eventually(lambda: len(succeeded(app)) >= 3)
        until = CLOCK.now()
        [account] = watch.verdicts(until)
        gone = succeeded(app)[1]
        with sqlite3.connect(tmp_path / "jobs.db") as connection:
            connection.execute("DELETE FROM sempre_executions WHERE id = ?", (gone.id,))
        connection.close()

        [after] = watch.verdicts(until)

    assert account.lost == ()
    assert after.lost == (gone.run_at,)
    app.close()


def succeeded(app: Sempre) -> list[Any]:
    return [row for row in app.schedule("tick").executions() if row.state == "succeeded"]


@pytest.mark.parametrize("wrong", ["0s", "2d", "soon"])
def test_a_length_that_makes_no_sense_is_refused(shop: Shop, wrong: str) -> None:
    assert shop.cli("drill", "--for", wrong, YES).exit_code == 2


def test_a_supervisor_is_not_driven_to_give_up(shop: Shop) -> None:
    assert shop.cli("drill", "--kill", "5", YES).exit_code == 2
