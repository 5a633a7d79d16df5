"""A store that refuses ends a worker at once, with one message and what to type."""

import sqlite3
from pathlib import Path
from socket import create_server

import pytest

from sempre import Sempre
from tests.integration.cli.programs import finished
from tests.integration.redis.redis_server import redis_server

JOBS = """
import os
from sempre import Sempre

app = Sempre(os.environ["URL"])

@app.every("1s")
def tick() -> None: ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


def test_redis_without_a_log_ends_a_worker_with_the_option_to_type(folder: Path) -> None:
    port = _free_port()
    with redis_server(appendonly="no", port=str(port)):
        done = finished(
            folder, "worker", "jobs.py", "--processes", "2", URL=f"redis://127.0.0.1:{port}/0"
        )

    assert done.returncode == 3
    [error] = [line for line in done.stderr.splitlines() if "append-only" in line]
    assert error.startswith("error: ")
    assert error.endswith("or accept it with ?allow_no_aof=1 in the store URL.")
    assert "Traceback" not in done.stderr
    assert "crash" not in done.stderr


@pytest.mark.parametrize("command", [["worker", "jobs.py"], ["worker", "--burst"], ["dev"]])
def test_a_newer_schema_ends_a_worker_with_the_command_to_type(
    folder: Path, command: list[str]
) -> None:
    url = f"sqlite:///{folder / 'jobs.db'}"
    app = Sempre(url)
    app.sync()
    app.close()
    with sqlite3.connect(folder / "jobs.db") as connection:
        connection.execute("UPDATE sempre_meta SET version = 999")
    connection.close()

    done = finished(folder, *command, URL=url)

    assert done.returncode == 3
    told, error = done.stderr.splitlines()
    assert told.startswith("using jobs.py:app")
    assert error.startswith("error: the store has version 999 of the schema")
    assert error.endswith("pip install --upgrade sempre")


def test_a_worker_process_that_meets_a_wrong_setting_ends_the_command(folder: Path) -> None:
    done = finished(folder, "worker", "jobs.py", URL="redis://:s3/cret@127.0.0.1:1/0")

    assert done.returncode == 2
    assert "write / as %2F" in done.stderr
    assert "cret" not in done.stderr


def test_an_import_error_shows_the_users_own_traceback(folder: Path) -> None:
    (folder / "jobs.py").write_text("import prices\n")
    (folder / "prices.py").write_text("def load():\n    return {}['eur']\n\nRATE = load()\n")

    done = finished(folder, "worker", "jobs.py", URL="")

    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines[1:-1] if "File" not in line and "^" not in line] == [
        "import prices",
        "RATE = load()",
        "return {}['eur']",
        "KeyError: 'eur'",
    ]
    assert "importlib" not in done.stderr
    assert lines[-1].startswith("error: importing jobs.py raised KeyError: 'eur'")


def test_bytes_of_the_command_line_that_are_no_text_are_refused(folder: Path) -> None:
    done = finished(folder, "list", "caf\udce9", URL="")

    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == 'error: argument 2 is not UTF-8: "caf\\udce9".'
    assert "Traceback" not in done.stderr


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
