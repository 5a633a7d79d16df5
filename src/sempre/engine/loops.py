"""Loops: threads that call a step again and again, and rest in between as the step says."""

from collections.abc import Callable
from threading import Event, Thread

__all__ = ["REST_AFTER_ERROR", "Loop", "Loops"]

REST_AFTER_ERROR = 1.0


class Loop:
    """One thread. An error of its step is reported, and the loop goes on after a short rest.

    Args:
        name: of the thread, and in reports of errors.
        step: returns how many seconds to rest before the next step.
        end: ends the loop once it is set, after the step that is under way.
        failed: called with the name and the error of a step that raised.
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
        """End the rest of the loop, or leave out its next one."""
        self._called.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the loop, at most so many seconds."""
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


class Loops:
    """The loops of one worker, by name.

    Attributes:
        stopping: ends the loops that begin new work.
        ending: ends the loops that finish what is under way.
    """

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        """Begin without a loop; `failed` is called with the errors of all loops."""
        self.stopping = Event()
        self.ending = Event()
        self._failed = failed
        self._loops: dict[str, Loop] = {}

    def begin(self, name: str, step: Callable[[], float], *, end: Event) -> None:
        """Start a loop."""
        self._loops[name] = Loop(name, step, end=end, failed=self._failed)
        self._loops[name].start()

    def call(self, name: str) -> None:
        """Let a loop step now, if the loop runs and rests."""
        if name in self._loops:
            self._loops[name].call()

    def call_all(self) -> None:
        """Let every loop step now."""
        for loop in self._loops.values():
            loop.call()

    def join(self, *names: str, seconds: float) -> None:
        """Wait for the end of these loops, or of all; for each at most so many seconds."""
        for name in names or self._loops:
            if name in self._loops:
                self._loops[name].join(seconds)
