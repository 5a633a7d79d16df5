"""Explaining: which big tables a pair's query reads as a whole, by the database's own plan.

A pair asks the same question again and again, so a missing index costs more each day. That nothing
is found means little: a plan is a guess, and not every database has one.
"""

import json
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

__all__ = ["full_scans"]

BIG = 10_000
_SCAN = re.compile(r"SCAN (?:TABLE )?(\w+)\b")


def full_scans(connection: Any, text: str) -> list[str]:  # noqa: ANN401 - of any driver
    """Return the tables of more than 10,000 rows that a query reads as a whole; never raises.

    A transaction of PostgreSQL is not left broken by a question that it refuses.
    """
    explain = _EXPLAINERS.get(type(connection).__module__.partition(".")[0])
    if explain is None:
        return []
    found: list[str] = []
    with suppress(Exception):
        found = sorted(set(explain(connection, text)))
    return found


def _of_sqlite(connection: Any, text: str) -> Iterator[str]:  # noqa: ANN401
    with closing(connection.cursor()) as cursor:
        plan = cursor.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
        named = [found[1] for row in plan if (found := _SCAN.match(tuple(row)[3]))]
        for table in named:
            # What is named may be an alias or a view. The last row is told without counting them.
            with suppress(Exception):
                last = cursor.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()  # noqa: S608
                if (next(iter(last)) or 0) > BIG:
                    yield table


def _of_postgresql(connection: Any, text: str) -> Iterator[str]:  # noqa: ANN401
    with connection.transaction(), connection.cursor() as cursor:
        [(plan,)] = cursor.execute(f"EXPLAIN (FORMAT JSON) {text}").fetchall()
        nodes = [json.loads(plan)[0] if isinstance(plan, str) else plan[0]]
        scanned = set()
        while nodes:
            node = nodes.pop()
            nodes += [node["Plan"]] if "Plan" in node else node.get("Plans", [])
            if node.get("Node Type", "").endswith("Seq Scan"):
                scanned.add(node["Relation Name"])
        sizes = "SELECT relname FROM pg_class WHERE relname = ANY(%s) AND reltuples > %s"
        yield from (row[0] for row in cursor.execute(sizes, [list(scanned), BIG]).fetchall())


def _of_mariadb(connection: Any, text: str) -> Iterator[str]:  # noqa: ANN401
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"EXPLAIN {text}")
        names = [column[0] for column in cursor.description]
        for row in cursor.fetchall():
            found = dict(zip(names, row, strict=True))
            if found["type"] == "ALL" and int(found["rows"] or 0) > BIG:
                yield found["table"]


_EXPLAINERS = {"sqlite3": _of_sqlite, "psycopg": _of_postgresql, "pymysql": _of_mariadb}
