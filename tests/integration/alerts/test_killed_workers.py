"""Workers that are killed by SIGKILL between a failure and its message lose no message."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.testing.polling import eventually
from tests.integration.alerts.receiver import Receiver, receiver
from tests.integration.cli.programs import program

JOBS = """
import os, signal
from pathlib import Path
from sempre import Happened, Sempre
from sempre.alerts import Webhook

app = Sempre("sqlite:///jobs.db", lease="3s", beat="1s", sweep="1s", watchdog_interval="5s")
moment, port = os.environ["MOMENT"], os.environ["PORT"]

def die(now):
    if now == moment and not Path("died").exists():
        Path("died").write_text(now)
        os.kill(os.getpid(), signal.SIGKILL)

@app.on(Happened.FAILED)
def before_the_fast_path(event):
    if event.facts["execution"].snapshot.job == "bill":
        Path("failed").touch()
        die("failed")

@app.around_enqueue
def around_enqueue(calls):
    yield
    die("enqueued" if calls[0].job.name == "sempre.alert:webhook" else "")

@app.around_perform
def around_perform(run):
    yield
    if Path("failed").exists():
        die({"sempre.alerts": "scanned", "sempre.alert:webhook": "sent"}.get(run.job, ""))

@app.job
def bill():
    raise ValueError("the bank is closed")

app.alert(Webhook(f"http://127.0.0.1:{port}/", secret="s", allow_private=["127.0.0.0/8"]))
"""


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.mark.parametrize("moment", ["failed", "scanned", "enqueued", "sent"])
def test_a_worker_that_is_killed_loses_no_message(
    server: Receiver, tmp_path: Path, moment: str
) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    operator = Sempre(f"sqlite:///{tmp_path}/jobs.db")

    @operator.job
    def bill() -> None: ...

    _ = operator.engine
    environment = {"MOMENT": moment, "PORT": str(server.port)}
    with program(tmp_path, "worker", "jobs.py", **environment):
        eventually(
            lambda: "sempre.alerts" in {each.name for each in operator.schedules}, patience=30
        )
        bill.enqueue()
        eventually((tmp_path / "died").exists, patience=30)
        # The slot of the next minute, without the wait for it.
        operator.schedule("sempre.alerts").trigger()
        eventually(lambda: len(server.requests) >= (2 if moment == "sent" else 1), patience=60)
        operator.schedule("sempre.alerts").trigger()
        eventually(lambda: not _waiting(operator), patience=30)
    operator.close()

    told = [json.loads(each.body) for each in server.requests]
    deliveries = {each.headers["sempre-delivery"] for each in server.requests}
    assert {(each["name"], each["phase"]) for each in told} == {("bill", "opened")}
    # One message. The receiver gets it twice, under one id, if the kill hid its answer.
    assert len(deliveries) == 1
    assert len(told) == (2 if moment == "sent" else 1)


def _waiting(app: Sempre) -> list[str]:
    rows = app.executions(state=["pending", "scheduled", "running"])
    jobs = [row.snapshot.job for row in rows if row.kind != "scheduled"]
    return [job for job in jobs if job.startswith("sempre.alert")]
