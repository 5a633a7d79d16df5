"""What the bare driver does at best with the same rows: no library can be faster on this machine.

One row for each job with a document of about 120 bytes, a primary key and an index on what is due;
a thousand rows an insert, five hundred a claim, one commit each, as durable as ours.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from time import perf_counter
from uuid import uuid4

import psycopg
import redis

from bench.measuring import Numbers, check_count
from bench.servers import Place

__all__ = ["PostgresqlLimit", "RedisLimit", "SqliteLimit"]

PUT, TAKEN = 1000, 500
BODY = json.dumps(
    {"job": "noop", "args": {}, "queue": "default", "priority": 1000, "note": 50 * "x"}
)


class PostgresqlLimit:
    """Insert by arrays, claim with skipped locks, complete: three statements."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def run(self, count: int) -> Numbers:
        with psycopg.connect(self._place.fresh_database(), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE runs (id uuid PRIMARY KEY, state smallint NOT NULL,"
                " due_at bigint NOT NULL, body jsonb NOT NULL)"
            )
            connection.execute("CREATE INDEX ON runs (due_at) WHERE state = 0")
            put = _rate(lambda: _put_postgresql(connection, count), count)
            drained = _rate(lambda: _drain_postgresql(connection), count)
        return {"enqueue": put, "drain": drained}


def _put_postgresql(connection: "psycopg.Connection[tuple[object, ...]]", count: int) -> int:
    for first in range(0, count, PUT):
        size = min(PUT, count - first)
        connection.execute(
            "INSERT INTO runs SELECT i::uuid, 0, 1, b::jsonb"
            " FROM unnest(%b::text[], %b::text[]) AS given (i, b)",
            ([str(uuid4()) for _ in range(size)], [BODY] * size),
        )
    return count


def _drain_postgresql(connection: "psycopg.Connection[tuple[object, ...]]") -> int:
    done = 0
    while True:
        rows = connection.execute(
            "UPDATE runs SET state = 1 WHERE id IN (SELECT id FROM runs WHERE state = 0"
            " AND due_at <= 2 ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED) RETURNING id, body",
            (TAKEN,),
        ).fetchall()
        if not rows:
            return done
        ids = [row[0] for row in rows]
        done += connection.execute("UPDATE runs SET state = 2 WHERE id = ANY(%b)", (ids,)).rowcount


class SqliteLimit:
    """Insert, claim and complete, each a commit that waits for the disk."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def run(self, count: int) -> Numbers:
        path = self._place.fresh_folder() / "bare.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(
                "CREATE TABLE runs (id TEXT PRIMARY KEY, state INTEGER, due_at INTEGER, body TEXT)"
            )
            connection.execute("CREATE INDEX runs_due ON runs (due_at) WHERE state = 0")
            put = _rate(lambda: _put_sqlite(connection, count), count)
            drained = _rate(lambda: _drain_sqlite(connection), count)
        return {"enqueue": put, "drain": drained}


def _put_sqlite(connection: sqlite3.Connection, count: int) -> int:
    for first in range(0, count, PUT):
        rows = [(str(uuid4()), BODY) for _ in range(min(PUT, count - first))]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO runs VALUES (?, 0, 1, ?)", rows)
        connection.execute("COMMIT")
    return count


def _drain_sqlite(connection: sqlite3.Connection) -> int:
    done = 0
    while True:
        rows = connection.execute(
            "UPDATE runs SET state = 1 WHERE id IN (SELECT id FROM runs WHERE state = 0"
            " AND due_at <= 2 ORDER BY due_at LIMIT ?) RETURNING id, body",
            (TAKEN,),
        ).fetchall()
        if not rows:
            return done
        connection.execute("BEGIN IMMEDIATE")
        ended = connection.executemany(
            "UPDATE runs SET state = 2 WHERE id = ?", [row[:1] for row in rows]
        )
        done += ended.rowcount
        connection.execute("COMMIT")


class RedisLimit:
    """A document and a place in a queue for each job, a claim and an end, all of it pipelined."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def run(self, count: int) -> Numbers:
        with redis.Redis.from_url(self._place.flushed_redis(), decode_responses=True) as client:
            put = _rate(lambda: _put_redis(client, count), count)
            drained = _rate(lambda: _drain_redis(client), count)
        return {"enqueue": put, "drain": drained}


def _put_redis(client: redis.Redis, count: int) -> int:
    for first in range(0, count, PUT):
        with client.pipeline(transaction=False) as pipeline:
            for _ in range(min(PUT, count - first)):
                name = str(uuid4())
                pipeline.hset(name, mapping={"state": 0, "body": BODY})
                pipeline.zadd("due", {name: 1})
            pipeline.execute()
    return count


def _drain_redis(client: redis.Redis) -> int:
    done = 0
    while names := [str(each[0]) for each in client.zpopmin("due", TAKEN)]:
        with client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.hset(name, "state", 1)
                pipeline.hget(name, "body")
            pipeline.execute()
            for name in names:
                pipeline.hset(name, "state", 2)
            done += len(pipeline.execute())
    return done


def _rate(work: Callable[[], int], count: int) -> float:
    begin = perf_counter()
    check_count(work(), count, "rows")
    return count / (perf_counter() - begin)
