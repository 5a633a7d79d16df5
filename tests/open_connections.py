"""Every test closes the connections that it opens; a test that does not fails, with their origin.

A connection that is left to the garbage collector is reported in the middle of another test, and
only now and then: the collector may come to the driver first, which closes its socket. The threads
of a pool that is left open draw random numbers, which Hypothesis reports in another test.
"""

import socket
from collections.abc import Callable, Generator
from threading import Event
from traceback import StackSummary, walk_stack
from typing import Any
from weakref import ref

import pytest
from psycopg_pool import ConnectionPool

__all__ = ["OpenConnections"]

FRAMES = 25
# A thread that a test has ended may still be closing its own connection.
PATIENCE = 5.0
PAUSE = 0.01


class Origin:
    """A connection or a pool, and the frames that opened it, whose lines only a report reads."""

    def __init__(self, opened: object, name: str, is_open: Callable[[Any], bool]) -> None:
        self._known = ref(opened)
        self._name = name
        self._is_open = is_open
        self._frames = StackSummary.extract(walk_stack(None), limit=FRAMES, lookup_lines=False)

    def is_open(self) -> bool:
        opened = self._known()
        return opened is not None and self._is_open(opened)

    def __str__(self) -> str:
        frames = StackSummary.from_list(list(reversed(self._frames)))
        return f"left open: {self._name}, opened by\n{''.join(frames.format())}"


class OpenConnections:
    """A plugin that records which test has opened which connection.

    Connections that a fixture of a wider scope opens while it is set up are not counted.
    """

    def __init__(self) -> None:
        self._opened: list[Origin] = []
        self._is_shared = False
        self._connect = socket.socket.connect
        self._make_pool = ConnectionPool.__init__

    def pytest_configure(self) -> None:
        connect, make_pool = self._connect, self._make_pool

        def connect_recorded(opened: socket.socket, address: Any) -> None:  # noqa: ANN401
            connect(opened, address)
            self._record(opened, f"a connection to {address}", lambda each: each.fileno() != -1)

        def make_recorded(pool: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            make_pool(pool, *arguments, **options)
            self._record(pool, "a pool of PostgreSQL", lambda each: not each.closed)

        socket.socket.connect = connect_recorded  # type: ignore[assignment, method-assign]
        ConnectionPool.__init__ = make_recorded  # type: ignore[assignment, method-assign]

    def pytest_unconfigure(self) -> None:
        socket.socket.connect = self._connect  # type: ignore[method-assign]
        ConnectionPool.__init__ = self._make_pool  # type: ignore[method-assign]

    def _record(self, opened: object, name: str, is_open: Callable[[Any], bool]) -> None:
        if not self._is_shared:
            self._opened.append(Origin(opened, name, is_open))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        before, self._is_shared = self._is_shared, fixturedef.scope != "function"
        try:
            return (yield)
        finally:
            self._is_shared = before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None]:
        yield
        opened, self._opened = self._opened, []
        for _ in range(int(PATIENCE / PAUSE)):
            opened = [each for each in opened if each.is_open()]
            if not opened:
                return
            Event().wait(PAUSE)
        pytest.fail("\n".join(map(str, opened)), pytrace=False)
