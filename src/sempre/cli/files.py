"""Files that a command writes: complete or absent, and read by their owner only."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sempre.cli.errors import ExitCode, Failure

__all__ = ["written_file"]


@contextmanager
def written_file(file: str) -> Iterator[IO[str]]:
    """Open a file that has its name only when it is complete, and that only its owner reads.

    `-` is stdout.
    """
    if file == "-":
        yield sys.stdout
        return
    part = Path(f"{file}.part")
    number = _created(part)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as opened:
            yield opened
            opened.flush()
            os.fsync(number)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _created(part: Path) -> int:
    """Return the descriptor of a new file; Failure if the file cannot be created."""
    try:
        part.unlink(missing_ok=True)
        return os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        message = f"the file {part} cannot be written: {error.strerror}."
        raise Failure(message, code=ExitCode.USAGE) from error
