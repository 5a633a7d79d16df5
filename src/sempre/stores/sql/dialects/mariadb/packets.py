"""Packets of MariaDB: a statement longer than max_allowed_packet costs the connection."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from sempre.errors import StoreError

__all__ = ["SMALL_PACKET", "Packets", "json_of"]

T = TypeVar("T")
SMALL_PACKET = 1_048_576
"""The packet of a server that was not asked: the smallest default of all versions, in bytes."""
# In bytes: a character takes at most four, or two if it is escaped.
WIDEST = 4


class Packets:
    """What fits into one statement as the driver writes it.

    Args:
        escape: turns a text into a literal of SQL.
        packet: the largest statement that the server accepts, in bytes.

    Attributes:
        room: how many bytes rows may take; the rest is for the statement around the rows.
    """

    def __init__(self, escape: Callable[[str], str], packet: int) -> None:
        """Leave an eighth for the statement itself."""
        self._escape = escape
        self._packet = packet
        self.room = packet - packet // 8

    def split(self, pieces: Sequence[T]) -> Iterator[list[T]]:
        """Yield pieces in parts whose JSON fits; most often one part holds all pieces.

        Raises:
            StoreError: a single piece is too large.
        """
        if WIDEST * len(json_of(pieces)) <= self.room:
            yield list(pieces)
            return
        part: list[T] = []
        left = self.room
        for piece in pieces:
            size = self._size(json_of(piece)) + 2  # and a comma and a space
            self._check_size(size)
            if size > left:
                yield part
                part, left = [], self.room
            part.append(piece)
            left -= size
        if part:
            yield part

    def check(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Raise StoreError if a single row is too large."""
        for row in rows:
            texts = [value for value in row.values() if isinstance(value, str)]
            if WIDEST * sum(map(len, texts)) > self.room:
                self._check_size(sum(map(self._size, texts)))

    def _size(self, text: str) -> int:
        return len(self._escape(text).encode())

    def _check_size(self, size: int) -> None:
        if size > self.room:
            enough = 1 << (size * 8 // 7).bit_length()
            raise StoreError(
                f"a row of {size} bytes is too large for this MariaDB server, whose "
                f"max_allowed_packet is {self._packet}. SET GLOBAL max_allowed_packet = {enough}, "
                "and restart the processes that use it; or keep large values elsewhere."
            )


def json_of(value: object) -> str:
    """Return a value as JSON that MariaDB reads."""
    return json.dumps(value, ensure_ascii=False)
