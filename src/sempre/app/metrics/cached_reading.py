"""A cached reading of the store: made at most once in a time, however often metrics are scraped.

A reading is made in a thread of its own. A scrape waits for it for a moment and then answers with
the reading before: a store that hangs must not make a scrape fail.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock, Thread

from sempre.clock import Clock
from sempre.errors import SempreError
from sempre.telemetry.metric_catalog import Sample

__all__ = ["CachedReading", "Latest"]

logger = logging.getLogger("sempre")
# A reading takes at most this part of the time, however long it takes: every host of a fleet makes
# its own.
SHARE = 0.02


@dataclass(frozen=True)
class Latest:
    """The last reading.

    Attributes:
        samples: empty if the last reading failed, and before the first.
        age: seconds since the reading began; None if there is none.
        seconds: how long the reading took.
        is_up: whether the last reading succeeded, and none has been under way for too long.
    """

    samples: Sequence[Sample] = ()
    age: float | None = None
    seconds: float = 0.0
    is_up: bool = False


class CachedReading:
    """Makes a reading in a thread when a scrape asks and the last reading is old."""

    def __init__(
        self, read: Callable[[], Sequence[Sample]], *, every: float, patience: float, clock: Clock
    ) -> None:
        """Make a reading at most once in `every` seconds; a scrape waits `patience` seconds."""
        self._read = read
        self._every = every
        self._patience = patience
        self._clock = clock
        self._lock = Lock()
        self._thread: Thread | None = None
        self._began_at: float | None = None
        self._last: tuple[float, float, Sequence[Sample] | None] | None = None

    def latest(self) -> Latest:
        """Return the last reading, after starting another one if the last is old."""
        with self._lock:
            if self._is_due():
                self._began_at = self._clock.elapsed()
                self._thread = Thread(target=self._make, name="sempre-reading", daemon=True)
                self._thread.start()
            thread = self._thread
        if thread is not None:
            thread.join(self._patience)
        return self._described()

    def _is_due(self) -> bool:
        if self._thread is not None and self._thread.is_alive():
            return False
        if self._last is None or self._began_at is None:
            return True
        _, seconds, samples = self._last
        rest = self._every if samples is None else max(self._every, seconds / SHARE)
        return self._clock.elapsed() - self._began_at >= rest

    def _described(self) -> Latest:
        with self._lock:
            last, began_at, now = self._last, self._began_at, self._clock.elapsed()
            is_late = began_at is not None and self._is_reading and now - began_at >= self._patience
        if last is None:
            return Latest()
        at, seconds, samples = last
        if samples is None:
            return Latest(age=now - at, seconds=seconds)
        return Latest(samples, now - at, seconds, is_up=not is_late)

    @property
    def _is_reading(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _make(self) -> None:
        began = self._clock.elapsed()
        samples: Sequence[Sample] | None = None
        try:
            samples = self._read()
        except SempreError as error:
            logger.debug("the store was not read for metrics: %s", error)
        except Exception:
            logger.exception("the store cannot be read for metrics")
        with self._lock:
            self._last = began, self._clock.elapsed() - began, samples
