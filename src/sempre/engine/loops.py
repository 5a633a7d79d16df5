"""Loops: threads that call a step again and again, and rest in between for as long as it says."""

from collections.abc import Callable
from threading import Event, Thread

__all__ = ["REST_AFTER_ERROR", "Loop"]

REST_AFTER_ERROR = 1.0


class Loop:
    """One thread. An error of its step is told of, and the loop goes on after a short rest.

    Args:
        name: of the thread, and by which errors are told.
        step: returns how many seconds to rest before the next one.
        end: ends the loop once it is set, after the step that is under way.
        failed: is told of errors.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float],
        *,
        end: Event,
        failed: Callable[[str, Exception], None],
    ) -> None:
        """Be ready; nothing runs before `start`."""
        self._name = name
        self._step = step
        self._end = end
        self._failed = failed
        self._called = Event()
        self._thread = Thread(target=self._run, name=f"sempre-{name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def call(self) -> None:
        """End the rest, if it rests; else let the next one be none."""
        self._called.set()

    def join(self, seconds: float) -> None:
        """Wait for the end, but no longer than this."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while not self._end.is_set():
            rest = self._guarded()
            if rest > 0 and not self._end.is_set():
                self._called.wait(rest)
            self._called.clear()

    def _guarded(self) -> float:
        try:
            return self._step()
        except Exception as error:  # noqa: BLE001 - a loop that ends would end the worker silently
            self._failed(self._name, error)
        return REST_AFTER_ERROR
