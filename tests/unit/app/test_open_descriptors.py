"""Descriptors of a store or broker are found by where they lead, and no others."""

import socket
import sqlite3
from pathlib import Path

from sempre.app.process.open_descriptors import descriptors_of


def test_connections_to_a_server_are_found_by_its_port() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(("127.0.0.1", 0)) as other,
        socket.create_connection(server.getsockname()) as ours,
        socket.create_connection(other.getsockname()),
    ):
        port = server.getsockname()[1]

        assert descriptors_of(f"redis://127.0.0.1:{port}/0", "store://") == [ours.fileno()]


def test_files_of_a_store_are_found_and_files_of_the_user_are_not(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with sqlite3.connect(path) as connection, (tmp_path / "user.log").open("w") as log:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")

        found = descriptors_of(f"sqlite:///{path}")
        again = descriptors_of(f"sqlite:///{path}")

        assert len(found) == 3
        assert log.fileno() not in found
        assert again == found
    connection.close()


def test_a_url_that_cannot_be_read_has_none() -> None:
    assert descriptors_of("", "memory://", "redis://[", "sqlite:///nowhere/at/all.db") == []
