"""A watch by a server: notifications of other processes wake a waiting worker.

A worker process listens on a connection of its own. Wake-ups are sent through the connections of
the store, so a process that only enqueues needs no extra connection. While no connection listens,
`shared` is false, and the worker queries the store on its own schedule.
"""

import logging
from abc import ABC, abstractmethod
from contextlib import suppress
from secrets import token_hex
from threading import RLock
from typing import Generic, Protocol, TypeVar

from sempre.brokers.waker import Ending, Readable, Waker
from sempre.clock import Clock, SystemClock
from sempre.errors import SempreError
from sempre.forking import PerProcess

__all__ = ["Line", "LineLost", "Notifier", "ServerWatch"]

LONGEST_RETRY = 30.0
POOLER_RETRY = 300.0
_logger = logging.getLogger(__name__)


class LineLost(Exception):
    """A connection that listened is gone, or could not be made."""


class Line(Readable, Protocol):
    """A connection on which the server sends the notifications of other processes."""

    def words(self) -> list[str]:
        """Return the notifications so far, without waiting; LineLost if the connection is lost."""
        ...

    def close(self) -> None:
        """Close the connection; never raises."""
        ...


L = TypeVar("L", bound=Line)


class Notifier(Protocol):
    """Sends wake-ups through connections of the store, which has one."""

    def notify(self, word: str) -> None:
        """Send a word to every connection that listens, now.

        Raises:
            StoreError: the server cannot be reached, or refuses the notification.
        """
        ...

    def notify_within(self, connection: object, word: str) -> None:
        """Send a word to every connection that listens, when a caller's transaction commits."""
        ...


class _Session(Generic[L]):
    """The listening connection of one process, and the threads that wait for it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.waker = Waker()
        self.word = token_hex(8)
        self.line: L | None = None
        self.retry_at = 0.0
        self.failures = 0
        self.has_failed = False


class ServerWatch(ABC, Generic[L]):
    """The common part of the watches by PostgreSQL and by Redis.

    Args:
        server: the name of the server, for the log.
        notifier: sends the wake-ups.
        clock: by which waits end.
        retry_after: how many seconds to let pass before a lost connection is tried again; twice
            as many each time that fails.
    """

    def __init__(
        self, server: str, notifier: Notifier, *, clock: Clock | None, retry_after: float
    ) -> None:
        """Connect to nothing yet."""
        self._server = server
        self._notifier = notifier
        self._clock = clock or SystemClock()
        self._retry_after = retry_after
        self._process: PerProcess[_Session[L]] = PerProcess(_Session)
        self._closed = False

    @abstractmethod
    def _connect(self) -> L | None:
        """Return a line that listens; None if a pooler stands between, LineLost if none answers."""

    @property
    def shared(self) -> bool:
        """Whether a connection listens, as far as this process knows."""
        return self._process.get().line is not None

    def wait(self, seconds: float) -> bool:
        """Wait for a notification, a wake-up or a new connection, which may have missed some.

        While connecting, a few seconds at most, a wake-up has no effect.
        """
        session, until = self._process.get(), self._clock.elapsed() + seconds
        while True:
            line = self._listening(session)
            now = self._clock.elapsed()
            left = (until if line else min(until, max(now, session.retry_at))) - now
            try:
                ending = session.waker.wait(left, *filter(None, [line]))
            except (LineLost, OSError, ValueError):
                return True  # another thread has just lost the connection
            if ending is Ending.WOKEN or (ending is Ending.READABLE and self._has_wake_up(session)):
                return True
            if ending is Ending.TIME and self._clock.elapsed() >= until:
                return False

    def wake_all(self) -> None:
        """Notify every connection that listens, and wake every thread of this process."""
        session = self._process.get()
        try:
            self._notifier.notify(session.word)
            session.has_failed = False
        except SempreError as error:
            # The row is committed; a worker finds the row by its next query.
            if not session.has_failed:
                _logger.warning("idle workers were not notified of new work: %s", error)
            session.has_failed = True
        session.waker.wake()

    def wake_all_after_commit(self, connection: object) -> None:
        """Notify every connection that listens, when the transaction of this one commits."""
        # An empty word: the threads of this process learn of that commit in no other way.
        self._notifier.notify_within(connection, "")

    def wake(self) -> None:
        """End every wait of this process."""
        self._process.get().waker.wake()

    def rest(self) -> None:
        """Close the connection of this process; the next wait opens another one."""
        session = self._process.get()
        session.waker.wake()
        with session.lock:
            self._close(session)

    def close(self) -> None:
        """End every wait, and close the connection of this process."""
        self._closed = True
        self.rest()

    def _listening(self, session: _Session[L]) -> L | None:
        """Return the connection, opened now if it is time to try again; None if there is none."""
        with session.lock:
            is_due = self._clock.elapsed() >= session.retry_at
            if session.line is None and is_due and not self._closed:
                self._try_to_connect(session)
            return session.line

    def _try_to_connect(self, session: _Session[L]) -> None:
        try:
            session.line = self._connect()
        except LineLost as error:
            self._go_without(session, error)
            return
        if session.line is None:
            _logger.info(
                "a pooler stands before %s and passes no notification on; workers query it instead",
                self._server,
            )
            session.retry_at = self._clock.elapsed() + POOLER_RETRY
            return
        if session.failures:
            _logger.info("%s notifies this worker again", self._server)
        session.failures = 0
        session.waker.wake()

    def _has_wake_up(self, session: _Session[L]) -> bool:
        """Read the notifications; those of other processes wake every thread."""
        with session.lock:
            if session.line is None:
                return True
            try:
                words = session.line.words()
            except LineLost as error:
                self._close(session)
                self._go_without(session, error)
                # Every thread queries the store once: a notification may have been lost.
                session.waker.wake()
                return session.waker.is_woken()
        # The threads of this process were woken by its own notification already.
        if all(word == session.word for word in words):
            return False
        session.waker.wake()
        return session.waker.is_woken()

    def _close(self, session: _Session[L]) -> None:
        if session.line is not None:
            with suppress(OSError):
                session.line.close()
        session.line = None

    def _go_without(self, session: _Session[L], error: LineLost) -> None:
        if not session.failures:
            _logger.warning(
                "%s does not notify this worker, which queries it instead: %s", self._server, error
            )
        rest = min(LONGEST_RETRY, self._retry_after * 2**session.failures)
        session.failures = min(session.failures + 1, 16)
        session.retry_at = self._clock.elapsed() + rest
