"""`sempre alerts` and `sempre alerts test`, on the application that declares the channels."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.cli.app_loader import load_app
from tests.integration.alerts.receiver import Receiver, receiver
from tests.integration.cli.schema import check
from tests.integration.cli.terminal import on_terminal
from tests.unit.cli.commands import sempre

JOBS = """
from sempre import Sempre
from sempre.cli.app_loader import load_app
from sempre.alerts import Command, Heartbeat, Webhook

app = Sempre("sqlite:///{folder}/jobs.db")
hook = Webhook("http://127.0.0.1:{port}/services/TOKEN", secret="whsec", allow_private=True)
app.alert(hook, remind="4h", quiet="00:00-00:01 Europe/Rome")
app.alert(Command(["/bin/false", "TOKEN"]), on=["failure"], tags=["money"])
app.alert(Heartbeat("https://hc-ping.com/TOKEN"), schedules=["bill-*"])

@app.cron("0 3 29 2 *", tags=["money"])
def bill():
    raise ValueError("the bank is closed, password=hunter2")
"""


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def jobs(server: Receiver, tmp_path: Path) -> str:
    # A module of its own for each test: modules are imported once in a process.
    path = tmp_path / f"alerted_{tmp_path.name.replace('-', '_')}.py"
    path.write_text(JOBS.format(folder=tmp_path, port=server.port))
    return str(path)


@pytest.fixture
def store(jobs: str) -> Iterator[Sempre]:
    """The store after a failure, its scan and the first tries of its messages."""
    app = load_app(jobs).app
    app.sync()
    for name in ("bill", "sempre.alerts"):
        app.schedule(name).trigger()
        with app.running(burst=True, sync=False) as running:
            running.wait_until_exhausted()
    yield app
    app.close()


def test_rules_incidents_and_messages_are_listed(store: Sempre, jobs: str) -> None:
    result = sempre("alerts", "-A", jobs, "--json")
    answer = check("alerts list", result.stdout)

    assert result.exit_code == 0
    assert store.alerts.channels.keys() == {each["channel"] for each in answer["rules"]}
    [incident] = answer["incidents"]
    assert (incident["subject"], incident["trouble"]) == ("schedule:bill", "failure")
    assert incident["sent"] == {"webhook": 1, "command": 1}
    states = {each["channel"]: each["state"] for each in answer["messages"]}
    assert states == {"webhook": "succeeded", "command": "scheduled"}


@pytest.mark.usefixtures("store")
def test_a_person_reads_states_and_no_secret(jobs: str) -> None:
    result = sempre("alerts", "list", "-n", "5", "-A", jobs)

    assert "bill failure" in result.stdout
    assert "bill is failing" in result.stdout
    assert "/bin/false ended with 1" in result.stdout
    assert "1 open incident" in result.stderr
    for secret in ("TOKEN", "whsec", "hunter2"):
        assert secret not in result.output


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("columns", [80, 140])
def test_the_tables_fit_a_terminal(jobs: str, tmp_path: Path, columns: int) -> None:
    answer = on_terminal(tmp_path, "alerts", "-A", jobs, columns=columns)

    assert max(map(len, answer.lines)) <= columns, answer.lines
    assert any("bill is failing" in line for line in answer.lines)


def test_a_test_message_is_sent_now(server: Receiver, jobs: str) -> None:
    good = sempre("alerts", "test", "webhook", "-A", jobs)
    both = sempre("alerts", "test", "webhook", "command", "-A", jobs, "--json")

    assert (good.exit_code, good.stdout) == (0, "ok webhook: answered 200\n")
    assert both.exit_code == 1
    answers = check("alerts test", both.stdout)["channels"]
    assert [each["accepted"] for each in answers] == [True, False]
    assert b'"phase": "test"' in server.requests[0].body


def test_an_unknown_channel_is_named_with_the_nearest(jobs: str) -> None:
    result = sempre("alerts", "test", "webhok", "-A", jobs)

    assert result.exit_code == 4
    assert 'no channel "webhok"' in result.stderr
    assert "webhook" in result.stderr


def test_an_application_without_alerts_is_told_how_to_declare_one(tmp_path: Path) -> None:
    (tmp_path / "quiet_jobs.py").write_text("from sempre import Sempre\napp = Sempre('memory://')")

    result = sempre("alerts", "-A", str(tmp_path / "quiet_jobs.py"))

    assert result.exit_code == 4
    assert "app.alert(" in result.stderr
