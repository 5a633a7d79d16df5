"""How a store comes to answer reads and refuse writes under running workers, and heals again."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from sempre import Sempre
from tests.integration.fleet.pairings import Pairing, pairing_on
from tests.integration.sql.mariadb_server import ask

__all__ = ["READ_ONLY", "WITHOUT_RIGHTS", "Way", "unwritable"]

Harm = Callable[[str], None]
USER = "worker"


@dataclass(frozen=True)
class Way:
    """One way to refuse writes.

    Attributes:
        pairing: the store and the broker.
        harm: given the administrator's URL of the store, makes the store refuse writes.
        heal: lets the store take writes again.
        place: prepares the folder of the store, where a folder is what becomes full.
    """

    pairing: str
    harm: Harm
    heal: Harm
    place: Callable[[Path], AbstractContextManager[Path]] | None = None


@contextmanager
def unwritable(way: Way, folder: Path) -> Iterator[tuple[Pairing, str]]:
    """Start the servers of a way; yield them and the URL of a user who is no administrator."""
    place = way.place or _same
    with place(folder) as chosen, pairing_on(way.pairing, chosen) as pairing:
        app = Sempre(pairing.store)
        app.engine.store.close()
        yield pairing, _USERS[way.pairing.partition("+")[0]](pairing.store)


@contextmanager
def _same(folder: Path) -> Iterator[Path]:
    yield folder


# SQLite


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of four mebibytes, where this process may."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this process may not mount a file system; run the tests as root")
    try:
        yield disk
    finally:
        # Lazily: a process of the fleet that is about to end may hold a file.
        subprocess.run(["umount", "-l", str(disk)], check=True)  # noqa: S607 - in the same place


def _ballast(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///")).parent / "ballast"


def _fill_disk(url: str) -> None:
    with _ballast(url).open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"\0" * 512)
        except OSError:
            return


def _free_disk(url: str) -> None:
    _ballast(url).unlink()


# PostgreSQL


def _as_superuser(url: str, *statements: str) -> None:
    folder = parse_qs(urlsplit(url).query)["host"][0]
    with psycopg.connect(
        f"postgresql://postgres@/postgres?host={folder}", autocommit=True
    ) as connection:
        for statement in statements:
            connection.execute(statement)


def _schema(url: str) -> str:
    return parse_qs(urlsplit(url).query)["schema"][0]


def _postgresql_user(url: str) -> str:
    _as_superuser(
        url,
        f"CREATE ROLE {USER} LOGIN",
        f"GRANT CREATE ON DATABASE postgres TO {USER}",
        f'GRANT ALL ON SCHEMA "{_schema(url)}" TO {USER}',
    )
    _grant_postgresql(url)
    return url.replace("postgres@", f"{USER}@")


def _grant_postgresql(url: str) -> None:
    for kind in ("TABLES", "SEQUENCES"):
        _as_superuser(url, f'GRANT ALL ON ALL {kind} IN SCHEMA "{_schema(url)}" TO {USER}')


def _revoke_postgresql(url: str) -> None:
    tables = f'ON ALL TABLES IN SCHEMA "{_schema(url)}"'
    _as_superuser(url, f"REVOKE INSERT, UPDATE, DELETE {tables} FROM {USER}")


# MariaDB


def _socket_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["unix_socket"][0]


def _mariadb_user(url: str) -> str:
    ask(_socket_of(url), f"CREATE USER {USER}@localhost")
    _grant_mariadb(url)
    return url.replace("root@", f"{USER}@")


def _grant_mariadb(url: str) -> None:
    database = urlsplit(url).path.strip("/")
    ask(_socket_of(url), f"GRANT ALL ON `{database}`.* TO {USER}@localhost")


def _revoke_mariadb(url: str) -> None:
    """Withdraw the rights; a connection keeps those it began with, so end every connection."""
    server, database = _socket_of(url), urlsplit(url).path.strip("/")
    ask(server, f"REVOKE INSERT, UPDATE, DELETE ON `{database}`.* FROM {USER}@localhost")
    ask(server, f"KILL USER {USER}@localhost")


def _set_global(word: str) -> Harm:
    return lambda url: (ask(_socket_of(url), f"SET GLOBAL {word}"), None)[1]


# Redis


def _redis_user(url: str) -> str:
    _tell_redis(url, "ACL", "SETUSER", USER, "on", ">secret", "~*", "&*", "+@all")
    return url.replace("redis://", f"redis://{USER}:secret@")


def _tell_redis(url: str, *command: str) -> None:
    with redis.Redis.from_url(url.partition("?")[0]) as client:
        client.execute_command(*command)


def _redis_by(*command: str) -> Harm:
    return lambda url: _tell_redis(url, *command)


_USERS: dict[str, Callable[[str], str]] = {
    "sqlite": str,
    "postgresql": _postgresql_user,
    "mariadb": _mariadb_user,
    "redis": _redis_user,
}

READ_ONLY = {
    "sqlite: the disk is full": Way("sqlite+store", _fill_disk, _free_disk, _small_disk),
    "mariadb: the server is read-only": Way(
        "mariadb+store", _set_global("read_only = 1"), _set_global("read_only = 0")
    ),
    "redis: the memory is used up": Way(
        "redis+store",
        _redis_by("CONFIG", "SET", "maxmemory", "1"),
        _redis_by("CONFIG", "SET", "maxmemory", "0"),
    ),
}
"""By a name: the store takes no writes from anybody.

Not PostgreSQL: the store's connections write whatever `default_transaction_read_only` says.
"""

WITHOUT_RIGHTS = {
    "postgresql: REVOKE": Way("postgresql+store", _revoke_postgresql, _grant_postgresql),
    "mariadb: REVOKE": Way("mariadb+store", _revoke_mariadb, _grant_mariadb),
    "redis: ACL": Way(
        "redis+store",
        _redis_by("ACL", "SETUSER", USER, "-@write"),
        _redis_by("ACL", "SETUSER", USER, "+@all"),
    ),
}
"""By a name: the store takes no writes from the user of the workers."""
