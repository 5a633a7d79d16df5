"""`sempre top`: a live screen on a terminal, one plain frame elsewhere."""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from sempre.ports.messages import Report
from sempre.testing.contracts.store.builders import claimed, session_of
from tests.integration.cli.programs import LONGEST, clean_environment, finished
from tests.integration.cli.shop import Shop
from tests.integration.cli.terminal import on_terminal, open_terminal, plain, read_all

PARTS = ["RUNNING", "NEXT", "FAILED WITHIN A DAY", "QUEUES", "WORKERS"]


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """A store with a failure, and a run that reports its progress."""
    shop.run("leap", "doomed")
    store = shop.app.engine.store
    session = session_of(store)
    row = claimed(store, shop.app.schedule("hourly").trigger().id, session)
    store.report([Report(row.id, row.fence, 30, 100, "region\x1b[2J eu")], session=session)
    return shop


def test_a_pipe_gets_one_plain_frame(busy: Shop, tmp_path: Path) -> None:
    run = finished(tmp_path, "top", "--store", busy.url)

    assert run.returncode == 0
    assert "\x1b" not in run.stdout
    lines = run.stdout.splitlines()
    assert lines[0].startswith("unhealthy  3 schedules, 1 worker, 1 running")
    assert all(any(line.startswith(part) for line in lines) for part in PARTS)
    assert re.search(r"hourly .* \[###\.{7}\]  30% region\\x1b\[2J eu", run.stdout)
    assert re.search(r"doomed .* ago  ValueError: no such region", run.stdout)
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize("columns", [80, 140])
def test_once_prints_one_frame_that_fits_the_terminal(
    busy: Shop, tmp_path: Path, columns: int
) -> None:
    answer = on_terminal(tmp_path, "top", "--once", "--store", busy.url, columns=columns)

    text = "\n".join(answer.lines)
    assert all(part in text for part in PARTS)
    assert max(map(len, answer.lines)) <= columns
    assert len(answer.lines) < (40 if columns == 80 else 26)


@pytest.mark.parametrize(("key", "code"), [(b"q", 0), (b"x\x03", 130)], ids=["q", "Ctrl-C"])
def test_a_terminal_gets_a_live_screen_until_a_key_ends_it(
    busy: Shop, tmp_path: Path, key: bytes, code: int
) -> None:
    ours, theirs = open_terminal(100)
    process = subprocess.Popen(
        [sys.executable, "-m", "sempre", "top", "--store", busy.url],
        cwd=tmp_path,
        env={**clean_environment(), "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_make_controlling,  # noqa: PLW1509 - this test has no threads
    )
    os.close(theirs)
    try:
        screen = b""
        while "WORKERS" not in plain(screen):
            assert select.select([ours], [], [], LONGEST)[0], plain(screen)
            screen += os.read(ours, 65_536)
        for each in key:
            os.write(ours, bytes([each]))
        # The last lines must be read, or the terminal is full and the process waits.
        rest = plain(read_all(ours))
        assert process.wait(LONGEST) == code, rest
    finally:
        process.kill()
        process.wait()
    assert b"\x1b[?1049h" in screen


def _make_controlling() -> None:
    """Let Ctrl-C on the terminal of this process send it SIGINT."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
