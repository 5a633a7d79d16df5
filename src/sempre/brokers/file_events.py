"""Events of a file by inotify, on Linux: a wait ends when any process writes to the file.

Python has no module for inotify, but calls every function of the C library. Without inotify, or
when the system's limit of watches is reached, there are no events, and the caller checks the file.
"""

import os
import sys
from contextlib import suppress

__all__ = ["FileEvents", "open_file_events"]

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_MODIFY, _NO_LINK = 0x2, 0x2000000
_ROOM = 4096


class FileEvents:
    """The events of one file, for one process; the descriptor becomes readable with each event."""

    def __init__(self, descriptor: int, place: tuple[int, int]) -> None:
        """Keep the descriptor, and the device and inode of the file."""
        self._descriptor = descriptor
        self.place = place

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._descriptor

    def clear(self) -> None:
        """Discard the events so far."""
        with suppress(BlockingIOError):
            while os.read(self._descriptor, _ROOM):
                pass

    def close(self) -> None:
        """Close the descriptor. Closing twice is fine."""
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
