"""A file beside an SQLite database that wakes the workers of other processes.

A process that places work makes the file one byte longer. A worker that waits is woken by the
system where that tells of changed files; besides, and elsewhere more often, it looks at the size of
the file, which is one system call and no SQL. Not at its time, which is coarser than two bells may
follow one another. And not at the database's own log: every renewal of a session is written there,
so that idle processes would wake each other for ever.
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

# Then it begins anew; so many bells between two looks of a process are none to it.
LONGEST = 65_536
# Seconds between two looks at the file: where the system tells of changes, and where not.
SELDOM, OFTEN = 0.5, 0.05
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_logger = logging.getLogger(__name__)


class _Session:
    """The threads of one process that wait, and what they wait for."""

    def __init__(self) -> None:
        self.waker = Waker()
        self.events: FileEvents | None = None
        self.retry_at = 0.0


class BellFile:
    """A watch for all processes of one host that use the same database file.

    Where the file cannot be written, others are not woken and find what there is by queries.

    Args:
        database: the path of the database; the file has its name and `-bell`.
        clock: by which waits end.
        events: whether the system may be asked to tell of changes: over a network it does not.
        retry_after: how many seconds to let pass before it is asked again.
    """

    def __init__(
        self,
        database: str | Path,
        *,
        clock: Clock | None = None,
        events: bool = True,
        retry_after: float = 30.0,
    ) -> None:
        """Remember how long the file is now; it comes into being with the first bell or wait."""
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
        """Wait until told or woken."""
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

    def tell(self) -> None:
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

    def tell_within(self, connection: object) -> None:
        """Do nothing: the commit of another connection rings no bell."""

    def wake(self) -> None:
        """End every wait of this process."""
        self._process.get().waker.wake()

    def rest(self) -> None:
        """Hear nothing more from the system, until the next wait."""
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
        """Return what tells of changes of the file; None where nothing does."""
        is_due = self._clock.elapsed() >= session.retry_at
        if session.events is None and is_due and not self._closed:
            session.retry_at = self._clock.elapsed() + self._retry_after
            # For writing: a file of a lower layer is copied by that, and is another one then.
            # Where this process cannot write it, others may, or nobody.
            with suppress(OSError):
                os.close(self._open())
                session.events = open_file_events(self._path) if self._wants_events else None
        return session.events

    def _has_changed(self, session: _Session) -> bool:
        """Tell whether the file has changed since this process last asked."""
        size, place = self._look()
        if session.events is not None and session.events.place != place:
            session.events, session.retry_at = None, 0.0
        found, self._heard = self._heard != size, size
        return found

    def _look(self) -> tuple[int, tuple[int, int]]:
        """Return how long the file is, and which one it is; a link, or a pipe, is none."""
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
            OSError: it cannot be opened, or is no plain file: somebody's link would lead to
                another file, and a pipe that nobody reads would hold this process up.
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
        # Whoever may write to the database may ring, as it is with the database's own log.
        with suppress(OSError):
            os.fchmod(opened, os.stat(self._database).st_mode & 0o666)  # noqa: PTH116
        return opened

    def _refusal(self) -> OSError:
        return OSError(f"{self._path} is no plain file: remove it")


def _is_plain(found: os.stat_result) -> bool:
    """Tell whether something is a file that has no other name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink <= 1
