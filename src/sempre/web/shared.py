"""Readings that visits share: many open pages cost the store as much as one.

A moment's reading is made by the visit that asks. A kept reading may scan all schedules: a thread
makes it, it takes at most a twentieth of the time, and a page shows how old it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from sempre.clock import Clock

__all__ = ["Kept", "Shared"]

T = TypeVar("T")
MOMENT = 1.0
MOST = 64
"""Readings that are kept."""
SHARE = 0.05
"""The part of the time that a kept reading may take."""
LONGEST = 60.0
"""Seconds after which a kept reading is made again, however long it takes."""
PATIENCE = 0.1
"""Seconds for which a page waits for a newer reading than the last."""


@dataclass(frozen=True)
class Kept(Generic[T]):
    """A reading that was kept, and the seconds since it began."""

    value: T
    age: float

    @property
    def is_old(self) -> bool:
        """Whether a page shows the age."""
        return self.age > 2 * MOMENT


class Shared:
    """Keeps readings for seconds; one thread reads, others wait for that reading alone.

    Only what every visitor may see alike is shared: nothing that depends on a role.
    """

    def __init__(self, clock: Clock) -> None:
        """Begin without a reading."""
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, _Moment] = {}
        # Apart from the other lock: a moment's reading may ask for kept ones.
        self._keeping = Lock()
        self._readings: dict[str, _Reading] = {}

    def value(self, name: str, read: Callable[[], T], *, seconds: float = MOMENT) -> T:
        """Return a reading that is at most so many seconds old."""
        with self._lock:
            kept = self._kept.pop(name, None) or _Moment()
            self._kept[name] = kept
            # Names contain filters that visitors type: the reading used longest ago is dropped.
            while len(self._kept) > MOST:
                del self._kept[next(iter(self._kept))]
        with kept.lock:
            now = self._clock.elapsed()
            if kept.read_at is None or now - kept.read_at > seconds:
                kept.value, kept.read_at = read(), now
            found: T = kept.value
            return found

    def kept(self, name: str, read: Callable[[], T]) -> Kept[T]:
        """Return the last reading, after beginning another one in a thread if the last is old.

        The first visit waits for the first reading; later ones wait for a tenth of a second.

        Raises:
            SempreError: the last reading failed.
        """
        with self._keeping:
            reading = self._readings.setdefault(name, _Reading(self._clock))
        return reading.latest(read)

    def forget(self) -> None:
        """Drop or renew every reading: a visitor who has changed something sees the change."""
        with self._lock:
            self._kept.clear()
        with self._keeping:
            for each in self._readings.values():
                each.is_stale = True


class _Moment:
    """A reading, and the lock of the thread that reads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.read_at: float | None = None
        self.value: Any = None


class _Reading:
    """One kept reading; a single thread makes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._thread: Thread | None = None
        self._last: Kept[Any] | None = None
        self._began_at = 0.0
        self._rest = 0.0
        self._error: BaseException | None = None
        self.is_stale = True

    def latest(self, read: Callable[[], Any]) -> Kept[Any]:
        # A reading that was under way when something changed is followed by another one.
        for _ in range(2):
            with self._lock:
                thread = self._begun(read)
                patience = None if self._last is None else PATIENCE
            if thread is None:
                break
            thread.join(patience)
            if self._error is not None:
                break
        with self._lock:
            if self._error is not None:
                raise self._error
            if self._last is None:
                raise RuntimeError("the reading was made and is not there")
            return Kept(self._last.value, self._clock.elapsed() - self._began_at)

    def _begun(self, read: Callable[[], Any]) -> Thread | None:
        """Return the thread that reads, begun if a reading is due; None if none is needed."""
        if self._thread is not None and self._thread.is_alive():
            return self._thread
        age = self._clock.elapsed() - self._began_at
        if self._last is not None and not self.is_stale and age <= self._rest:
            return None
        self.is_stale = False
        self._thread = Thread(target=self._make, args=[read], name="sempre-health", daemon=True)
        self._thread.start()
        return self._thread

    def _make(self, read: Callable[[], Any]) -> None:
        began = self._clock.elapsed()
        try:
            value, error = read(), None
        except Exception as raised:  # noqa: BLE001 - the visit that asks raises it
            value, error = None, raised
        took = self._clock.elapsed() - began
        with self._lock:
            self._error = error
            if error is not None:
                self.is_stale = True
                return
            self._last, self._began_at = Kept(value, 0.0), began
            self._rest = min(LONGEST, max(MOMENT, took / SHARE))
