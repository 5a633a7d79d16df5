"""A file beside an SQLite database that tells other processes: look now.

Whoever puts something makes the file one byte longer; whoever waits looks at its size every so
often, which is one system call and no SQL. Not at its time, which is coarser than two bells may
follow one another. And not at the database's own log: every renewal of a session is written there,
so that idle processes would wake each other for ever.
"""

import logging
import os
from pathlib import Path
from threading import local

from sempre.brokers.processes import PerProcess
from sempre.brokers.waker import Ending, Waker
from sempre.clock import Clock, SystemClock

__all__ = ["BellFile"]

# Then it begins anew; so many bells between two looks of a thread are none to it.
LONGEST = 65_536
_logger = logging.getLogger(__name__)


class BellFile:
    """A watch for all processes of one host that use the same database file.

    Where the file cannot be written, others are not told and find what there is by looking.

    Args:
        database: the path of the database; the file has its name and `-bell`.
        clock: by which waits end.
        look_after: how many seconds to let pass between two looks at the file.
    """

    shared = True

    def __init__(
        self, database: str | Path, *, clock: Clock | None = None, look_after: float = 0.05
    ) -> None:
        """Remember how long the file is now; it comes into being when somebody tells."""
        self._database = os.path.realpath(database)
        self._path = f"{self._database}-bell"
        self._clock = clock or SystemClock()
        self._look_after = look_after
        self._waker = PerProcess(Waker)
        self._thread = local()
        self._first_seen = self._look()
        self._is_mute = False

    def wait(self, seconds: float) -> bool:
        """Wait until told or woken."""
        waker, until = self._waker.get(), self._clock.elapsed() + seconds
        while True:
            left = until - self._clock.elapsed()
            woken = waker.wait(min(self._look_after, left)) is Ending.WOKEN
            told = self._is_told()
            # What this process tells, it hears twice: one look into the store is enough for both.
            if told or woken:
                waker.is_woken()
                return True
            if left <= 0:
                return False

    def tell(self) -> None:
        """Make the file longer, and wake whoever waits in this process."""
        try:
            self._lengthen()
            self._is_mute = False
        except OSError as error:
            if not self._is_mute:
                _logger.warning("other processes are not told of new work: %s", error)
            self._is_mute = True
        self.wake()

    def wake(self) -> None:
        """End every wait of this process."""
        self._waker.get().wake()

    def close(self) -> None:
        """End every wait; the file stays for the others."""
        self.wake()

    def _look(self) -> int:
        try:
            return os.stat(self._path).st_size  # noqa: PTH116 - twenty times a second, so no object
        except OSError:
            return 0

    def _is_told(self) -> bool:
        """Tell whether the file has changed since this thread last asked."""
        found = self._look()
        seen = getattr(self._thread, "seen", self._first_seen)
        self._thread.seen = found
        return bool(found != seen)

    def _lengthen(self) -> None:
        opened = self._open()
        try:
            if os.fstat(opened).st_size >= LONGEST:
                os.ftruncate(opened, 0)
            os.write(opened, b".")
        finally:
            os.close(opened)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        try:
            return os.open(self._path, flags)
        except FileNotFoundError:
            opened = os.open(self._path, flags | os.O_CREAT, 0o600)
            # Whoever may write to the database may ring, as it is with the database's own log.
            os.fchmod(opened, os.stat(self._database).st_mode & 0o666)  # noqa: PTH116
            return opened
