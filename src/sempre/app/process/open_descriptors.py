"""Open descriptors of this process that lead to the store or the broker.

An embedded worker may begin in a program that has used its store before. Drivers do not report
their descriptors: they are found by where they lead, to the file or to the port of the URL.
"""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = ["descriptors_of"]

_EVERY = Path("/dev/fd")
_LAST_STANDARD = 2
_BESIDE = ("", "-wal", "-shm", "-journal", "-bell")
_PORTS = {
    "mariadb": 3306,
    "mysql": 3306,
    "redis": 6379,
    "rediss": 6379,
    "beanstalkd": 11300,
    "postgresql": 5432,
    "postgres": 5432,
}


def descriptors_of(*urls: str) -> list[int]:
    """Return the open descriptors that lead to one of these URLs; never raises."""
    files, ports = set(), set()
    for url in urls:
        with suppress(ValueError):
            parts = urlsplit(url)
            files |= set(_files(parts))
            port = parts.port or _PORTS.get(parts.scheme)
            ports |= {port} if port else set()
    return [each for each in _open() if _file(each) in files or _port(each) in ports]


def _open() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir(_EVERY) if int(name) > _LAST_STANDARD]  # noqa: PTH208
    return []


def _files(parts: SplitResult) -> Iterator[tuple[int, int]]:
    """Return device and inode of each file of an SQLite store."""
    if parts.scheme == "sqlite":
        path = unquote(parts.path.removeprefix("/"))
        for suffix in _BESIDE:
            with suppress(OSError):
                found = os.stat(f"{path}{suffix}")  # noqa: PTH116 - as the driver opens it
                yield found.st_dev, found.st_ino


def _file(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _port(descriptor: int) -> int | None:
    """Return the port to which a socket is connected; None for anything else."""
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        with socket.socket(fileno=os.dup(descriptor)) as found:
            peer = found.getpeername()
    except OSError:
        return None
    return peer[1] if isinstance(peer, tuple) else None
