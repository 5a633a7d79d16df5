"""`sempre logs`: what a run wrote by `logging`, piped, on a terminal, and while it runs."""

import json
import logging
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sempre import Cron, Sempre
from sempre.cli.context import CommandContext
from sempre.cli.output import VERSION, Output
from sempre.cli.run_logs import NewLines, follow_logs
from sempre.domain.execution import Execution
from sempre.domain.run_log import LogText
from sempre.errors import NotFound
from sempre.ports.retention import Purge
from sempre.ports.run_logs import RunLog
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    enqueued,
    expire,
    hasten,
    new_id,
    now_of,
    rescued,
    session_of,
    succeed,
    wanted,
)
from tests.integration.cli.programs import clean_environment, program
from tests.integration.cli.shop import Shop, lines

NEVER = Cron("0 3 29 2 *")
SHOP = logging.getLogger("shop")
ESCAPES = "\x1b[31mred\x1b[0m \x07 \u202e"


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[Shop]:
    """Schedules whose jobs log much, little and nothing."""
    url = f"sqlite:///{tmp_path / 'logs.db'}"
    app = Sempre(url, log_size=1024)

    def talk() -> None:
        SHOP.warning("one")
        SHOP.error("password=hunter2 iban: IT60 %s", ESCAPES)

    def chatter() -> None:
        for number in range(100):
            SHOP.warning("line %d", number)

    app.add("talk", NEVER, talk)
    app.add("chatter", NEVER, chatter)
    app.add("silent", NEVER, lambda: None)
    app.sync()
    yield Shop(app, url)
    app.close()


@pytest.fixture
def store(talkative: Shop) -> Store:
    return talkative.app.engine.store


def messages(shown: str) -> list[str]:
    return [line.partition("Z ")[2] or line for line in shown.splitlines()]


def claim(store: Store) -> Execution:
    [row] = store.claim_one_off(wanted(), session=session_of(store)).value
    return row


def write(store: Store, row: Execution, *entries: str, size: int = 1024) -> None:
    """Store the log of a run, as its worker does."""
    log = LogText(size)
    for entry in entries:
        log.add(entry)
    store.write_logs([RunLog(row.id, row.fence, log.text)], session=row.session)


def end(store: Store, row: Execution, *entries: str) -> None:
    """End a run; its worker stores the whole log first."""
    write(store, row, *entries)
    succeed(store, row)


def lost(store: Store, row: Execution) -> None:
    """Let the worker of a run die, and the execution wait for its next attempt."""
    expire(store, row.session)
    rescued(store, row.id)
    hasten(store, row.id)


# What is shown


def test_a_log_is_printed_without_secrets_and_without_control_characters(talkative: Shop) -> None:
    [identity] = talkative.run("talk")

    shown = talkative.cli("logs", identity)

    assert shown.exit_code == 0
    assert messages(shown.stdout) == [
        "WARNING shop: one",
        "ERROR shop: password=[redacted] iban: IT60 \\x1b[31mred\\x1b[0m \\x07 \\u202e",
    ]
    assert shown.stderr == ""


def test_further_names_are_masked_where_a_log_is_shown(
    talkative: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    [identity] = talkative.run("talk")
    monkeypatch.setenv("SEMPRE_REDACT", "iban")

    for form in ([], ["--json"], ["--all"], ["-f"], ["-f", "--json"]):
        shown = talkative.cli("logs", identity, *form)
        assert "IT60" not in shown.stdout
        assert shown.stdout.count("[redacted]") == 2


def test_a_long_log_says_how_many_lines_were_left_out(talkative: Shop) -> None:
    [identity] = talkative.run("chatter")

    shown = messages(talkative.cli("logs", identity).stdout)

    assert shown[0] == "WARNING shop: line 0"
    assert shown[-1] == "WARNING shop: line 99"
    assert f"[... {101 - len(shown)} lines left out ...]" in shown
    [log] = talkative.answer("logs", identity)["logs"]
    assert log["lines"] == 100


def test_an_execution_names_the_number_of_lines_and_the_command(talkative: Shop) -> None:
    talk, silent = talkative.run("talk", "silent")

    shown = lines(talkative.cli("execution", talk))
    assert any(line.endswith(f"2 lines: sempre logs {talk}") for line in shown)
    assert "sempre logs" not in talkative.cli("execution", silent).stdout
    assert talkative.answer("execution", talk)["execution"]["log_lines"] == 2
    assert talkative.answer("execution", silent)["execution"]["log_lines"] == 0


def test_json_is_one_object_with_the_text(talkative: Shop) -> None:
    [identity] = talkative.run("talk")

    answer = talkative.answer("logs", identity)

    assert (answer["execution"], answer["state"]) == (identity, "succeeded")
    [log] = answer["logs"]
    assert (log["attempt"], log["lines"]) == (1, 2)
    assert messages(log["text"])[0] == "WARNING shop: one"
    assert log["written_at"].endswith("Z")


def test_the_newest_attempt_is_shown_or_another_one_or_all(talkative: Shop, store: Store) -> None:
    enqueued(store)
    first = claim(store)
    write(store, first, "first")
    lost(store, first)
    again = claim(store)
    write(store, again, "second")

    assert lines(talkative.cli("logs", first.id)) == ["second"]
    assert lines(talkative.cli("logs", first.id, "--attempt", "1")) == ["first"]
    assert lines(talkative.cli("logs", first.id, "--attempt", "2")) == ["second"]
    assert lines(talkative.cli("logs", first.id, "--all")) == [
        "attempt 1",
        "first",
        "attempt 2",
        "second",
    ]
    both = talkative.answer("logs", first.id, "--all")["logs"]
    assert [(each["attempt"], each["text"]) for each in both] == [(1, "first"), (2, "second")]


def test_an_unknown_execution_and_an_unknown_attempt_are_not_found(
    talkative: Shop, store: Store
) -> None:
    enqueued(store)
    row = claim(store)

    for form in ([], ["-f"], ["--json"]):
        unknown = talkative.cli("logs", "1", *form)
        assert (unknown.exit_code, unknown.stdout) == (4, "")
        assert 'no execution "1"' in unknown.stderr
    missing = talkative.cli("logs", row.id, "--attempt", "2")
    assert missing.exit_code == 4
    assert f'no attempt "2 of {row.id}"' in missing.stderr


@pytest.mark.parametrize("other", ["--all", "-f"])
def test_one_attempt_is_neither_all_nor_followed(talkative: Shop, other: str) -> None:
    refused = talkative.cli("logs", "1", "--attempt", "1", other)

    assert refused.exit_code == 2
    assert "--attempt shows one attempt" in refused.stderr


def test_a_run_without_lines_is_explained(talkative: Shop, store: Store) -> None:
    waiting = enqueued(store)
    assert "has not begun: " in talkative.cli("logs", waiting).stderr
    first = claim(store)
    assert "has logged nothing up to the last heartbeat" in talkative.cli("logs", waiting).stderr
    write(store, first, "first")
    lost(store, first)
    again = claim(store)
    silent = talkative.cli("logs", waiting)
    assert (silent.exit_code, silent.stdout) == (0, "")
    assert f"`sempre logs {waiting} --attempt 1` has lines." in silent.stderr
    succeed(store, again)
    assert "attempt 2" in talkative.cli("logs", waiting).stderr
    assert "logged nothing at its log level" in talkative.cli("logs", waiting).stderr
    cancelled = enqueued(store)
    store.cancel([cancelled])
    assert "never ran: cancelled." in talkative.cli("logs", cancelled).stderr
    [ended] = talkative.run("silent")
    assert f"{ended} has ended and logged nothing." in talkative.cli("logs", ended, "-f").stderr


# Following


def followed(
    shop: Shop, identity: str, *steps: Callable[[], object], everything: bool = False
) -> list[NewLines]:
    """Follow an execution; each rest between two queries lets the next step happen."""
    left = iter(steps)

    def rest() -> None:
        next(left)()

    context = CommandContext(shop.app, Output())
    found = follow_logs(context, identity, everything=everything, rest=rest)
    return [each for each in found if each.lines]


def test_new_lines_are_followed_until_the_run_ends(talkative: Shop, store: Store) -> None:
    identity = enqueued(store)
    rows: list[Execution] = []

    found = followed(
        talkative,
        identity,
        lambda: rows.append(claim(store)),
        lambda: write(store, rows[0], "one"),
        lambda: write(store, rows[0], "one", "two"),
        lambda: write(store, rows[0], "one", "two"),
        lambda: end(store, rows[0], "one", "two", "three"),
    )

    assert found == [(1, ["one"]), (1, ["two"]), (1, ["three"])]


def test_a_retry_is_followed_too(talkative: Shop, store: Store) -> None:
    identity = enqueued(store)
    rows = [claim(store)]
    write(store, rows[0], "first")
    lost(store, rows[0])
    rows.append(claim(store))
    write(store, rows[1], "second")
    steps: list[Callable[[], object]] = [
        lambda: lost(store, rows[1]),
        lambda: rows.append(claim(store)),
        lambda: write(store, rows[2], "third"),
        lambda: succeed(store, rows[2]),
    ]

    assert followed(talkative, identity, *steps) == [(2, ["second"]), (3, ["third"])]
    everything = followed(talkative, identity, everything=True)
    assert everything == [(1, ["first"]), (2, ["second"]), (3, ["third"])]


def test_lines_that_come_faster_than_they_are_followed_leave_a_note(
    talkative: Shop, store: Store
) -> None:
    identity = enqueued(store)
    row = claim(store)
    entries = [f"line {number}" for number in range(1000)]

    found = followed(
        talkative,
        identity,
        lambda: write(store, row, *entries[:500]),
        lambda: write(store, row, *entries[:510]),
        lambda: end(store, row, *entries),
    )

    _, second, third = [each.lines for each in found]
    assert second == entries[500:510]
    assert third[0] == f"[... {490 - len(third) + 1} lines left out ...]"
    assert third[1:] == entries[1000 - len(third) + 1 :]


def test_an_execution_that_is_purged_while_it_is_followed_is_not_found(
    talkative: Shop, store: Store
) -> None:
    identity = enqueued(store)
    row = claim(store)

    def end_and_purge() -> None:
        succeed(store, row)
        store.purge(Purge(before=now_of(store) + HOUR, limit=10))

    with pytest.raises(NotFound):
        followed(talkative, identity, end_and_purge)
    with pytest.raises(NotFound):
        followed(talkative, new_id())


# As a program

JOBS = """
import logging
from pathlib import Path
from threading import Event

from sempre import Sempre

app = Sempre("sqlite:///jobs.db", lease="3s")

@app.job
def talk() -> None:
    logging.info("it has begun")
    while not Path("gate").exists():
        Event().wait(0.05)
    logging.info("\\x1b[31mit ends")
"""


def test_a_run_is_followed_while_it_runs_and_its_lines_are_json(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    app = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}")
    app.sync()
    job = app.job(name="talk")(lambda: None)
    identity = job.enqueue().id
    app.close()

    with program(tmp_path, "worker", "jobs:app") as worker:
        worker.wait_for("working on")
        following = subprocess.Popen(
            [sys.executable, "-m", "sempre", "logs", identity, "-f", "--json"],
            cwd=tmp_path,
            env={**clean_environment(), "SEMPRE_STORE": "sqlite:///jobs.db"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert following.stdout is not None
        first = json.loads(following.stdout.readline())
        (tmp_path / "gate").touch()
        rest = following.communicate(timeout=60)[0].splitlines()
        worker.end(signal.SIGTERM)

    assert following.returncode == 0
    assert first.pop("line").endswith("INFO root: it has begun")
    assert first == {"v": VERSION, "execution": identity, "attempt": 1}
    [last] = map(json.loads, rest)
    assert last["line"].endswith("INFO root: \x1b[31mit ends")


def test_a_terminal_gets_lines_without_control_characters(talkative: Shop, tmp_path: Path) -> None:
    [identity] = talkative.run("talk")

    shown = on_a_terminal(tmp_path, "logs", identity, "--store", talkative.url)

    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.endswith("\\x1b[31mred\\x1b[0m \\x07 \\u202e\r\n")


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """Run `sempre` to its end on a pseudo-terminal, and return what it printed there."""
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "sempre", *arguments],
        cwd=folder,
        env={**clean_environment(), "TERM": "xterm", "COLUMNS": "80"},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:
        # What a terminal answers when its other end is closed and all is read.
        pass
    finally:
        os.close(ours)
    return text.decode()
