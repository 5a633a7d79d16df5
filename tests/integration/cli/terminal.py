"""`sempre` on a pseudo-terminal of a given width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import NamedTuple

from tests.integration.cli.programs import LONGEST, clean_environment

__all__ = ["Answer", "on_terminal", "open_terminal", "plain", "read_all"]

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")


class Answer(NamedTuple):
    """What a command printed on the terminal and on stderr, and its exit code."""

    lines: list[str]
    stderr: str
    code: int


def open_terminal(columns: int, rows: int = 40) -> tuple[int, int]:
    """Return both ends of a terminal of this size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def on_terminal(
    folder: Path, *arguments: str, columns: int = 80, code: int = 0, **environment: str
) -> Answer:
    """Run a command to its end; its stdout is a terminal, its stderr is not."""
    ours, theirs = open_terminal(columns)
    run = subprocess.run(
        [sys.executable, "-m", "sempre", *arguments],
        cwd=folder,
        env={**clean_environment(), "TERM": "xterm", "COLUMNS": str(columns), **environment},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=LONGEST,
        check=False,
        text=True,
    )
    os.close(theirs)
    text = plain(read_all(ours))
    assert run.returncode == code, run.stderr
    return Answer(text.splitlines(), run.stderr, run.returncode)


def read_all(terminal: int) -> bytes:
    """Read a terminal to its end, and close it."""
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:
        # What a terminal answers when its other end is closed and all is read.
        pass
    finally:
        os.close(terminal)
    return text


def plain(text: bytes) -> str:
    """Return what a person reads: without colours and movements of the cursor."""
    return ESCAPES.sub("", text.decode())
