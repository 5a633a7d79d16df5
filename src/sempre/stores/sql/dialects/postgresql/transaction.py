"""A transaction of PostgreSQL: how statements are called.

What begins a transaction travels with its first statement, and so does every statement whose answer
nobody needs: each answer that is waited for costs a round trip, and the interpreter, which other
threads have meanwhile.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

from psycopg import Cursor

from sempre.grids.instants import instant_of
from sempre.stores.sql.dialects.postgresql.connection import Connection
from sempre.stores.sql.dialects.queries import Queries
from sempre.stores.sql.encoding import json_text

__all__ = ["PostgresqlTransaction"]


class PostgresqlTransaction(Queries):
    """A transaction on a connection.

    Args:
        connection: one that is in a transaction already, or is to be.
        statements: what can be called, by name.
        begin: what begins the transaction, if it is still to be; by nothing each statement
            commits by itself.
        is_begun: whether the transaction has begun.

    Attributes:
        is_begun: whether the server has answered so far; before, there is nothing to commit.
    """

    place = "the server"
    writes_in_reading = True

    def __init__(
        self,
        connection: Connection,
        statements: Mapping[str, str],
        *,
        begin: Iterable[str] = (),
        is_begun: bool = False,
    ) -> None:
        """Ask nothing yet."""
        self._connection = connection
        self._statements = statements
        self._unsent = list(begin)
        self.is_begun = is_begun

    @cached_property
    def now(self) -> datetime:
        """The server's now."""
        return instant_of(self.rows("now")[0][0])

    def send(self, name: str, /) -> None:
        """Let a statement run before the next one; nobody waits for its answer."""
        if self.is_begun:
            self.run(name)
        else:
            self._unsent.append(self._statements[name])

    def rows(self, name: str, /, **parameters: Any) -> list[Sequence[Any]]:  # noqa: ANN401
        """Run a statement and return its rows."""
        return self._execute(self._statements[name], _bound(parameters)).fetchall()

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        """Run a statement and return how many rows it changed."""
        return self._execute(self._statements[name], _bound(parameters)).rowcount

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each of many rows, in one go."""
        text = self._statements[name]
        if "%(rows)s" in text:
            self._execute(text, {"rows": json_text(list(rows))})
            return
        self._begin()
        if text.startswith("COPY"):
            self._copy(text, rows)
            return
        with self._connection.cursor() as cursor:
            cursor.executemany(text, list(rows))

    def _copy(self, text: str, rows: Iterable[Mapping[str, Any]]) -> None:
        values = itemgetter(*_columns(text))
        with self._connection.cursor() as cursor, cursor.copy(text) as copy:
            for row in rows:
                copy.write_row(values(row))

    def script(self, text: str) -> None:
        """Run the statements of a migration."""
        self._begin()
        self._connection.execute(text)

    def _execute(self, text: str, parameters: dict[str, Any]) -> Cursor[Any]:
        if self.is_begun or not self._unsent:
            return self._connection.execute(text, parameters)
        with self._connection.pipeline():
            self._send_all()
            cursor = self._connection.execute(text, parameters)
        self.is_begun = True
        return cursor

    def _begin(self) -> None:
        if not self.is_begun:
            with self._connection.pipeline():
                self._send_all()
            self.is_begun = True

    def _send_all(self) -> None:
        for text in self._unsent:
            self._connection.execute(text, prepare=False)


@cache
def _columns(text: str) -> list[str]:
    """Return the columns that a COPY names."""
    return text.partition("(")[2].partition(")")[0].replace(",", " ").split()


def _bound(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for the driver: as JSON, but pairs as one array for each side.

    Of all ways to hand over many values these cost the driver least.
    """
    bound: dict[str, Any] = {}
    for name, value in parameters.items():
        if not isinstance(value, list | dict):
            bound[name] = value
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            bound[f"{name}_words"] = json_text([each[0] for each in value])
            bound[f"{name}_numbers"] = f"{{{','.join([str(each[1]) for each in value])}}}"
        else:
            bound[name] = json_text(value)
    return bound
