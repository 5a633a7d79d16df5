"""How somebody empties a store under its workers."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import redis

from tests.integration.sql.mariadb_server import ask

__all__ = ["WAYS", "back_up"]


def _delete_file(url: str) -> None:
    """Delete the file alone; what SQLite keeps beside it stays."""
    Path(url.removeprefix("sqlite:///")).unlink()


def _delete_files(url: str) -> None:
    path = Path(url.removeprefix("sqlite:///"))
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def _drop_schema(url: str) -> None:
    asked = parse_qs(urlsplit(url).query)
    plain = f"postgresql://postgres@/postgres?host={asked['host'][0]}"
    with psycopg.connect(plain, autocommit=True) as connection:
        while True:
            # It locks one table after another, in another order than the workers do.
            with suppress(psycopg.errors.DeadlockDetected):
                connection.execute(f'DROP SCHEMA "{asked["schema"][0]}" CASCADE')
                return


def _drop_tables(url: str) -> None:
    parts = urlsplit(url)
    server, database = parse_qs(parts.query)["unix_socket"][0], parts.path.strip("/")
    names = [f"`{database}`.`{name}`" for (name,) in ask(server, f"SHOW TABLES IN `{database}`")]
    ask(server, f"DROP TABLE {', '.join(names)}")


def _flush(url: str) -> None:
    with redis.Redis.from_url(url.partition("?")[0]) as client:
        client.flushdb()


def back_up(url: str) -> Path:
    """Return a copy of the file of a store, as it is now."""
    path = Path(url.removeprefix("sqlite:///"))
    copy = path.with_name("backup.db")
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    return copy


WAYS: dict[str, tuple[str, Callable[[str], None]]] = {
    "sqlite: the file is deleted": ("sqlite+store", _delete_file),
    "sqlite: the file and its log are deleted": ("sqlite+store", _delete_files),
    "postgresql: the schema is dropped": ("postgresql+store", _drop_schema),
    "mariadb: the tables are dropped": ("mariadb+store", _drop_tables),
    "redis: FLUSHDB": ("redis+store", _flush),
    "postgresql and beanstalkd: the schema is dropped": (
        "postgresql+beanstalkd",
        _drop_schema,
    ),
}
"""By a name: the pairing, and what is done to its store."""
