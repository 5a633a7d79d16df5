"""A watch by a server: a worker that waits is woken by what other processes do with the store.

A worker process listens on a connection of its own. Wake-ups are sent through the store's own
connections, so that a process which only enqueues has no connection more. While no connection
listens, `shared` is false, and the worker queries the store by itself.
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
    """A connection on which the server says what other processes have told."""

    def words(self) -> list[str]:
        """Return what has come, without waiting; LineLost if the connection is gone."""
        ...

    def close(self) -> None:
        """Hang up; it never raises."""
        ...


L = TypeVar("L", bound=Line)


class Notifier(Protocol):
    """Sends wake-ups through connections of the store, which has one."""

    def notify(self, word: str) -> None:
        """Send a word to every connection that listens, now.

        Raises:
            StoreError: the server cannot be reached, or does not allow it.
        """
        ...

    def notify_within(self, connection: object, word: str) -> None:
        """Send a word to every connection that listens, when a caller's transaction commits."""
        ...


class _Session(Generic[L]):
    """The connection of one process, and the threads that wait for it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.waker = Waker()
        self.word = token_hex(8)
        self.line: L | None = None
        self.retry_at = 0.0
        self.failures = 0
        self.is_mute = False


class ServerWatch(ABC, Generic[L]):
    """What the watches by PostgreSQL and by Redis have in common.

    Args:
        server: its name, for what is logged.
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
        """Wait until told or woken, or until there is a new connection: it may have missed some.

        A wake is not heard while connecting, which takes a few seconds at most.
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
            if ending is Ending.WOKEN or (ending is Ending.READABLE and self._is_told(session)):
                return True
            if ending is Ending.TIME and self._clock.elapsed() >= until:
                return False

    def tell(self) -> None:
        """Notify every connection that listens, and wake every thread of this process."""
        session = self._process.get()
        try:
            self._notifier.notify(session.word)
            session.is_mute = False
        except SempreError as error:
            # The row is committed; a worker finds it by itself.
            if not session.is_mute:
                _logger.warning("idle workers were not notified of new work: %s", error)
            session.is_mute = True
        session.waker.wake()

    def tell_within(self, connection: object) -> None:
        """Notify every connection that listens, when the transaction of this one commits."""
        # By no word of ours: the threads of this process do not hear of that commit otherwise.
        self._notifier.notify_within(connection, "")

    def wake(self) -> None:
        """End every wait of this process."""
        self._process.get().waker.wake()

    def rest(self) -> None:
        """Close the connection of this process; the next wait opens another one."""
        session = self._process.get()
        session.waker.wake()
        with session.lock:
            self._hang_up(session)

    def close(self) -> None:
        """End every wait, and close the connection of this process."""
        self._closed = True
        self.rest()

    def _listening(self, session: _Session[L]) -> L | None:
        """Return the line, made now if it is time for that; None if there is none."""
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

    def _is_told(self, session: _Session[L]) -> bool:
        """Read what has come; what other processes told is passed on to every thread."""
        with session.lock:
            if session.line is None:
                return True
            try:
                words = session.line.words()
            except LineLost as error:
                self._hang_up(session)
                self._go_without(session, error)
                # Every thread queries the store once: a notification may have been lost.
                session.waker.wake()
                return session.waker.is_woken()
        # What this process has told, its threads have heard already.
        if all(word == session.word for word in words):
            return False
        session.waker.wake()
        return session.waker.is_woken()

    def _hang_up(self, session: _Session[L]) -> None:
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
