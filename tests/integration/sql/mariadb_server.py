"""A MariaDB server of the tests' own: on a socket in a short folder, ended with the session."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pymysql  # type: ignore[import-untyped]
import pytest

from tools.guardian import Guarded
from tools.scratch import scratch_root
from tools.servers import environment, locate

__all__ = ["MariadbServer", "ask", "mariadb_server", "new_database", "running_mariadb"]

NUMBERS = count()
PATIENCE = 60.0
PAUSE = 0.05
# Nothing of the machine's own settings, little memory, and no waiting for the disk underneath.
OPTIONS = (
    "--skip-networking",
    "--skip-log-bin",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=32M",
    "--innodb-flush-method=nosync",
    "--innodb-use-native-aio=0",
)


class MariadbServer:
    """A server that can be killed and started again on the same files."""

    def __init__(self, folder: Path, options: Sequence[str]) -> None:
        self.folder = folder
        self.path = str(folder / "socket")
        user = pwd.getpwuid(os.geteuid()).pw_name
        # A server that starts removes what it takes for its own old files in the folder for
        # temporary ones, so two servers must not share it.
        folders = [f"--datadir={folder / 'data'}", f"--tmpdir={folder}"]
        self._place = [*folders, f"--user={user}"]
        self._options = [*OPTIONS, *options]
        self._running: Guarded | None = None

    def initialize(self) -> None:
        normal_login = "--auth-root-authentication-method=normal"
        without_aio = "--innodb-use-native-aio=0"  # of which a machine has not much
        done = subprocess.run(
            [
                str(locate("mariadb-install-db")),
                "--no-defaults",
                *self._place,
                normal_login,
                "--skip-test-db",
                without_aio,
            ],
            cwd="/",
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]

    def start(self) -> None:
        log = self.folder / "log"
        with log.open("ab") as output:
            self._running = Guarded(
                [
                    locate("mariadbd") or "mariadbd",
                    "--no-defaults",
                    *self._place,
                    f"--socket={self.path}",
                    *self._options,
                ],
                folder=self.folder,
                environment=environment(),
                output=output,
            )
        for _ in range(int(PATIENCE / PAUSE)):
            assert self._running.is_running, log.read_text()[-2000:]
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(self.path) == 0:
                    return
            Event().wait(PAUSE)
        pytest.fail("the server does not answer")

    def kill(self) -> None:
        """End it as the machine's loss of power would, as far as a process can."""
        assert self._running is not None
        self._running.kill()

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()


@contextmanager
def running_mariadb(*options: str) -> Iterator[MariadbServer]:
    """Run a server; skip where there is none."""
    if locate("mariadbd") is None or locate("mariadb-install-db") is None:
        pytest.skip("MariaDB is not installed; `make servers` installs it")
    folder = Path(
        tempfile.mkdtemp(prefix="sempre-", dir=scratch_root())
    )  # the path of a socket is short
    server = MariadbServer(folder, options)
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def mariadb_server(*options: str) -> Iterator[str]:
    """Run a server and yield the path of its socket; skip where there is none."""
    with running_mariadb(*options) as server:
        yield server.path


def new_database(server: str) -> str:
    """Return the address of an empty database."""
    name = f"jobs_{next(NUMBERS)}"
    ask(server, f"CREATE DATABASE {name}")
    return f"mariadb://root@localhost/{name}?unix_socket={server}"


def ask(server: str, text: str) -> Sequence[Sequence[Any]]:
    """Run a statement of the test's own."""
    with (
        pymysql.connect(unix_socket=server, user="root", autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(text)
        return list(cursor.fetchall())
