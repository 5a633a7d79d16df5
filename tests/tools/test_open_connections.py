"""A test that leaves a connection open is found, and the report says where it was opened."""

import socket
from collections.abc import Iterator

import pytest
from psycopg_pool import ConnectionPool

from tests import open_connections
from tests.open_connections import OpenConnections


@pytest.fixture
def plugin() -> Iterator[OpenConnections]:
    made = OpenConnections()
    made.pytest_configure()
    yield made
    made.pytest_unconfigure()


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


def end_test(plugin: OpenConnections) -> None:
    for _ in plugin.pytest_runtest_teardown():
        pass


def test_a_connection_that_is_left_open_fails_its_test(
    plugin: OpenConnections, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_connections, "PATIENCE", 2 * open_connections.PAUSE)

    with (
        socket.create_connection(address),
        pytest.raises(pytest.fail.Exception, match="test_a_connection_that_is_left_open"),
    ):
        end_test(plugin)
    end_test(plugin)


def test_a_connection_that_is_closed_is_forgotten(
    plugin: OpenConnections, address: tuple[str, int]
) -> None:
    socket.create_connection(address).close()

    end_test(plugin)


def test_a_pool_that_is_left_open_fails_its_test(
    plugin: OpenConnections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_connections, "PATIENCE", 2 * open_connections.PAUSE)

    with (
        ConnectionPool("", min_size=0, max_size=1, open=True),
        pytest.raises(pytest.fail.Exception, match="a pool of PostgreSQL"),
    ):
        end_test(plugin)
    end_test(plugin)
