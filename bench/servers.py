"""Private servers for measurements: on loopback, on a real disk, as durable as when installed.

Unlike those of the tests they never live in memory, and they are reached as most programs reach
theirs, by TCP. Each contestant begins with an empty one: a new database, a flushed Redis, a
Beanstalkd started anew.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from threading import Event
from time import perf_counter
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import psycopg
import pymysql  # type: ignore[import-untyped]
import redis

from bench.measuring import Failed
from tools.guardian import Guarded
from tools.servers import environment, locate

__all__ = ["Place"]

PATIENCE = 60.0
PAUSE = 0.02
NUMBERS = count(1)


class Place:
    """Where a comparison runs: its folder, and servers that start when they are first asked for."""

    def __init__(self, data: Path) -> None:
        """Keep everything in a folder of its own below `data`, which must be on a disk."""
        self._data = data.resolve()
        self._ends = ExitStack()
        self._urls: dict[str, str] = {}
        self.folder = Path()

    def __enter__(self) -> Self:
        self._data.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._data))
        self.folder.chmod(0o755)
        self._ends.callback(shutil.rmtree, self.folder, ignore_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()

    def fresh_folder(self) -> Path:
        """Return an empty folder."""
        return Path(tempfile.mkdtemp(prefix="files-", dir=self.folder))

    def fresh_database(self, *, keep: bool = False) -> str:
        """Return the URL of an empty PostgreSQL database; those not to be kept are dropped."""
        server = self.server("postgresql")
        name = f"{'kept' if keep else 'bench'}_{next(NUMBERS)}"
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            listed = "SELECT datname FROM pg_database WHERE datname LIKE 'bench_%'"
            for (old,) in connection.execute(listed).fetchall():
                connection.execute(f"DROP DATABASE {old} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {name}".encode())
            # What the last contestant left behind is not for this one to write out.
            connection.execute("CHECKPOINT")
        return f"{server}/{name}"

    def flushed_redis(self) -> str:
        """Return the URL of an empty Redis."""
        url = self.server("redis")
        with redis.Redis.from_url(url) as client:
            client.flushall()
        return url

    def fresh_mariadb(self) -> str:
        """Return the URL of an empty MariaDB database."""
        url, name = self.server("mariadb"), f"bench_{next(NUMBERS)}"
        host = urlsplit(url)
        with pymysql.connect(host=host.hostname, port=host.port, user="root") as connection:
            connection.query(f"CREATE DATABASE {name}")
        return f"{url}/{name}"

    def fresh_beanstalkd(self) -> str:
        """Return the address of a Beanstalkd that holds nothing yet."""
        return self._ends.enter_context(_beanstalkd(self.fresh_folder()))

    def server(self, name: str) -> str:
        """Return how to reach a server that is started when it is first asked for."""
        if name not in self._urls:
            begin = {"postgresql": _postgresql, "mariadb": _mariadb, "redis": _redis}[name]
            self._urls[name] = self._ends.enter_context(begin(self.fresh_folder()))
        return self._urls[name]


@contextmanager
def _postgresql(folder: Path) -> Iterator[str]:
    user = _unprivileged(folder)
    data, port = folder / "data", _free_port()
    _run("initdb", "-A", "trust", "-U", "postgres", "-D", str(data), user=user)
    options = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": "",
        # To count statements and what they read; it costs every contestant the same.
        "shared_preload_libraries": "pg_stat_statements",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    command = [_found("postgres"), "-D", str(data), *flags]
    url = f"postgresql://postgres@127.0.0.1:{port}"
    with _serving(command, folder, lambda: _answers_postgresql(url), user=user):
        yield url


def _answers_postgresql(url: str) -> bool:
    try:
        psycopg.connect(f"{url}/postgres").close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def _mariadb(folder: Path) -> Iterator[str]:
    user = pwd.getpwuid(os.geteuid()).pw_name
    data, port = folder / "data", _free_port()
    place = [f"--datadir={data}", f"--tmpdir={folder}", f"--user={user}"]
    login = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    _run("mariadb-install-db", "--no-defaults", *place, *login, user=None)
    network = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={folder / 'socket'}"]
    command = [_found("mariadbd"), "--no-defaults", *place, *network]
    with _serving(command, folder, lambda: _listens(port)):
        yield f"mariadb://root@127.0.0.1:{port}"


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    port = _free_port()
    given = {"port": str(port), "bind": "127.0.0.1", "dir": str(folder), "save": ""}
    # Our store asks for a log that is written each second, Redis' own middle way.
    given |= {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
    flags = [word for name, value in given.items() for word in (f"--{name}", value)]
    with _serving([_found("redis-server"), *flags], folder, lambda: _listens(port)):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def _beanstalkd(folder: Path) -> Iterator[str]:
    port = _free_port()
    command = [_found("beanstalkd"), "-l", "127.0.0.1", "-p", str(port)]
    with _serving(command, folder, lambda: _listens(port)):
        yield f"beanstalkd://127.0.0.1:{port}"


@contextmanager
def _serving(
    command: list[str], folder: Path, answers: Callable[[], bool], *, user: str | None = None
) -> Iterator[None]:
    ends_by = signal.SIGQUIT if user or "postgres" in command[0] else signal.SIGKILL
    with (folder / "log").open("ab") as log:
        running = Guarded(
            command,
            folder=folder,
            user=user,
            environment=environment(),
            output=log,
            ends_by=ends_by,
        )
    try:
        until = perf_counter() + PATIENCE
        while not answers():
            if not running.is_running or perf_counter() > until:
                raise Failed(f"{command[0]} does not start: {(folder / 'log').read_text()[-500:]}")
            Event().wait(PAUSE)
        yield
    finally:
        running.stop()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _found(program: str) -> str:
    path = locate(program)
    if path is None:
        raise Failed(f"{program} is not installed; run make servers")
    return str(path)


def _run(program: str, *options: str, user: str | None) -> None:
    done = subprocess.run(
        [_found(program), *options],
        user=user,
        cwd="/",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Failed(f"{program} failed: {done.stderr[-500:]}")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _unprivileged(folder: Path) -> str | None:
    """Return whom PostgreSQL has to run as, and give that user the folder; None is oneself."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return user
