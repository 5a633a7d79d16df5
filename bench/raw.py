"""What the bare driver does at best with the rows of bench/stores.py, in plain tables.

One statement for the whole batch where the server has one, one commit per batch, as durable as
ours.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import psycopg

__all__ = ["Raw", "RawPostgresql", "RawSqlite", "new_id"]

SCHEMA = """
CREATE TABLE runs (id TEXT PRIMARY KEY, schedule TEXT, state TEXT, due BIGINT, body TEXT);
CREATE INDEX runs_due ON runs (due) WHERE state = 'waiting';
CREATE TABLE plans (id TEXT PRIMARY KEY, cursor_at BIGINT, starts BIGINT, next_at BIGINT);
CREATE TABLE tries (id TEXT, fence BIGINT, finished BIGINT)
"""
BODY = '{"job":"work","args":{},"queue":"default","priority":1000,"retry":[0,10,600]}'


def new_id() -> str:
    return str(uuid4())


class Raw(Protocol):
    """The same writes by the driver alone, on plain tables."""

    def insert(self, count: int) -> int: ...
    def take_and_finish(self, batch: int) -> int: ...
    def claim_and_finish(self, batch: int) -> int: ...


class RawSqlite:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        for statement in SCHEMA.split(";"):
            self._connection.execute(statement)

    @contextmanager
    def _commit(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        yield self._connection
        self._connection.execute("COMMIT")

    def insert(self, count: int) -> int:
        for start in range(0, count, 1000):
            rows = [(new_id(), new_id(), 1, BODY) for _ in range(min(1000, count - start))]
            with self._commit() as sql:
                sql.executemany("INSERT INTO runs VALUES (?, ?, 'waiting', ?, ?)", rows)
                plans = [(row[1], 0, 0, 1) for row in rows]
                sql.executemany("INSERT INTO plans VALUES (?, ?, ?, ?)", plans)
        return count

    def take_and_finish(self, batch: int) -> int:
        with self._commit() as sql:
            ids = sql.execute(
                "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
                " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT ?) RETURNING id",
                (batch,),
            ).fetchall()
        self._finish(ids)
        return len(ids)

    def claim_and_finish(self, batch: int) -> int:
        with self._commit() as sql:
            rows = sql.execute(
                "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
                " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT ?)"
                " RETURNING id, schedule",
                (batch,),
            ).fetchall()
            moved = [(row[1],) for row in rows]
            sql.executemany(
                "UPDATE plans SET cursor_at = 1, starts = starts + 1 WHERE id = ?", moved
            )
            following = [(new_id(), row[1], 9, BODY) for row in rows]
            sql.executemany("INSERT INTO runs VALUES (?, ?, 'waiting', ?, ?)", following)
        self._finish([row[:1] for row in rows])
        return len(rows)

    def _finish(self, ids: Sequence[tuple[str]]) -> None:
        with self._commit() as sql:
            sql.executemany("UPDATE runs SET state = 'done' WHERE id = ?", ids)
            sql.executemany("INSERT INTO tries VALUES (?, 1, 1)", ids)


class RawPostgresql:
    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)
        with self._connection.transaction():
            for statement in SCHEMA.split(";"):
                self._connection.execute(statement.encode())

    def insert(self, count: int) -> int:
        for start in range(0, count, 1000):
            size = min(1000, count - start)
            ids, plans = [new_id() for _ in range(size)], [new_id() for _ in range(size)]
            with self._connection.transaction():
                self._connection.execute(
                    "INSERT INTO runs SELECT i, p, 'waiting', 1, %s"
                    " FROM unnest(%s::text[], %s::text[]) AS x (i, p)",
                    (BODY, ids, plans),
                )
                self._connection.execute(
                    "INSERT INTO plans SELECT p, 0, 0, 1 FROM unnest(%s::text[]) AS p", (plans,)
                )
        return count

    def take_and_finish(self, batch: int) -> int:
        ids = [row[0] for row in self._claim(batch)]
        self._connection.commit()
        self._finish(ids)
        return len(ids)

    def claim_and_finish(self, batch: int) -> int:
        rows = self._claim(batch)
        plans = [row[1] for row in rows]
        self._connection.execute(
            "UPDATE plans SET cursor_at = 1, starts = starts + 1 WHERE id = ANY(%s)", (plans,)
        )
        self._connection.execute(
            "INSERT INTO runs SELECT i, p, 'waiting', 9, %s"
            " FROM unnest(%s::text[], %s::text[]) AS x (i, p)",
            (BODY, [new_id() for _ in rows], plans),
        )
        self._connection.commit()
        self._finish([row[0] for row in rows])
        return len(rows)

    def _claim(self, batch: int) -> list[Any]:
        return self._connection.execute(
            "UPDATE runs SET state = 'running' WHERE id IN (SELECT id FROM runs"
            " WHERE state = 'waiting' AND due <= 2 ORDER BY due LIMIT %s FOR UPDATE SKIP LOCKED)"
            " RETURNING id, schedule",
            (batch,),
        ).fetchall()

    def _finish(self, ids: list[str]) -> None:
        self._connection.execute("UPDATE runs SET state = 'done' WHERE id = ANY(%s)", (ids,))
        self._connection.execute(
            "INSERT INTO tries SELECT i, 1, 1 FROM unnest(%s::text[]) i", (ids,)
        )
        self._connection.commit()
