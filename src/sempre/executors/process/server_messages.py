"""Messages between worker and fork server: three whole numbers each.

Messages are packed numbers rather than JSON: after each fork the fork server copies every page of
memory that the server writes to, and JSON would touch 45 more pages for each run.
"""

import struct
from collections.abc import Iterable

__all__ = [
    "END",
    "EXITED",
    "EXPIRED",
    "FORK",
    "FORKED",
    "FORK_FAILED",
    "LIMIT",
    "MessageReader",
    "encode",
]

# To the fork server: fork a child; end a child's process group; let a child run until an instant,
# in microseconds of the steady clock that all processes of a host share.
FORK, END, LIMIT = 1, 2, 3
# From the fork server: a child's pid; the errno of a fork that failed; a child's exit code, or its
# signal as a negative number; the time of a child is over.
FORKED, FORK_FAILED, EXITED, EXPIRED = 4, 5, 6, 7

_FORMAT = struct.Struct("!3q")


def encode(kind: int, child: int, detail: int = 0) -> bytes:
    """Return a message as bytes."""
    return _FORMAT.pack(kind, child, detail)


class MessageReader:
    """Decodes a stream of messages that arrives in pieces."""

    def __init__(self) -> None:
        self._incomplete = b""

    def feed(self, raw: bytes) -> Iterable[tuple[int, ...]]:
        """Return the messages that are complete now, as kind, number of the child, and detail."""
        arrived = self._incomplete + raw
        end = len(arrived) - len(arrived) % _FORMAT.size
        self._incomplete = arrived[end:]
        return _FORMAT.iter_unpack(arrived[:end])
