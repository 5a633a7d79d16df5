"""What worker and nursery tell each other: three whole numbers each time.

Not JSON, as the nursery is to touch little: after each fork it has to copy every page of memory
that it writes to, and to read or write JSON touches some fifty of them.
"""

import struct
from collections.abc import Iterable

__all__ = ["BEAR", "BORN", "BREED", "GONE", "READY", "SIGNAL", "UNBORN", "Orders", "order"]

# To the nursery: fork a child, send a signal to the group of one, fork another nursery.
BEAR, SIGNAL, BREED = 1, 2, 3
# From it, with pid, pid, errno, and exit code or negative signal.
READY, BORN, UNBORN, GONE = 4, 5, 6, 7

_FORM = struct.Struct("!3q")


def order(what: int, child: int = 0, detail: int = 0) -> bytes:
    """Return a message as it goes over the wire."""
    return _FORM.pack(what, child, detail)


class Orders:
    """The messages in what has arrived so far."""

    def __init__(self) -> None:
        self._arrived = b""

    def feed(self, raw: bytes) -> Iterable[tuple[int, ...]]:
        """Return the messages that are complete now: what, which child, and a detail."""
        arrived = self._arrived + raw
        end = len(arrived) - len(arrived) % _FORM.size
        self._arrived = arrived[end:]
        return _FORM.iter_unpack(arrived[:end])
