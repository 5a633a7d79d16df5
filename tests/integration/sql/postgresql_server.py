"""A PostgreSQL server of the tests' own: on a socket in a short folder, ended with the session."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest

from tools.guardian import Guarded
from tools.scratch import scratch_root
from tools.servers import environment, locate

__all__ = ["PostgresqlServer", "postgresql_server", "running_postgresql", "unprivileged"]

PATIENCE = 60.0
PAUSE = 0.02


class PostgresqlServer:
    """A server that can be killed and started again on the same files."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.user = unprivileged(folder)
        self.settings = settings
        self._running: Guarded | None = None

    @property
    def conninfo(self) -> str:
        port = f"port={self.settings['port']} " if "port" in self.settings else ""
        return f"host={self.folder} {port}user=postgres dbname=postgres"

    @property
    def socket(self) -> Path:
        return self.folder / f".s.PGSQL.{self.settings.get('port', '5432')}"

    def initialize(self) -> None:
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-D", str(self.data))

    def start(self) -> None:
        """Start it, also while processes of one that was killed are still about to end."""
        for _ in range(int(PATIENCE / PAUSE)):
            self._begin()
            if self._answers():
                return
            Event().wait(PAUSE)
        pytest.fail((self.folder / "log").read_text())

    def kill(self) -> None:
        """End it as the machine's loss of power would, as far as a process can."""
        assert self._running is not None
        self._running.kill(signal.SIGKILL)

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """Run a statement of the test's own."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *options: str) -> None:
        """Run a program that comes with the server, as the server's user."""
        found = locate(program)
        assert found is not None
        done = subprocess.run(
            [str(found), *options],
            user=self.user,
            cwd="/",
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]

    def _begin(self) -> None:
        given = {"listen_addresses": "", "unix_socket_directories": str(self.folder)}
        options = [f"--{name}={value}" for name, value in (given | self.settings).items()]
        with (self.folder / "log").open("ab") as log:
            self._running = Guarded(
                [locate("postgres") or "postgres", "-D", self.data, *options],
                folder=self.folder,
                user=self.user,
                environment=environment(),
                output=log,
                ends_by=signal.SIGQUIT,
            )

    def _answers(self) -> bool:
        """Wait until it answers, or has given up."""
        while self._running is not None and self._running.is_running:
            try:
                self.ask("SELECT 1")
            except psycopg.OperationalError:
                Event().wait(PAUSE)
            else:
                return True
        self.stop()
        return False


@contextmanager
def running_postgresql(**settings: str) -> Iterator[PostgresqlServer]:
    """Run a server with settings such as `wal_level="replica"`; skip where there is none."""
    if locate("initdb") is None or locate("postgres") is None:
        pytest.skip("PostgreSQL is not installed; `make servers` installs it")
    folder = Path(
        tempfile.mkdtemp(prefix="sempre-", dir=scratch_root())
    )  # the path of a socket is short
    server = PostgresqlServer(folder, settings)
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgresql_server(**settings: str) -> Iterator[str]:
    """Run a server and yield how to connect to it; skip where there is none."""
    with running_postgresql(**settings) as server:
        yield server.conninfo


def unprivileged(path: Path) -> str | None:
    """Return whom the server has to run as, and give that user a path; None is oneself."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(path, user)
    return user
