"""The log of a run as text: its first and its last lines, within a size.

    2026-03-29T01:00:00.120Z INFO shop.bills: 3 customers
    2026-03-29T01:00:00.450Z ERROR shop.bills: no rate for CHF
      Traceback (most recent call last):
      KeyError: 'CHF'
    [... 1,204 lines left out ...]
    2026-03-29T01:00:09.001Z INFO shop.bills: done

An entry is one call of a logger. Its further lines are indented, so that no message passes for
another entry, or for the note about lines that were left out.
"""

import re
from collections import deque
from datetime import datetime
from typing import NamedTuple

from sempre.domain.redaction import LARGEST_TEXT, capped

__all__ = [
    "LARGEST_LOG",
    "LEAST_LOG",
    "LOG_SIZE",
    "LogLines",
    "LogRule",
    "LogText",
    "entry_of",
    "read_log",
]

LOG_SIZE = 65_536
LEAST_LOG, LARGEST_LOG = 1024, 262_144
INFO = 20
_NOTE_ROOM = 64
_NOTE = re.compile(r"\[\.\.\. ([0-9,]{1,20}) lines? left out \.\.\.\]")


class LogRule(NamedTuple):
    """Which records of a run are captured, and how much is kept.

    Attributes:
        level: the lowest level, as a number of `logging`.
        size: the most bytes of a log; 0 captures nothing.
    """

    level: int = INFO
    size: int = LOG_SIZE


def entry_of(at: datetime, level: str, logger: str, message: str) -> str:
    """Return an entry of a log; the message may have several lines."""
    instant = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{instant} {level} {logger}: {message}"


class LogText:
    """Collects the entries of one run: a quarter of the size is for the first of them.

    Attributes:
        lines: how many lines were written, those left out included.
    """

    def __init__(self, size: int = LOG_SIZE) -> None:
        """Begin without an entry."""
        self.lines = 0
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_room = size // 4
        self._tail_room = size - size // 4 - _NOTE_ROOM
        # Indented, an entry may be three times as long, and still fits into the tail.
        self._longest = min(LARGEST_TEXT, size // 8)

    def add(self, entry: str) -> None:
        """Add an entry; a long one is cut, and the oldest of the last entries make room."""
        written = "\n  ".join(capped(entry, self._longest).splitlines())
        self.lines += _lines_of(written)
        size = _size_of(written)
        if size <= self._head_room and not self._tail:
            self._head_room -= size
            self._head.append(written)
            return
        self._tail.append(written)
        self._tail_room -= size
        while self._tail_room < 0:
            self._tail_room += _size_of(self._tail.popleft())

    @property
    def text(self) -> str:
        """The entries that were kept, with a note in place of lines that were left out."""
        left_out = self.lines - sum(map(_lines_of, (*self._head, *self._tail)))
        note = [_note(left_out)] if left_out else []
        return "\n".join([*self._head, *note, *self._tail])


class LogLines(NamedTuple):
    """The lines of a log: the first, the number of lines left out after these, and the last."""

    head: list[str]
    left_out: int
    tail: list[str]

    @property
    def total(self) -> int:
        """How many lines the run has written."""
        return len(self.head) + self.left_out + len(self.tail)

    def after(self, seen: int) -> list[str]:
        """Return the lines after the first `seen` lines of the run, with a note about a gap."""
        hidden = min(self.left_out, self.total - len(self.tail) - seen)
        note = [_note(hidden)] if hidden > 0 else []
        skipped = max(0, seen - len(self.head) - self.left_out)
        return [*self.head[seen:], *note, *self.tail[skipped:]]


def read_log(text: str) -> LogLines:
    """Return the lines of a text that `LogText` made."""
    lines = text.split("\n") if text else []
    for place, line in enumerate(lines):
        if found := _NOTE.fullmatch(line):
            left_out = int(found[1].replace(",", "") or 0)
            return LogLines(lines[:place], left_out, lines[place + 1 :])
    return LogLines(lines, 0, [])


def _note(count: int) -> str:
    return f"[... {count:,} line{'s' if count > 1 else ''} left out ...]"


def _lines_of(entry: str) -> int:
    return entry.count("\n") + 1


def _size_of(entry: str) -> int:
    # With the line feed after the entry.
    return len(entry.encode("utf-8", "surrogatepass")) + 1
