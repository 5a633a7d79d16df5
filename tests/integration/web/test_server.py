"""The stand-alone dashboard: addresses, ports, users, and its command."""

import socket
from pathlib import Path

import httpx2
import pytest

from sempre import Sempre
from sempre.app.dashboards import ServerOptions, thread_of_dashboard
from sempre.errors import InvalidInput, Refused
from sempre.web.passwords import hash_password, is_password
from tests.unit.cli.commands import sempre


def test_a_dashboard_without_users_binds_loopback_only(app: Sempre) -> None:
    with pytest.raises(Refused, match="--users"):
        thread_of_dashboard(app, ServerOptions(host="0.0.0.0", port=0))  # noqa: S104 - refused


def test_a_taken_port_is_replaced_by_a_free_one(app: Sempre) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        thread = thread_of_dashboard(app, ServerOptions(port=port))
        try:
            assert not thread.url.endswith(f":{port}")
            assert httpx2.get(f"{thread.url}/schedules").status_code == 200
        finally:
            thread.stop()


def test_users_of_a_file_are_asked_for_their_password(app: Sempre, tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text(f"# people\nann operator {hash_password('right')}\n\n")
    thread = thread_of_dashboard(app, ServerOptions(users=users))
    try:
        assert httpx2.get(thread.url).status_code == 401
        answer = httpx2.get(f"{thread.url}/log", auth=("ann", "right"))
        assert "ann · operator" in answer.text
    finally:
        thread.stop()


def test_a_malformed_file_of_users_is_refused(app: Sempre, tmp_path: Path) -> None:
    users = tmp_path / "users"
    for text in ("", "ann admin\n", "ann king scrypt$1$a$b\n"):
        users.write_text(text)
        with pytest.raises(InvalidInput):
            thread_of_dashboard(app, ServerOptions(users=users))


def test_a_hash_is_printed_for_a_password() -> None:
    result = sempre("web", "hash", "--password", "right")

    assert is_password("right", result.stdout.strip())


def test_a_store_that_does_not_exist_is_not_served() -> None:
    result = sempre("web", "--store", "sqlite:///nowhere.db")

    assert result.exit_code == 3
    assert "does not exist" in result.stderr
