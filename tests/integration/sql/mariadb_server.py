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

from tools.servers import environment, locate

__all__ = ["ask", "mariadb_server", "new_database"]

NUMBERS = count()
# Nothing of the machine's own settings, little memory, and no waiting for the disk underneath.
OPTIONS = (
    "--skip-networking",
    "--skip-log-bin",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=32M",
    "--innodb-flush-method=nosync",
    "--innodb-use-native-aio=0",
)


@contextmanager
def mariadb_server(*options: str) -> Iterator[str]:
    """Run a server and yield the path of its socket; skip where there is none."""
    server, install = locate("mariadbd"), locate("mariadb-install-db")
    if server is None or install is None:
        pytest.skip("MariaDB is not installed; `make servers` installs it")
    folder = Path(tempfile.mkdtemp(prefix="sempre-", dir="/tmp"))  # the path of a socket is short
    place = [f"--datadir={folder / 'data'}", f"--user={pwd.getpwuid(os.geteuid()).pw_name}"]
    normal_login = "--auth-root-authentication-method=normal"
    path = str(folder / "socket")
    try:
        without_aio = "--innodb-use-native-aio=0"  # of which a machine has not much
        _run(str(install), "--no-defaults", *place, normal_login, "--skip-test-db", without_aio)
        running = subprocess.Popen(
            [str(server), "--no-defaults", *place, f"--socket={path}", *OPTIONS, *options],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(path, running)
            yield path
        finally:
            running.kill()
            running.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _wait_for(path: str, running: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        assert running.poll() is None, "the server did not start"
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(path) == 0:
                return
        Event().wait(0.05)
    pytest.fail("the server does not answer")


def _run(*command: str) -> None:
    done = subprocess.run(
        command,
        cwd="/",
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
