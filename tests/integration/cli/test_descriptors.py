"""A job in a child that writes to everything it finds open reaches nothing of its worker."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.programs import clean_environment, program

JOBS = """
import json
import os
from contextlib import suppress
from pathlib import Path

from sempre import Every, Sempre

app = Sempre("sqlite:///jobs.db")
log = open("user.log", "a", buffering=1)


@app.job(isolation="process")
def write_everywhere() -> None:
    found = {fd: target(fd) for fd in range(3, 256) if target(fd)}
    log.write(json.dumps(found) + "\\n")
    for fd in found:
        if fd != log.fileno():
            with suppress(OSError):
                os.write(fd, b"\\xff" * 64)


def target(fd: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""
"""
WORKER = (
    JOBS
    + """

app.add("vandal", Every("1s"), write_everywhere)


@app.every("1s")
def tick() -> None: ...
"""
)
EMBEDDED = (
    JOBS
    + """

receipt = write_everywhere.enqueue()
with app.running():
    with suppress(Exception):
        receipt.wait("60s")
    print(receipt.execution.state)
app.close()
"""
)


def kinds(folder: Path) -> list[list[str]]:
    """Return what each run has found open: files by their name, a socket without its number."""
    lines = (folder / "user.log").read_text().splitlines()
    found = [json.loads(line).values() for line in lines]
    return [sorted(Path(each).name.partition(":")[0] for each in line) for line in found]


@pytest.mark.parametrize("options", [(), ("--metrics", "127.0.0.1:0")])
def test_a_vandal_reaches_its_own_stream_and_files_of_the_user_and_nothing_else(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "jobs.py").write_text(WORKER)

    with program(tmp_path, "worker", "jobs:app", *options) as worker:
        worker.wait_for("vandal failed after ", times=2)
        worker.wait_for("tick succeeded in ", times=2)
        code = worker.end(signal.SIGTERM)

    assert code == 0
    for found in kinds(tmp_path):
        assert [each for each in found if each != "null"] == ["socket", "user.log"]
    lines = "\n".join(worker.lines)
    assert "its process sent a malformed report" in lines
    assert "another worker starts" not in lines


def test_a_child_of_an_embedded_worker_has_no_descriptor_of_a_store_that_was_open_before(
    tmp_path: Path,
) -> None:
    (tmp_path / "program.py").write_text(EMBEDDED)

    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert "failed" in done.stdout
    [found] = kinds(tmp_path)
    assert [each for each in found if each != "null"] == ["socket", "user.log"]
