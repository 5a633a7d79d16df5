"""A transaction of PostgreSQL: how statements are called.

BEGIN, and every statement without an answer, is sent together with the next statement: each answer
that a thread waits for costs a round trip, and hands the interpreter to another thread.
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
        connection: a connection, in a transaction or not.
        statements: the statements by name.
        begin: the statements that begin the transaction, if it has not begun; without any, each
            statement is a transaction by itself.
        is_begun: whether the transaction has begun.

    Attributes:
        is_begun: whether the server has answered; before that there is nothing to commit.
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
        """Send nothing yet."""
        self._connection = connection
        self._statements = statements
        self._unsent = list(begin)
        self.is_begun = is_begun

    @cached_property
    def now(self) -> datetime:
        """The server's now."""
        return instant_of(self.rows("now")[0][0])

    def send(self, name: str, /) -> None:
        """Send a statement together with the next one."""
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
        """Run a statement for many rows, in one round trip."""
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
    """Return parameters for the driver: lists as JSON, pairs as two arrays.

    Of all ways to pass many values these cost the driver least.
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
