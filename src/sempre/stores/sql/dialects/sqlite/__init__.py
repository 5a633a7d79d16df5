"""SQLite as a database of the store."""

from sempre.stores.sql.dialects.sqlite.dialect import Sqlite

__all__ = ["Sqlite"]
