"""A connection to a file of SQLite, which knows whether that file is still the one at its path."""

import os
import sqlite3
from fcntl import LOCK_EX, flock
from pathlib import Path

from sempre.errors import StoreRefused

__all__ = ["Connection", "open_file"]

Place = tuple[int, int]
# What belongs to a file that was deleted, and would be taken for a part of one that is new.
LEFT = ("-wal", "-shm")


class Connection:
    """A connection, and the process that opened it."""

    def __init__(self, path: Path, busy_after: float) -> None:
        """Open a file, which comes into being if there is none."""
        self.pid = os.getpid()
        self._path = path
        self.raw = sqlite3.connect(
            path,
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
            # In pages: a batch touches about a thousand, most of them the same ones every time.
            self.raw.execute("PRAGMA wal_autocheckpoint = 8192")
        except sqlite3.Error:
            self.raw.close()
            raise
        if mode != "wal":
            self.raw.close()
            message = f"{path} cannot have a write-ahead log (it stays {mode}); move it elsewhere."
            raise StoreRefused(message)
        self._place = _place_of(path)

    @property
    def is_own(self) -> bool:
        """Whether this very process has opened it."""
        return self.pid == os.getpid()

    @property
    def is_current(self) -> bool:
        """Whether its file is the one at its path: it may have been deleted, or replaced."""
        return self._place is not None and self._place == _place_of(self._path)

    def leave(self) -> None:
        """Use it no more; what a parent opened is kept from the collector, and not closed."""
        if self.is_own:
            self.raw.close()
        else:
            _LEFT_BY_PARENTS.append(self)

    def close(self) -> None:
        """Close it; a child must not touch what its parent opened, or would drop its locks."""
        if self.is_own:
            self.raw.close()

    def __del__(self) -> None:
        """Close it when it is used no more."""
        if hasattr(self, "raw"):
            self.close()


# Connections of a parent process, kept from being closed by the garbage collection of a child.
_LEFT_BY_PARENTS: list[Connection] = []


def open_file(path: Path, busy_after: float) -> Connection:
    """Open a file, without what a deleted one of the same name has left beside it."""
    if path.exists():
        return Connection(path, busy_after)
    # One process at a time: what the first one leaves beside the new file is the new file's.
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:
        return Connection(path, busy_after)
    try:
        flock(folder, LOCK_EX)
        if not path.exists():
            for suffix in LEFT:
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        return Connection(path, busy_after)
    finally:
        os.close(folder)


def _place_of(path: Path) -> Place | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
