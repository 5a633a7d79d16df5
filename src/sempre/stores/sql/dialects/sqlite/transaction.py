"""A transaction of SQLite: how statements are called."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from sempre.clock import Clock
from sempre.stores.sql.dialects.queries import Queries
from sempre.stores.sql.dialects.sqlite.connection import Place
from sempre.stores.sql.encoding import json_text

__all__ = ["SqliteTransaction"]


class SqliteTransaction(Queries):
    """A transaction on a connection.

    Attributes:
        place: the device and inode of the file; None in a caller's or a job's transaction.
    """

    place: Place | None = None

    def __init__(
        self, connection: sqlite3.Connection, statements: Mapping[str, str], clock: Clock
    ) -> None:
        """Use a connection that is in a transaction."""
        self._connection = connection
        self._statements = statements
        self._clock = clock

    @cached_property
    def now(self) -> datetime:
        """The now of the store's clock."""
        return self._clock.now()

    def send(self, name: str, /) -> None:
        """Run a statement at once."""
        self.run(name)

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows."""
        return self._connection.execute(self._statements[name], _bound(parameters)).fetchall()

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed."""
        return self._connection.execute(self._statements[name], _bound(parameters)).rowcount

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each of many rows."""
        self._connection.executemany(self._statements[name], rows)

    def script(self, text: str) -> None:
        """Run the statements of a migration, without ending the transaction."""
        statement = ""
        for line in text.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._migrate(statement)
                statement = ""

    def _migrate(self, statement: str) -> None:
        """Run a statement of a migration; a column that exists is left alone."""
        try:
            self._connection.execute(statement)
        except sqlite3.OperationalError as error:
            # SQLite has no ADD COLUMN IF NOT EXISTS.
            if "duplicate column name" not in str(error):
                raise


def _bound(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json_text(value) if isinstance(value, list | dict) else value
        for name, value in parameters.items()
    }
