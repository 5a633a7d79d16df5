"""A file beside an SQLite database that wakes the workers of other processes.

A process that enqueues work makes the file one byte longer. A waiting worker is woken by inotify
where the system has it; besides, and more often elsewhere, the worker compares the size of the
file, which is one system call and no SQL. The time of the file would be too coarse: two bells may
follow within its resolution. The database's own log would not do: every heartbeat is written there,
so idle processes would wake each other for ever.
"""

import errno
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from sempre.brokers.file_events import FileEvents, open_file_events
from sempre.brokers.waker import Ending, Waker
from sempre.clock import Clock, SystemClock
from sempre.forking import PerProcess

__all__ = ["BellFile"]

# At this size the file is cut to nothing; a process misses exactly this many bells at once.
LONGEST = 65_536
# Seconds between two checks of the size: with inotify, and without.
SELDOM, OFTEN = 0.5, 0.05
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_logger = logging.getLogger(__name__)


class _Session:
    """The waiting threads of one process, and the file events that they wait for."""

    def __init__(self) -> None:
        self.waker = Waker()
        self.events: FileEvents | None = None
        self.retry_at = 0.0


class BellFile:
    """A watch for all processes of one host that use the same database file.

    Where the file cannot be written, other workers are not woken and find the rows by queries.

    Args:
        database: the path of the database; the file has its name and `-bell`.
        clock: by which waits end.
        events: whether inotify may be used: it reports no changes over a network.
        retry_after: how many seconds to let pass before inotify is tried again.
    """

    def __init__(
        self,
        database: str | Path,
        *,
        clock: Clock | None = None,
        events: bool = True,
        retry_after: float = 30.0,
    ) -> None:
        """Remember the size of the file, which the first bell or wait creates."""
        self._database = os.path.realpath(database)
        self._path = f"{self._database}-bell"
        self._clock = clock or SystemClock()
        self._wants_events = events
        self._retry_after = retry_after
        self._process = PerProcess(_Session)
        self._is_there = True
        self._is_mute = False
        self._closed = False
        self._heard = self._look()[0]
        self._is_there = True

    @property
    def shared(self) -> bool:
        """Whether there is a file that others can make longer, as far as is known."""
        return self._is_there

    def wait(self, seconds: float) -> bool:
        """Wait until a bell or a wake-up."""
        session, until = self._process.get(), self._clock.elapsed() + seconds
        while True:
            events = self._listening(session)
            if self._has_changed(session):
                session.waker.wake()
            left = until - self._clock.elapsed()
            pause = min(SELDOM if events else OFTEN, left)
            ending = session.waker.wait(pause, *filter(None, [events]))
            if ending is Ending.WOKEN:
                return True
            if ending is Ending.READABLE and events is not None:
                events.clear()
            elif left <= 0:
                return False

    def wake_all(self) -> None:
        """Make the file longer, and wake every thread of this process."""
        try:
            self._lengthen()
            # The threads of this process are woken below.
            self._heard = self._look()[0]
            self._is_mute = False
        except OSError as error:
            if not self._is_mute:
                _logger.warning("other processes are not told of new work: %s", error)
            self._is_mute = True
        self.wake()

    def wake_all_after_commit(self, connection: object) -> None:
        """Do nothing: the commit of another connection rings no bell."""

    def wake(self) -> None:
        """End every wait of this process."""
        self._process.get().waker.wake()

    def rest(self) -> None:
        """Close the file events; the next wait opens them again."""
        session = self._process.get()
        session.events, left = None, session.events
        if left is not None:
            session.waker.wake()

    def close(self) -> None:
        """End every wait; the file stays for the others."""
        self._closed = True
        self.wake()
        self.rest()

    def _listening(self, session: _Session) -> FileEvents | None:
        """Return the events of the file; None where the system has none."""
        is_due = self._clock.elapsed() >= session.retry_at
        if session.events is None and is_due and not self._closed:
            session.retry_at = self._clock.elapsed() + self._retry_after
            # For writing: a file of a lower layer is copied by that, and is another one then.
            # If this process cannot create the file, other processes may.
            with suppress(OSError):
                os.close(self._open())
                session.events = open_file_events(self._path) if self._wants_events else None
        return session.events

    def _has_changed(self, session: _Session) -> bool:
        """Return whether the file has changed since the last call in this process."""
        size, place = self._look()
        if session.events is not None and session.events.place != place:
            session.events, session.retry_at = None, 0.0
        found, self._heard = self._heard != size, size
        return found

    def _look(self) -> tuple[int, tuple[int, int]]:
        """Return the size and the identity of the file; a link or a pipe counts as no file."""
        try:
            found = os.lstat(self._path)
        except OSError:
            self._is_there = False
            return 0, (0, 0)
        self._is_there = _is_plain(found)
        return (found.st_size, (found.st_dev, found.st_ino)) if self._is_there else (0, (0, 0))

    def _lengthen(self) -> None:
        opened = self._open()
        try:
            if os.fstat(opened).st_size >= LONGEST:
                os.ftruncate(opened, 0)
            os.write(opened, b".")
        finally:
            os.close(opened)

    def _open(self) -> int:
        """Open the file for writing, and create it if there is none.

        Raises:
            OSError: the file cannot be opened, or is no plain file: a planted link would lead to
                another file, and a pipe without a reader would block this process.
        """
        try:
            # A link ends in ELOOP, a pipe without a reader in ENXIO.
            opened = os.open(self._path, _FLAGS)
        except FileNotFoundError:
            try:
                return self._create()
            except FileExistsError:
                return self._open()  # others were quicker
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
                raise self._refusal() from None
            raise
        if not _is_plain(os.fstat(opened)):
            os.close(opened)
            raise self._refusal()
        return opened

    def _create(self) -> int:
        opened = os.open(self._path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        # Who may write to the database may ring, as with the database's own log.
        with suppress(OSError):
            os.fchmod(opened, os.stat(self._database).st_mode & 0o666)  # noqa: PTH116
        return opened

    def _refusal(self) -> OSError:
        return OSError(f"{self._path} is no plain file: remove it")


def _is_plain(found: os.stat_result) -> bool:
    """Return whether this is a plain file that has no other name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink <= 1
