"""`worker`, `dev` and a few commands as real processes: signals, exit codes, what they print."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sempre import Sempre
from tests.integration.cli.programs import clean_environment, finished, program
from tests.integration.cli.shop import Shop

JOBS = """
from sempre import Sempre

app = Sempre("sqlite:///jobs.db")

@app.every("1s")
def tick() -> str:
    return "tock"
"""
FAILING = (
    JOBS
    + """
@app.every("1s")
def fail() -> None:
    raise ValueError("no such region")
"""
)
STORE = ("--store", "sqlite:///jobs.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


def test_dev_runs_a_job_each_second_until_it_is_interrupted(folder: Path) -> None:
    with program(folder, "dev", "jobs.py") as dev:
        dev.wait_for("tick succeeded in ", times=2)
        code = dev.end(signal.SIGINT)

    assert code == 0
    assert dev.lines[0] == "using jobs.py:app (the command line)"
    assert "created tick" in dev.lines
    found = finished(folder, "list", "--json", *STORE)
    [tick] = json.loads(found.stdout)["schedules"]
    assert tick["last"]["state"] == "succeeded"


def test_dev_says_that_a_job_failed_and_when_it_is_tried_again(folder: Path) -> None:
    (folder / "jobs.py").write_text(FAILING.replace('"1s")\ndef fail', '"1s", retry=2)\ndef fail'))

    with program(folder, "dev", "--log-level", "debug") as dev:
        line = dev.wait_for("fail failed after ")
        trace = dev.wait_for("jobs.py")

    assert "; see: sempre execution " in line
    assert trace.startswith('    File "')
    assert (
        line.partition("fail failed")[2]
        .partition("ValueError")[2]
        .startswith(": no such region; retry in ")
    )


def test_dev_logs_json_where_it_is_asked_for(folder: Path) -> None:
    with program(folder, "dev", "--log-format", "json") as dev:
        line = json.loads(dev.wait_for('"execution.succeeded"'))

    assert line["schedule"] == "tick"
    assert line["level"] == "info"


LANES = (
    JOBS
    + """
@app.every("1s", queue="mail")
def send() -> None: ...
"""
)


@pytest.mark.parametrize("command", [("dev",), ("worker", "jobs:app")], ids=["dev", "worker"])
def test_every_declared_queue_is_served(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "jobs.py").write_text(LANES)

    with program(folder, *command) as running:
        running.wait_for("queues default, mail")
        running.wait_for("send succeeded")


def test_due_work_of_a_queue_that_q_leaves_out_is_warned_of(folder: Path) -> None:
    (folder / "jobs.py").write_text(LANES)

    with program(folder, "dev", "-q", "default", SEMPRE_LEASE="3") as dev:
        dev.wait_for("warning: this worker does not serve the queue mail, which -q leaves out.")
        line = dev.wait_for("no live worker serves the queue mail")

    assert "1 execution due and not run (send)" in line
    assert line.endswith("; try: sempre worker APP -q mail")


def second(name: str) -> str:
    """Return the code of a schedule besides the first."""
    return f"""
@app.every("1h")
def {name}() -> None: ...
"""


@pytest.mark.parametrize("command", [("dev",), ("worker", "jobs:app")], ids=["dev", "worker"])
def test_a_start_logs_what_it_disables_enables_and_finds_orphaned(
    folder: Path, command: tuple[str, ...]
) -> None:
    owned = JOBS.replace('jobs.db"', 'jobs.db", owner="shop"')
    without_owner = JOBS.replace("jobs.db", "others.db")
    starts = (
        (owned + second("bread"), "working on "),
        (owned + second("cheese"), "bread disabled by this deploy"),
        (owned + second("bread"), "bread enabled by this deploy"),
        (without_owner + second("cake"), "working on "),
        (without_owner + second("cheese"), "cake orphaned"),
    )

    told = []
    for code, line in starts:
        (folder / "jobs.py").write_text(code)
        with program(folder, *command) as start:
            told.append(start.wait_for(line).partition(" ")[2])

    assert told[1].startswith("warning: bread disabled by this deploy: the code of owner shop ")
    assert told[1].endswith("; try: declare it again, or: sempre enable bread")
    assert told[2] == "bread enabled by this deploy: an earlier deploy had disabled it"
    assert told[4].startswith("warning: cake orphaned: no worker knows its job cake; ")


@pytest.mark.parametrize("command", [("dev",), ("worker", "jobs:app", "--processes", "2")])
def test_code_of_another_owner_does_not_start_beside_a_running_fleet(
    folder: Path, command: tuple[str, ...]
) -> None:
    (folder / "jobs.py").write_text(JOBS.replace('jobs.db"', 'jobs.db", owner="shop"'))

    with program(folder, "worker", "jobs:app") as fleet:
        fleet.wait_for("tick succeeded in ")
        (folder / "jobs.py").write_text(JOBS.replace('jobs.db"', 'jobs.db", owner="farm"'))
        refused = finished(folder, *command)
        fleet.wait_for("tick succeeded in ", times=2)

    assert refused.returncode == 3
    assert refused.stdout == ""
    assert "Traceback" not in refused.stderr
    assert [line for line in refused.stderr.splitlines() if line.startswith("error: ")] == [
        (
            "error: the schedule tick belongs to owner shop, and this code declares it as owner "
            "farm. Rename it, or take it over: adopt=True where it is declared, or one start with "
            "SEMPRE_ADOPT=1."
        )
    ]
    status = json.loads(finished(folder, "status", "--json", *STORE).stdout)
    [problem] = [each for each in status["problems"] if each["code"] == "S206"]
    assert problem["message"].startswith(
        "1 schedule also declared by refused code of another owner: tick (of shop, not "
    )


def test_a_worker_that_is_terminated_drains_and_leaves_no_session(folder: Path) -> None:
    with program(folder, "worker", "jobs:app", "-c", "2") as worker:
        worker.wait_for("tick succeeded in ")
        code = worker.end(signal.SIGTERM)

    assert code == 0
    status = json.loads(finished(folder, "status", "--json", *STORE).stdout)
    assert status["workers"] == 0


def test_two_processes_are_two_workers(folder: Path) -> None:
    with program(folder, "worker", "--processes", "2", "-q", "critical,default") as worker:
        worker.wait_for("working on ", times=2)
        status = json.loads(finished(folder, "status", "--json", *STORE).stdout)
        code = worker.end(signal.SIGTERM)

    assert status["workers"] == 2
    assert code == 0


@pytest.mark.parametrize(("text", "code"), [(JOBS, 0), (FAILING, 1)])
def test_a_burst_runs_what_is_due_and_tells_whether_it_failed(
    folder: Path, text: str, code: int
) -> None:
    (folder / "jobs.py").write_text(text)
    # The first one creates the schedules; on a slow machine a slot of theirs is due at once.
    finished(folder, "worker", "jobs.py", "--burst")
    app = Sempre(f"sqlite:///{folder / 'jobs.db'}")
    for schedule in list(app.schedules):
        app.schedule(schedule.name).trigger()
    app.close()

    burst = finished(folder, "worker", "jobs.py", "--burst")

    assert burst.returncode == code
    assert "tick succeeded" in burst.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["worker", "jbos.py"], 4, 'error: no file "jbos.py". Did you mean jobs.py?'),
        (["worker", "jobs:ap"], 4, 'error: no attribute "ap" in jobs. Did you mean app?'),
        (["worker", "-c", "0"], 2, "error: invalid value for '-c'"),
        (["worker", "-q", ","], 2, "error: invalid value for '-q'"),
        (["worker", "--burst", "--processes", "2"], 2, "error: processes: 2 is not accepted"),
        (["list"], 3, "error: no store at sqlite:///sempre.db"),
    ],
)
def test_a_mistake_has_its_exit_code_and_sentence(
    folder: Path, arguments: list[str], code: int, message: str
) -> None:
    run = finished(folder, *arguments)

    assert run.returncode == code
    assert run.stdout == ""
    assert any(line.startswith(message) for line in run.stderr.splitlines()), run.stderr


def test_waiting_can_be_interrupted(shop: Shop, tmp_path: Path) -> None:
    with program(tmp_path, "run", "leap", "--wait", "--store", shop.url) as run:
        run.wait_for("waiting for ")
        code = run.end(signal.SIGINT)

    assert code == 130
    assert run.lines[-1] == "error: interrupted."


def test_commands_never_import_the_users_code(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text("raise SystemExit('imported')\n")

    run = finished(tmp_path, "list", SEMPRE_STORE=shop.url, SEMPRE_APP="jobs:app")

    assert run.returncode == 0
    assert "imported" not in run.stderr


def on_terminal(folder: Path, url: str, **environment: str) -> str:
    """Return what `sempre list` prints on a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "sempre", "list", "--store", url],
        cwd=folder,
        env={**clean_environment(), "TERM": "xterm", "COLUMNS": "160", **environment},
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


def test_a_terminal_has_colour_unless_it_wants_none(shop: Shop, tmp_path: Path) -> None:
    shop.run("doomed")

    assert "\x1b[31m" in on_terminal(tmp_path, shop.url)
    assert "\x1b" not in on_terminal(tmp_path, shop.url, NO_COLOR="1")
