"""The trace: the latest events as text, and a digest of all events."""

from collections import Counter, deque
from hashlib import blake2b

from sempre.testing.simulation.clock import VirtualTime

__all__ = ["KEPT", "Trace"]

KEPT = 60
MOST_KEPT = 5000


class Trace:
    """Records events; equal seeds give equal digests."""

    def __init__(self, time: VirtualTime) -> None:
        """Begin empty."""
        self._time = time
        self._lines: deque[str] = deque(maxlen=MOST_KEPT)
        self._digest = blake2b(digest_size=8)
        self.depth = 0
        self.counts: Counter[str] = Counter()

    def note(self, who: str, what: str) -> None:
        """Record one event of a program."""
        line = f"{self._time.seconds:12.6f} {'  ' * self.depth}{who}: {what}"
        self._lines.append(line)
        self._digest.update(line.encode())

    def count(self, what: str, number: int = 1) -> None:
        """Add to a counter of the table at the end."""
        self.counts[what] += number

    @property
    def digest(self) -> str:
        """A hash of all events: runs with different events have different digests."""
        return self._digest.hexdigest()

    def tail(self, lines: int = KEPT) -> str:
        """Return the latest events, one per line."""
        return "\n".join(list(self._lines)[-lines:])
