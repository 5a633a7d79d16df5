"""What SQLite's errors mean: which are locks of others, and what to do about the rest."""

import sqlite3
from pathlib import Path

from sempre.errors import StoreError, StoreUnavailable
from sempre.stores.sql.dialects.failures import Failures

__all__ = ["BUSY", "Moved", "code_of", "explain"]

BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
"""The file is locked by others, also while they recover it or change the schema."""
_NO_SUCH_TABLE = "no such table"
_FAILURES = Failures(
    gone={_NO_SUCH_TABLE},
    refused={
        sqlite3.SQLITE_CORRUPT: "it is damaged; restore it from a backup",
        sqlite3.SQLITE_NOTADB: "it is not an SQLite database; give another path",
    },
    unavailable={
        sqlite3.SQLITE_FULL: "the disk is full; free some space",
        sqlite3.SQLITE_READONLY: "it is read-only; give this process the right to write to it",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the path, its folder and its rights",
        sqlite3.SQLITE_IOERR: "the disk failed to read or write",
        sqlite3.SQLITE_PERM: "this process has no right to it",
    },
)


class Moved(sqlite3.OperationalError):
    """The file was replaced by another one while a transaction wrote to it."""


def code_of(error: BaseException) -> int:
    """Return the primary code of an error, without what extends it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def explain(error: Exception, path: Path, *, waited: str) -> StoreError:
    """Return a failure of a file in our words, with what to do next."""
    if isinstance(error, Moved):
        return StoreUnavailable(f"{path} is replaced by another file again and again.")
    code = code_of(error)
    if code in BUSY:
        return StoreUnavailable(f"{path} was locked by another process for {waited}.")
    is_rule = isinstance(error, sqlite3.IntegrityError)
    is_gone = _NO_SUCH_TABLE in str(error)
    code_or_words = _NO_SUCH_TABLE if is_gone else code
    return _FAILURES.explain(str(path), code_or_words, str(error), is_rule=is_rule)
