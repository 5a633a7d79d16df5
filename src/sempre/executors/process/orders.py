"""What worker and nursery tell each other: three whole numbers each time.

Not JSON, as the nursery is to touch little: after each fork it has to copy every page of memory
that it writes to, and to read or write JSON touches some fifty of them.
"""

import struct
from collections.abc import Iterable

__all__ = [
    "BEAR",
    "BORN",
    "BREED",
    "END",
    "EXPIRED",
    "GONE",
    "LIMIT",
    "READY",
    "UNBORN",
    "Orders",
    "order",
]

# To the nursery: fork a child, end the group of one, fork another nursery; let a child run until an
# instant, in microseconds of the steady clock that all processes of a host share.
BEAR, END, BREED, LIMIT = 1, 2, 3, 8
# From it, with pid, pid, errno, and exit code or negative signal; that the time of a child is over.
READY, BORN, UNBORN, GONE, EXPIRED = 4, 5, 6, 7, 9

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
