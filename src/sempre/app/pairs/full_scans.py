"""Full scans: the big tables that a pair's query reads as a whole, by the database's own plan.

A pair repeats its query for ever, so a missing index costs more each day. An empty answer proves
little: a plan is a guess, and not every database has one.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import count
from typing import Any

__all__ = ["full_scans"]

BIG = 10_000
_SCAN = re.compile(r"SCAN (?:TABLE )?(\w+)\b")
_NUMBERS = count()
_SIZES = """SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname || '.' || relname = ANY(%s) AND reltuples > %s"""


def full_scans(connection: Any, text: str, values: Sequence[object] = ()) -> list[str]:  # noqa: ANN401
    """Return the tables of more than 10,000 rows that a query reads as a whole; never raises.

    An EXPLAIN that PostgreSQL refuses does not break the transaction.

    Args:
        connection: of any driver, with any row factory.
        text: the query.
        values: of its parameters, as the driver takes them.
    """
    explain = _EXPLAINERS.get(type(connection).__module__.partition(".")[0])
    if explain is None:
        return []
    found: list[str] = []
    with suppress(Exception):
        found = sorted(set(explain(connection, text, tuple(values))))
    return found


def _of_sqlite(connection: Any, text: str, values: tuple[object, ...]) -> Iterator[str]:  # noqa: ANN401
    with closing(connection.cursor()) as cursor:
        cursor.row_factory = None
        # A kept connection learns of new indexes by a query, and caches a plan by its text.
        cursor.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        asked = f"EXPLAIN QUERY PLAN {text}\n-- {next(_NUMBERS)}"
        plan = cursor.execute(asked, values).fetchall()
        named = [found[1] for row in plan if (found := _SCAN.match(row[3]))]
        for table in named:
            # The name may be an alias or a view. The last rowid needs no count of the rows.
            with suppress(Exception):
                last = cursor.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()  # noqa: S608
                if (last[0] or 0) > BIG:
                    yield table


def _of_postgresql(connection: Any, text: str, values: tuple[object, ...]) -> Iterator[str]:  # noqa: ANN401
    rows = sys.modules["psycopg.rows"].tuple_row
    with connection.transaction(), connection.cursor(row_factory=rows) as cursor:
        explained = cursor.execute(f"EXPLAIN (VERBOSE, FORMAT JSON) {text}", values or None)
        [(plan,)] = explained.fetchall()
        nodes = [json.loads(plan)[0] if isinstance(plan, str) else plan[0]]
        scanned = set()
        while nodes:
            node = nodes.pop()
            nodes += [node["Plan"]] if "Plan" in node else node.get("Plans", [])
            if node.get("Node Type", "").endswith("Seq Scan"):
                scanned.add(f"{node['Schema']}.{node['Relation Name']}")
        yield from (row[0] for row in cursor.execute(_SIZES, [list(scanned), BIG]).fetchall())


def _of_mariadb(connection: Any, text: str, values: tuple[object, ...]) -> Iterator[str]:  # noqa: ANN401
    with closing(connection.cursor(sys.modules["pymysql.cursors"].Cursor)) as cursor:
        cursor.execute(f"EXPLAIN {text}", values or None)
        names = [column[0] for column in cursor.description]
        for row in cursor.fetchall():
            found = dict(zip(names, row, strict=True))
            if found["type"] == "ALL" and int(found["rows"] or 0) > BIG:
                yield found["table"]


_EXPLAINERS = {"sqlite3": _of_sqlite, "psycopg": _of_postgresql, "pymysql": _of_mariadb}
