"""The trace: what happened lately, for people, and a digest of all that ever happened."""

from collections import Counter, deque
from hashlib import blake2b

from sempre.testing.simulation.clock import VirtualTime

__all__ = ["KEPT", "Trace"]

KEPT = 60
MOST_KEPT = 5000


class Trace:
    """Takes note of events; the same seed gives the same digest."""

    def __init__(self, time: VirtualTime) -> None:
        """Begin empty."""
        self._time = time
        self._lines: deque[str] = deque(maxlen=MOST_KEPT)
        self._digest = blake2b(digest_size=8)
        self.depth = 0
        self.counts: Counter[str] = Counter()

    def note(self, who: str, what: str) -> None:
        """Write down one event of somebody."""
        line = f"{self._time.seconds:12.6f} {'  ' * self.depth}{who}: {what}"
        self._lines.append(line)
        self._digest.update(line.encode())

    def count(self, what: str, number: int = 1) -> None:
        """Count something for the table at the end."""
        self.counts[what] += number

    @property
    def digest(self) -> str:
        """A short text that differs if anything happened differently."""
        return self._digest.hexdigest()

    def tail(self, lines: int = KEPT) -> str:
        """Return the latest events, one in a line."""
        return "\n".join(list(self._lines)[-lines:])
