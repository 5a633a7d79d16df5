"""A PostgreSQL server of the tests' own: on a socket in a short folder, ended with the session."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.servers import environment, locate

__all__ = ["postgresql_server"]


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Run a server and yield how to connect to it; skip where there is none."""
    initdb, control = locate("initdb"), locate("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL is not installed; `make servers` installs it")
    folder = Path(tempfile.mkdtemp(prefix="sempre-", dir="/tmp"))  # the path of a socket is short
    user = _unprivileged(folder)
    data, log = str(folder / "data"), str(folder / "log")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    try:
        _run(user, str(initdb), "--no-sync", "-A", "trust", "-U", "postgres", "-D", data)
        _run(user, str(control), "start", "-w", "-D", data, "-l", log, "-o", options)
        try:
            yield f"host={folder} user=postgres dbname=postgres"
        finally:
            _run(user, str(control), "stop", "-w", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> str | None:
    """Return whom the server has to run as, and give that user the folder; None is oneself."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return user


def _run(user: str | None, *command: str) -> None:
    # Without a terminal of ours: the server outlives this call and must not hold its output open.
    done = subprocess.run(
        command,
        user=user,
        cwd="/",
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, f"{command[0]} failed with {done.returncode}"
