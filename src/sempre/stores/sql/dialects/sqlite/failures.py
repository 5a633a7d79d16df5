"""What a lock of another process looks like in SQLite."""

import sqlite3

__all__ = ["BUSY", "code_of"]

BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
"""Codes of a file that others have, also while they recover it or change the schema."""


def code_of(error: sqlite3.Error) -> int:
    """Return the primary code of an error, without what extends it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
