"""Every test closes the connections that it opens; a test that does not fails, with their origin.

A connection that is left to the garbage collector is reported in the middle of another test, and
only now and then: the collector may come to the driver first, which closes its socket.
"""

import socket
from collections.abc import Generator
from threading import Event
from traceback import StackSummary, walk_stack
from typing import Any
from weakref import ref

import pytest

__all__ = ["OpenConnections"]

FRAMES = 25
# A thread that a test has ended may still be closing its own connection.
PATIENCE = 5.0
PAUSE = 0.01


class Origin:
    """A connection, and the frames that opened it; their lines are read only for a report."""

    def __init__(self, opened: socket.socket, address: object) -> None:
        self._known = ref(opened)
        self._address = address
        self._frames = StackSummary.extract(walk_stack(None), limit=FRAMES, lookup_lines=False)

    def is_open(self) -> bool:
        opened = self._known()
        return opened is not None and opened.fileno() != -1

    def __str__(self) -> str:
        frames = StackSummary.from_list(list(reversed(self._frames)))
        return f"left open: a connection to {self._address}, opened by\n{''.join(frames.format())}"


class OpenConnections:
    """A plugin that records which test has opened which connection.

    Connections that a fixture of a wider scope opens while it is set up are not counted.
    """

    def __init__(self) -> None:
        self._opened: list[Origin] = []
        self._is_shared = False
        self._connect = socket.socket.connect

    def pytest_configure(self) -> None:
        connect = self._connect

        def recorded(opened: socket.socket, address: Any) -> None:  # noqa: ANN401
            connect(opened, address)
            if not self._is_shared:
                self._opened.append(Origin(opened, address))

        socket.socket.connect = recorded  # type: ignore[assignment, method-assign]

    def pytest_unconfigure(self) -> None:
        socket.socket.connect = self._connect  # type: ignore[method-assign]

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
