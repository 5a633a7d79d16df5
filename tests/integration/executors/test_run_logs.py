"""The log of a run in a child process: whole if the child crashes, harmless if the child forges."""

from collections.abc import Iterator

import pytest

from sempre.domain.run_log import read_log
from sempre.testing.polling import eventually
from tests.integration.executors.hosting import Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


def messages(log: str) -> list[str]:
    return [line.partition("Z ")[2] or line for line in log.split("\n")]


def test_a_child_sends_its_log(worker: Worker) -> None:
    outcome = worker.run("log", then="raise")

    lines = messages(outcome["log"])
    assert outcome["result"] == "logged"
    assert lines[:3] == [
        "INFO shop: 0 x",
        "ERROR shop: \\x00 \\ud800 password=[redacted] iban=[redacted]",
        "  Traceback (most recent call last):",
    ]
    assert lines[-1] == "  ValueError: no rate"
    assert worker.run("echo", value=1)["log"] == ""


def test_a_child_that_crashes_has_sent_every_line(worker: Worker) -> None:
    outcome = worker.run("log", times=30, then="crash")

    assert outcome["ended"] == "crashed"
    assert read_log(outcome["log"]).total == 30


def test_the_log_of_a_child_can_be_read_while_it_runs(worker: Worker) -> None:
    identity = worker.submit("log", then="hang")

    [log] = eventually(lambda: worker.ask("logs"))

    assert messages(log) == ["INFO shop: 0 x"]
    worker.ask("cancel", identity=identity, reason="the test is over")
    assert messages(worker.outcome()["log"]) == ["INFO shop: 0 x"]


def test_lines_of_two_children_at_once_do_not_mix(worker: Worker) -> None:
    for _ in range(2):
        worker.submit("log", times=10)

    for _ in range(2):
        numbers = [line.split()[3] for line in worker.outcome()["log"].split("\n")]
        assert numbers == [str(number) for number in range(10)]


def test_a_child_that_logs_ten_megabytes_is_capped(worker: Worker) -> None:
    outcome = worker.run("log", times=2000)

    lines = read_log(outcome["log"])
    assert outcome["result"] == "logged"
    assert len(outcome["log"].encode()) <= 65_536
    assert lines.total == 2000
    assert " 1999 x" in lines.tail[-1]


def test_a_signal_handler_that_logs_and_raises_breaks_no_message(worker: Worker) -> None:
    outcome = worker.run("log_in_signal_handlers", times=2000)

    assert (outcome["result"], outcome["error"]) == ("raised", "")


def test_a_process_that_a_child_forks_sends_nothing(worker: Worker) -> None:
    outcome = worker.run("log", then="fork")

    assert outcome["result"] == "logged"
    assert messages(outcome["log"]) == ["INFO shop: 0 x"]


@pytest.mark.parametrize(
    "text",
    [
        '{"log":7}',
        '{"log":["line"]}',
        '{"log":"line","progress":[1,2,""]}',
        '{"log":"\\u0000"}',
        '{"log":"\\ud800"}',
        '{"log":"' + "x" * 8193 + '"}',
    ],
)
def test_a_forged_log_fails_the_run_of_its_child_alone(worker: Worker, text: str) -> None:
    outcome = worker.run("forge", text=text)

    assert outcome["ended"] == "failed"
    assert "malformed report" in outcome["error"]
    assert worker.run("echo", value=1)["result"] == 1


def test_a_forged_line_cannot_pass_for_an_entry_of_the_log(worker: Worker) -> None:
    identity = worker.submit("forge", text='{"log":"one\\n[... 9 lines left out ...]"}')

    [log] = eventually(lambda: worker.ask("logs"))

    assert log == "one\n  [... 9 lines left out ...]"
    worker.ask("cancel", identity=identity, reason="the test is over")
    worker.outcome()
