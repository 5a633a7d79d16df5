"""A table of the user's own in each kind of database, and a pair over it."""

from dataclasses import dataclass
from typing import Any

from sempre import Sempre
from sempre.app.pairs.pair import Query
from sempre.domain.pair import Scan
from sempre.domain.states import Kind
from sempre.executors.current import Current, running
from sempre.ports.messages import ExecutionQuery
from tests.integration.transactions.places import Place

__all__ = ["BIG", "Derived", "derive", "fill", "index"]

BIG = 12_000
NUMBERS = {
    "sqlite": (
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers "
        "WHERE n < {rows}) SELECT n FROM numbers"
    ),
    "postgresql": "SELECT n FROM generate_series(1, {rows}) AS numbers (n)",
    "mariadb": "SELECT seq AS n FROM seq_1_to_{rows}",
}
# Only after this PostgreSQL knows how many rows there are; it does so by itself after a minute.
COUNT = {"postgresql": "ANALYZE wanted", "sqlite": "ANALYZE", "mariadb": "ANALYZE TABLE wanted"}


def kind_of(place: Place) -> str:
    return place.store.partition(":")[0]


def fill(place: Place, rows: int, width: int = 4) -> None:
    """Make the table; one row in a thousand is pending."""
    place.run("CREATE TABLE wanted (id INTEGER PRIMARY KEY, state VARCHAR(10), note TEXT)")
    numbers = NUMBERS[kind_of(place)].format(rows=rows)
    state = "CASE WHEN n % 1000 = 1 THEN 'pending' ELSE 'ready' END"
    note = "x" * width
    place.run(f"INSERT INTO wanted SELECT n, {state}, '{note}' FROM ({numbers}) AS made")  # noqa: S608
    place.run(COUNT[kind_of(place)])


def index(place: Place) -> None:
    """Add the index that the query needs."""
    place.run("CREATE INDEX wanted_by_state ON wanted (state)")
    place.run(COUNT[kind_of(place)])


@dataclass(frozen=True)
class Derived:
    """What a run of a pair said, and with which arguments work was put in."""

    scan: Scan
    args: list[Any]


def derive(place: Place, query: Query, **options: Any) -> Derived:  # noqa: ANN401 - handed on
    """Run a pair once, as a worker does."""
    app = Sempre(place.store)

    @app.job
    def create(id: int, state: str = "") -> None: ...  # noqa: A002 - as the column

    create.pair(every="1m", **options)(query)
    app.sync()  # as a worker does when it starts
    try:
        with running(Current(name="pair:create", job="pair:create")):
            scan = Scan.read(app.declarations.tasks["pair:create"].function())
        assert scan is not None
        asked = ExecutionQuery(kinds=frozenset({Kind.DERIVED}), limit=1000)
        rows = app.engine.store.executions(asked).value.items
        return Derived(scan, sorted((dict(row.snapshot.args) for row in rows), key=str))
    finally:
        app.close()
