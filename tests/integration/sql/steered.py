"""SQL stores on a clock of the test, and a record of which statements did something.

A server's clock is read in one place only, the statement `now`, which other statements include as
`{now}`. `SteeredStatements` replaces exactly that text, in every statement, each time one is used.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from sempre.clock import Clock
from sempre.grids.instants import microseconds_of
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql

__all__ = ["Trace", "Traced", "open_steered", "steer"]

T = TypeVar("T")


class SteeredStatements(dict[str, str]):
    """The statements of a dialect, showing the time of a test's clock."""

    def __init__(self, statements: Mapping[str, str], clock: Clock) -> None:
        super().__init__(statements)
        self._clock = clock
        self._server_clock = statements["now"].removeprefix("SELECT ")

    def __getitem__(self, name: str) -> str:
        shown = f"CAST({microseconds_of(self._clock.now())} AS {self._type})"
        return super().__getitem__(name).replace(self._server_clock, shown)

    @property
    def _type(self) -> str:
        return "bigint" if "bigint" in self._server_clock else "SIGNED"


class Trace(NamedTuple):
    """What one transaction asked for, by names of statements, and which found or changed rows."""

    asked: set[str]
    found: set[str]


class Traced:
    """A dialect that keeps a trace of each transaction."""

    def __init__(self, dialect: Dialect) -> None:
        self.traces: list[Trace] = []
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the dialect has
        return getattr(self._dialect, name)

    def read(self, work: Callable[[Transaction], T]) -> T:
        return self._dialect.read(self._traced(work))

    def autocommit(self, work: Callable[[Transaction], T]) -> T:
        return self._dialect.autocommit(self._traced(work))

    def write(self, work: Callable[[Transaction], T]) -> T:
        return self._dialect.write(self._traced(work))

    def _traced(self, work: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
        def run(transaction: Transaction) -> T:
            trace = Trace(set(), set())
            answer = work(cast("Transaction", _TracedTransaction(transaction, trace)))
            self.traces.append(trace)
            return answer

        return run


class _TracedTransaction:
    def __init__(self, transaction: Transaction, trace: Trace) -> None:
        self._transaction = transaction
        self._trace = trace

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a transaction has
        return getattr(self._transaction, name)

    def rows(self, name: str, /, **parameters: Any) -> list[Any]:  # noqa: ANN401
        rows = self._transaction.rows(name, **parameters)
        # The last row of `start_slots` is a count.
        self._note(name, found=len(rows) > (name == "start_slots"))
        return rows

    def due_to_take(self, **parameters: Any) -> list[Any]:  # noqa: ANN401
        rows = self._transaction.due_to_take(**parameters)
        self._note("due_to_take", found=bool(rows))
        return rows

    def pushed_out(self, bounds: Any, **parameters: Any) -> list[Any]:  # noqa: ANN401
        rows = self._transaction.pushed_out(bounds, **parameters)
        self._note("pushed_out", found=bool(rows))
        return rows

    def run(self, name: str, /, **parameters: Any) -> int:  # noqa: ANN401
        changed = self._transaction.run(name, **parameters)
        self._note(name, found=changed > 0)
        return changed

    def many(self, name: str, /, rows: Iterable[Mapping[str, Any]]) -> None:
        given = list(rows)
        self._transaction.many(name, given)
        self._note(name, found=bool(given))

    def _note(self, name: str, *, found: bool) -> None:
        self._trace.asked.add(name)
        if found:
            self._trace.found.add(name)


def steer(dialect: Postgresql | Mariadb, clock: Clock) -> None:
    """Let a server's clock show what another clock does."""
    dialect.statements = SteeredStatements(dialect.statements, clock)


def open_steered(dialect: Dialect, clock: Clock) -> tuple[SqlStore, Traced]:
    """Return a store on a clock of the test, set up, and what keeps its traces."""
    if isinstance(dialect, Postgresql | Mariadb):
        steer(dialect, clock)
    traced = Traced(dialect)
    store = SqlStore(cast("Dialect", traced))
    store.upgrade()
    return store, traced
