"""What servers were asked to do: statements of PostgreSQL and MariaDB, commands of Redis."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import psycopg
import redis

__all__ = ["Work", "asked_mariadb", "asked_postgresql", "asked_redis", "work_done"]

ASKED = ("Com_select", "Com_insert", "Com_update", "Com_delete", "Com_replace")

TRANSACTION = r"^\s*(begin|start transaction|commit|rollback|savepoint|release|set|discard)\M"


@dataclass(frozen=True)
class Work:
    """What a database did so far; what only begins, sets up or ends a transaction is left out."""

    statements: int
    rows: int
    buffers: int

    def since(self, earlier: "Work") -> "Work":
        """Return what was done in between."""
        return Work(
            self.statements - earlier.statements,
            self.rows - earlier.rows,
            self.buffers - earlier.buffers,
        )


def work_done(url: str) -> Work:
    """Return what one database of a server did so far; needs pg_stat_statements loaded."""
    server, _, name = url.rpartition("/")
    # From another database, so that asking is not counted.
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("SET client_min_messages = 'warning'")
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        row = connection.execute(
            "SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(rows), 0)::bigint,"
            " coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint"
            " FROM pg_stat_statements"
            " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = %s) AND query !~* %s",
            (name, TRANSACTION),
        ).fetchone()
    return Work(*row) if row else Work(0, 0, 0)


def asked_postgresql(url: str) -> int:
    """Return how many statements a database was asked so far."""
    return work_done(url).statements


def asked_mariadb(url: str) -> int:
    """Return how many statements a MariaDB was asked so far, without those of transactions."""
    from pymysql import connect  # type: ignore[import-untyped]  # noqa: PLC0415 - only where used

    parts = urlsplit(url)
    with connect(host=parts.hostname, port=parts.port, user=parts.username) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SHOW GLOBAL STATUS WHERE Variable_name IN {ASKED}")
        return sum(int(value) for _, value in cursor.fetchall())


def asked_redis(url: str) -> int:
    """Return how many commands a Redis was sent so far."""
    with redis.Redis.from_url(url) as client:
        found = client.info("stats")
        return int(found["total_commands_processed"])
