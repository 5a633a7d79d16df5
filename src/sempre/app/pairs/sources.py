"""Sources of a pair: the answer of its query as a stream of items and of calls.

A query returns a list, a generator, a cursor or any other iterable; a select of SQLAlchemy, a
queryset of Django, or SQL text. The last three are read in batches, which bounds memory.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from typing import Any

from sempre.app.jobs import Call, Job
from sempre.app.pairs.full_scans import full_scans
from sempre.app.transactions.caller_connections import is_a
from sempre.errors import PolicyError

__all__ = ["Database", "Source", "call_of"]

Database = Any
"""A SQLAlchemy engine, or a function that returns a new connection of a database's driver."""


class Source:
    """Reads the items of one scan.

    Args:
        database: where SQL runs; see `Database`.
        own: returns a new connection to the store's database, where SQL runs by default.
        batch: how many items are read at a time.
    """

    def __init__(self, database: Database | None, own: Callable[[], Any], *, batch: int) -> None:
        """Open nothing yet."""
        self._database = database
        self._own = own
        self._batch = batch
        self.full_scans: list[str] = []

    def items(self, answer: object) -> Iterator[object]:
        """Yield the items of a query's answer, of whichever kind it is.

        Raises:
            PolicyError: the answer is of an unknown kind.
        """
        if isinstance(answer, str):
            return self._of_text(answer)
        if is_a(answer, "sqlalchemy.sql", "Executable"):
            return self._of_select(answer)
        if is_a(answer, "django.db.models", "QuerySet"):
            return self._of_queryset(answer)
        if isinstance(answer, Iterable) and not isinstance(answer, Mapping | bytes):
            return iter(answer)
        allowed = "an iterable, a select, a queryset or the text of an SQL query"
        raise PolicyError("pair", answer, allowed=allowed)

    def _of_text(self, text: str) -> Iterator[object]:
        if is_a(self._database, "sqlalchemy", "Engine"):
            yield from self._of_select(sys.modules["sqlalchemy"].text(text))
            return
        connect = self._own if self._database is None else self._database
        with closing(connect()) as connection:
            self.full_scans = full_scans(connection, text)
            yield from _streamed(connection, text, self._batch)

    def _of_select(self, select: Any) -> Iterator[object]:  # noqa: ANN401 - of a library not imported
        engine: Any = self._database
        if not is_a(engine, "sqlalchemy", "Engine"):
            allowed = "pair(database=engine) for a select of SQLAlchemy"
            raise PolicyError("database", engine, allowed=allowed)
        with engine.connect() as connection:
            with suppress(Exception):  # not every value can be written into the text
                text = str(select.compile(engine, compile_kwargs={"literal_binds": True}))
                self.full_scans = full_scans(connection.connection.dbapi_connection, text)
            streaming = connection.execution_options(yield_per=self._batch)
            with closing(streaming.execute(select)) as found:
                yield from found

    def _of_queryset(self, queryset: Any) -> Iterator[object]:  # noqa: ANN401 - as above
        database = sys.modules["django.db"]
        # Outside of requests Django does not replace a connection that the server has closed.
        database.close_old_connections()
        try:
            with suppress(Exception):  # such as that of an empty queryset
                connection = database.connections[queryset.db]
                connection.ensure_connection()
                text, values = queryset.query.sql_with_params()
                text = text.replace("%s", "?") if connection.vendor == "sqlite" else text
                self.full_scans = full_scans(connection.connection, text, values)
            yield from queryset.iterator(chunk_size=self._batch)
        finally:
            database.close_old_connections()


def call_of(job: Job[..., Any], item: object) -> Call[Any]:
    """Return an item as a call: a call, a mapping or a tuple of arguments, or the only argument.

    Raises:
        PolicyError: the item is a call of another job.
        ArgumentsError: the item does not fit the job's signature, or is not JSON.
    """
    if isinstance(item, Call):
        if item.job.name != job.name:
            raise PolicyError("pair", item.job.name, allowed=f"calls of {job.name}")
        return item
    if isinstance(item, Mapping):
        return job.called((), item)
    if isinstance(item, tuple) or is_a(item, "sqlalchemy", "Row"):
        return job.called(tuple(item), {})  # type: ignore[arg-type]  # which mypy takes for object
    if hasattr(item, "keys") and hasattr(item, "__getitem__"):  # such as sqlite3.Row
        return job.called((), {name: item[name] for name in item.keys()})  # noqa: SIM118
    return job.called((item,), {})


def _streamed(connection: Any, text: str, batch: int) -> Iterator[object]:  # noqa: ANN401
    """Yield the rows of a query; the server keeps those that are not fetched yet."""
    with ExitStack() as stack:
        module = type(connection).__module__.partition(".")[0]
        if module == "psycopg":
            # A server-side cursor needs a transaction, also with autocommit.
            stack.enter_context(connection.transaction())
            cursor = stack.enter_context(connection.cursor("sempre_pair"))
        elif module == "pymysql":
            cursor = stack.enter_context(closing(connection.cursor(_unbuffered(connection))))
        else:
            cursor = stack.enter_context(closing(connection.cursor()))
        cursor.execute(text)
        while rows := cursor.fetchmany(batch):
            yield from rows


def _unbuffered(connection: Any) -> Any:  # noqa: ANN401 - of a driver without types
    """Return the unbuffered class of cursor, with column names if the connection uses them."""
    cursors = sys.modules["pymysql.cursors"]
    named = issubclass(connection.cursorclass, cursors.DictCursorMixin)
    return cursors.SSDictCursor if named else cursors.SSCursor
