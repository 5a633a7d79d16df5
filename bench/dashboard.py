"""Times every page and API route of the dashboard on a large PostgreSQL store.

    python -m bench.dashboard                       # 100,000 schedules, 5 million executions
    python -m bench.dashboard --scale 0.1
    python -m bench.dashboard --schedules 10000 --executions 500000

Fills a private server by INSERT ... SELECT: a few schedules are declared by the library, and their
rows are copied under other names. Then asks for each route several times, through the ASGI
application, and prints the median and the slowest time, the number of queries of the store's port
and the number of SQL statements. `first` is the first request of a new process, which has nothing
in memory yet.
"""

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import psycopg
from starlette.testclient import TestClient

from bench.environments import CACHE
from bench.servers import Place
from sempre import Sempre

SCHEDULES, EXECUTIONS = 100_000, 5_000_000
JOBS, QUEUES, TEAMS = 20, 4, 5
ROUNDS = 5
BUDGET = 150.0
"""Milliseconds that a page may take."""
HOUR = 3_600_000_000
UTILITY = "^(begin|commit|rollback|set|reset|show|savepoint|release|deallocate)"


def declare(app: Sempre) -> None:
    """Declare one schedule for each job; all others are copies."""
    for number in range(JOBS):
        options = {"queue": f"queue{number % QUEUES}", "tags": [f"team{number % TEAMS}"]}

        @app.every("1h", name=f"job{number:02}", **options)  # type: ignore[arg-type]  # a dict
        def work() -> None: ...


class Filling:
    """Copies the rows of declared schedules until there are as many as were asked for."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._connection.execute("SET search_path = sempre")

    def fill(self, schedules: int, executions: int) -> None:
        """Insert schedules with their next rows, and then history; indexes come last."""
        indexes = self._drop_indexes()
        number = f"generate_series(1, {max(0, schedules // JOBS - 1)}) AS n"
        name = "s.name || '-' || lpad(n::text, 6, '0')"
        # Ids need only be unique here; those of copies begin as the id of their original does.
        copy_of = "left({}.id, 20) || lpad(to_hex(n), 12, '0') || right({}.id, 4)".format
        born = {"id": copy_of("s", "s"), "name": name, "live_name": name, "folded_name": name}
        self._copy("schedules", f"sempre_schedules AS s, {number}", born, "s")
        of = {"schedule_id": copy_of("s", "s")}
        owned = "JOIN sempre_schedules AS s ON s.id = e.schedule_id"
        self._copy("snapshots", f"sempre_snapshots AS e {owned}, {number}", of, "e")
        waiting = {**of, "id": copy_of("e", "e"), "name": name}
        self._copy("executions", f"sempre_executions AS e {owned}, {number}", waiting, "e")
        self._history(max(1, executions // schedules))
        for statement in indexes:
            self._run(statement)
        self._run("VACUUM ANALYZE")

    def _history(self, each: int) -> None:
        """Insert ended executions, one for each past hour of each schedule; one in 100 failed."""
        run_at = f"e.run_at - n * {HOUR}"
        has_failed = "hashtext(e.id || n) % 100 = 0"
        ended = f"{run_at} + 1500000"
        past = {
            "id": "left(e.id, 24) || lpad(to_hex(n), 4, '0') || right(md5(e.id), 12)",
            "state": f"CASE WHEN {has_failed} THEN 'failed' ELSE 'succeeded' END",
            "reason": f"CASE WHEN {has_failed} THEN 'ConnectionError: refused' ELSE '' END",
            "run_at": run_at,
            "due_at": run_at,
            "created_at": run_at,
            "first_started_at": f"{run_at} + 500000",
            "started_at": f"{run_at} + 500000",
            "finished_at": ended,
            "ended_at": ended,
            "attempt": "1",
            "failures": f"CASE WHEN {has_failed} THEN 1 ELSE 0 END",
            "fence": "nextval('sempre_fences')",
        }
        rows = f"sempre_executions AS e, generate_series(1, {each}) AS n"
        self._copy("executions", rows, past, "e")

    def _copy(self, table: str, rows: str, replaced: dict[str, str], source: str) -> None:
        found = self._connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
            [f"sempre_{table}"],
        ).fetchall()
        names = [name for (name,) in found]
        values = ", ".join(replaced.get(name, f"{source}.{name}") for name in names)
        into = f"INSERT INTO sempre_{table} ({', '.join(names)})"
        self._run(f"{into} SELECT {values} FROM {rows}")  # noqa: S608 - names of our own

    def _drop_indexes(self) -> list[str]:
        """Drop the indexes of executions but its key; return how to make them again."""
        found = self._connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'sempre_executions' "
            "AND indexname NOT LIKE '%_pkey'"
        ).fetchall()
        for name, _ in found:
            self._run(f"DROP INDEX {name}")
        return [definition for _, definition in found]

    def _run(self, statement: str) -> None:
        self._connection.execute(statement.encode())


class Statements:
    """Counts the SQL statements that a server has carried out."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    @property
    def count(self) -> int:
        """Statements since the server started, without those that begin and end transactions."""
        [(count,)] = self._connection.execute(
            "SELECT coalesce(sum(calls), 0)::bigint FROM public.pg_stat_statements "
            "WHERE query !~* %s AND query !~ 'pg_stat_statements'",
            [UTILITY],
        ).fetchall()
        return int(count)


def routes(connection: psycopg.Connection) -> Iterator[str]:
    """Yield what is asked for: every page and API route, with the filters that people use."""
    [(name, identity)] = connection.execute(
        "SELECT name, id FROM sempre.sempre_executions WHERE state = 'failed' LIMIT 1"
    ).fetchall()
    pages = (
        "",
        "/schedules",
        "/schedules?q=job07-0001",
        "/schedules?tag=team3",
        "/schedules?job=job07",
        "/schedules?state=failing",
        "/schedules?sort=next",
        f"/schedules/{name}",
        "/executions",
        "/executions?state=failed",
        "/executions?state=running",
        "/executions?job=job07",
        f"/executions?schedule={name}",
        "/executions?since=24h&state=failed",
        f"/executions/{identity}",
        "/workers",
        "/switches",
        "/log",
        "/settings",
    )
    yield from (page or "/" for page in pages)
    api = ("/status", *(each for each in pages if each not in ("", "/settings")))
    yield from (f"/api/v1{each}" for each in api)


def measure(url: str, rounds: int) -> None:
    """Print what each route costs."""
    with psycopg.connect(url, autocommit=True) as connection:
        statements = Statements(connection)
        print(f"{'route':<44} {'first':>9} {'median':>9} {'slowest':>9} {'statements':>11}")
        for route in routes(connection):
            with _client(url) as client:
                first, _ = _timed(client, route, statements)
                found = [_timed(client, route, statements) for _ in range(rounds)]
            times = [milliseconds for milliseconds, _ in found]
            median, slowest = statistics.median(times), max(times)
            mark = " <" if median > BUDGET else ""
            most = max(count for _, count in found)
            shown = f"{first:>6.0f} ms {median:>6.1f} ms {slowest:>6.1f} ms {most:>11}"
            print(f"{route[:44]:<44} {shown}{mark}", flush=True)


@contextmanager
def _client(url: str) -> Iterator[TestClient]:
    app = Sempre(url)
    try:
        # Without a cache of answers: every request reads the store, as far as it must.
        yield TestClient(app.dashboard(auth=lambda _request: ("admin", "ann")))
    finally:
        app.close()


def _timed(client: TestClient, route: str, statements: Statements) -> tuple[float, int]:
    before, began = statements.count, perf_counter()
    answer = client.get(route)
    milliseconds = (perf_counter() - began) * 1000
    if answer.status_code != 200:  # noqa: PLR2004 - as HTTP says
        raise SystemExit(f"{route} answers {answer.status_code}: {answer.text[:500]}")
    return milliseconds, statements.count - before


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the dashboard on a large store.")
    parser.add_argument("--schedules", type=int, default=SCHEDULES)
    parser.add_argument("--executions", type=int, default=EXECUTIONS)
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of both")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--database", default="", help="the URL of a database that is filled")
    given = parser.parse_args()
    if given.database:
        measure(given.database, given.rounds)
        return
    schedules, executions = int(given.schedules * given.scale), int(given.executions * given.scale)
    with Place(CACHE / "data") as place:
        url = place.fresh_database()
        app = Sempre(url)
        declare(app)
        app.sync()
        app.close()
        began = perf_counter()
        with psycopg.connect(url, autocommit=True) as connection:
            Filling(connection).fill(schedules, executions)
        took = perf_counter() - began
        print(f"{schedules:,} schedules and {executions:,} executions, filled in {took:.0f} s")
        measure(url, given.rounds)


if __name__ == "__main__":
    main()
