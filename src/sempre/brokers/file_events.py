"""Events of a file, as Linux tells them by inotify: a wait that ends when anybody writes to it.

Python has no door to inotify, but to every function of the C library. Elsewhere, or where the
system has no more of them to give, there are none, and the file has to be looked at.
"""

import os
import sys
from contextlib import suppress

__all__ = ["FileEvents", "open_file_events"]

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_MODIFY, _NO_LINK = 0x2, 0x2000000
_ROOM = 4096


class FileEvents:
    """What happens to a file; of one process, and to be waited for by its descriptor."""

    def __init__(self, descriptor: int, place: tuple[int, int]) -> None:
        """Keep the descriptor, and which file it is about: its device and inode."""
        self._descriptor = descriptor
        self.place = place

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._descriptor

    def clear(self) -> None:
        """Forget what has happened so far."""
        with suppress(BlockingIOError):
            while os.read(self._descriptor, _ROOM):
                pass

    def close(self) -> None:
        """Hear nothing more. Twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def __del__(self) -> None:
        """Give the descriptor back."""
        self.close()


def open_file_events(path: str) -> FileEvents | None:
    """Return the events of a file from now on; None where there are none to be had."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - most processes wait for no file

    try:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor = int(library.inotify_init1(_NONBLOCK | _CLOEXEC))
    except (OSError, AttributeError):
        return None
    if descriptor < 0:
        return None
    events = FileEvents(descriptor, (0, 0))
    if library.inotify_add_watch(descriptor, os.fsencode(path), _MODIFY | _NO_LINK) < 0:
        events.close()
        return None
    with suppress(OSError):
        found = os.lstat(path)
        events.place = (found.st_dev, found.st_ino)
    return events
