"""A server of the tests ends with the tests, also if they are killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from tools.guardian import Guarded

SLEEPER = (sys.executable, "-c", "import signal; signal.pause()")
STARTER = """
import signal, sys
from pathlib import Path
from tools.guardian import Guarded
server = Guarded([sys.executable, "-c", "import signal; signal.pause()"], folder=Path(sys.argv[1]))
print(server.pid, flush=True)
signal.pause()
"""
PAUSE = 0.01


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pid: int, folder: Path) -> None:
    """Come back when a process has ended and its folder is gone, however long that takes."""
    while is_alive(pid) or folder.exists():
        Event().wait(PAUSE)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_ends_with_a_test_run_that_is_killed(by: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(folder)], stdout=subprocess.PIPE
    ) as tests:
        assert tests.stdout is not None
        pid = int(tests.stdout.readline())
        assert is_alive(pid)

        tests.send_signal(by)

    wait_until_gone(pid, folder)


def test_a_server_that_is_stopped_keeps_its_files(tmp_path: Path) -> None:
    server = Guarded(SLEEPER, folder=tmp_path)

    server.stop()
    server.stop()

    assert not is_alive(server.pid)
    assert tmp_path.exists()


def test_a_server_can_be_killed_and_keeps_its_files(tmp_path: Path) -> None:
    server = Guarded(SLEEPER, folder=tmp_path)

    server.kill()
    server.stop()

    assert not is_alive(server.pid)
    assert not server.is_running
    assert tmp_path.exists()


def test_a_server_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    server = Guarded((sys.executable, "-c", "raise SystemExit(3)"), folder=tmp_path)

    while server.is_running:
        Event().wait(PAUSE)

    server.stop()
    assert tmp_path.exists()


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="cannot be run"):
        Guarded(["no-such-program"], folder=tmp_path)
