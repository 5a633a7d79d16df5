"""A connection to an SQLite file, which knows whether that file is still the one at its path.

The file may be removed, or replaced by another one such as a restored backup. A connection that is
open then goes on with a file that no other process sees. So a connection remembers the device and
the inode of its file, and of the log and the index beside the file: SQLite would take the log of an
earlier file for a part of the new one.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import mkstemp
from urllib.parse import quote

from sempre.errors import StoreRefused, StoreUnavailable
from sempre.forking import keep_uncollected

__all__ = ["PRIVATE", "Connection", "Place", "address_of", "open_file"]

Place = tuple[int, int]
PRIVATE = 0o600
"""The mode of a new file: only its owner reads the arguments and results in it."""
# The suffixes of the log and the index, which SQLite keeps beside an open file.
BESIDE = ("-wal", "-shm")
# In pages: a batch touches about a thousand, most of them the same ones every time.
CHECKPOINT_AFTER = 8192
# In bytes: a log that grew beyond these pages, because of a long read or a large write, is cut back
# to them. A shorter log would have to grow again all the time.
LOG_KEPT = CHECKPOINT_AFTER * (4096 + 24)
TRIES = 5


class Connection:
    """A connection, and the process that opened it.

    Attributes:
        place: the device and inode of the file; None if the file was replaced during the opening.
    """

    def __init__(self, path: Path, busy_after: float) -> None:
        """Open a file that exists."""
        self.pid = os.getpid()
        self._path = str(path)
        before = _place_of(path)
        self.raw = sqlite3.connect(
            address_of(path),
            uri=True,
            timeout=busy_after,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            [mode] = self.raw.execute("PRAGMA journal_mode = WAL").fetchone()
            self.raw.execute("PRAGMA synchronous = FULL")
            # In KiB, if negative: the indexes of a busy store do not fit the default of 2 MB.
            self.raw.execute("PRAGMA cache_size = -65536")
            self.raw.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_AFTER}")
            self.raw.execute(f"PRAGMA journal_size_limit = {LOG_KEPT}")
            # The log beside the file exists only after the first read.
            self.raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        except sqlite3.Error:
            self.raw.close()
            raise
        if mode != "wal":
            self.raw.close()
            message = f"{path} cannot have a write-ahead log (it stays {mode}); move it elsewhere."
            raise StoreRefused(message)
        self._beside = {each: _place_of(each) for each in _beside(path)}
        self.place = before if before == _place_of(path) else None

    @property
    def is_own(self) -> bool:
        """Whether this process opened the connection, and not its parent."""
        return self.pid == os.getpid()

    @property
    def is_current(self) -> bool:
        """Whether the file at the path is still the file of this connection."""
        return self.place is not None and self.place == _place_of(self._path)

    def leave(self) -> None:
        """Close the connection, unless a parent process opened it."""
        if self.is_own:
            self.raw.close()
        else:
            keep_uncollected(self)

    def clear_away(self) -> None:
        """Remove the log and the index of a replaced file, beside the file that replaced it.

        What was committed is first written into the replaced file, which may be kept elsewhere.
        """
        if not self.is_own or self.is_current:
            return
        with suppress(sqlite3.Error):
            self.raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
        for each, place in self._beside.items():
            if place is not None and place == _place_of(each):
                each.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the connection; one of a parent process stays: its locks would be dropped."""
        if self.is_own:
            self.raw.close()

    def __del__(self) -> None:
        """Close the connection when it is collected."""
        if hasattr(self, "raw"):
            self.close()


def address_of(path: Path) -> str:
    """Return the URI of a file that SQLite opens if it exists, and does not create."""
    return f"file:{quote(os.fsencode(path))}?mode=rw"


def open_file(
    path: Path, busy_after: float, *, mode: int = PRIVATE, before: Connection | None = None
) -> Connection:
    """Open the file at a path; create the file with this mode if there is none.

    The log and the index of an earlier file are removed, as far as they are known: those of a
    deleted file, and those of the file that connection `before` had open.

    Raises:
        StoreUnavailable: the file is replaced again and again.
    """
    for _ in range(TRIES):
        if before is not None or not path.exists():
            _prepare(path, mode, before)
            before = None
        found = _place_of(path)
        try:
            opened = Connection(path, busy_after)
        except sqlite3.Error:
            if found == _place_of(path):
                raise
            continue
        if opened.is_current:
            return opened
        opened.close()
    raise StoreUnavailable(f"{path} is replaced by another file again and again.")


def _prepare(path: Path, mode: int, before: Connection | None) -> None:
    """Remove what earlier files left, and create the file if there is none: one process at a time.

    The log that the first process leaves beside the new file belongs to the new file.
    """
    # If the folder cannot be used, the error of SQLite says why.
    with suppress(OSError), _alone(path.parent):
        if before is not None:
            before.clear_away()
        if not path.exists():
            for each in _beside(path):
                each.unlink(missing_ok=True)
            _create(path, mode)


def _create(path: Path, mode: int) -> None:
    """Create an empty file with its mode.

    The file is never open here under its own name: a process that closes a file drops every lock
    that it has on the file.
    """
    real = os.path.realpath(path)
    opened, name = mkstemp(prefix=f"{path.name}-", dir=Path(real).parent)
    try:
        os.fchmod(opened, mode)
        os.close(opened)
        os.link(name, real)
    finally:
        Path(name).unlink()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY)
    try:
        flock(opened, LOCK_EX)
        yield
    finally:
        os.close(opened)


def _beside(path: Path) -> list[Path]:
    """Return the paths of the log and the index: beside the file itself, not beside a link."""
    return [Path(f"{os.path.realpath(path)}{suffix}") for suffix in BESIDE]


def _place_of(path: str | Path) -> Place | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - twice in each transaction, so no object
    except OSError:
        return None
    return found.st_dev, found.st_ino
