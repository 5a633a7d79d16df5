"""Working ahead: while one page is worked on the next one is read, or one is sent and one prepared.

Only where the store is a server, which then works beside us; elsewhere everything stays in one
thread, as the simulator has it.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

from sempre.ports.messages import Page, Reading

__all__ = ["Line", "pages"]

T = TypeVar("T")
Read = Callable[[str], Reading[Page[T]]]


def pages(read: Read[T], *, ahead: bool) -> Iterator[Reading[Page[T]]]:
    """Yield every page of a list, from the first to the last; what reading raises comes through.

    Args:
        read: returns the page after a place; the first one after an empty text.
        ahead: whether to read the next page, in another thread, before it is asked for.
    """
    return _read_ahead(read) if ahead else _read_in_turn(read)


def _read_in_turn(read: Read[T]) -> Iterator[Reading[Page[T]]]:
    reading = read("")
    yield reading
    while reading.value.after:
        reading = read(reading.value.after)
        yield reading


def _read_ahead(read: Read[T]) -> Iterator[Reading[Page[T]]]:
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="sempre-ahead") as reader:
        coming = reader.submit(read, "")
        while True:
            reading = coming.result()
            after = reading.value.after
            if after:
                coming = reader.submit(read, after)
            yield reading
            if not after:
                return


class Line(Generic[T]):
    """Pieces of work that are done one after another, in order, while the next is prepared."""

    def __init__(self) -> None:
        """Begin no thread before there is reason to."""
        self._worker: ThreadPoolExecutor | None = None
        self._coming: Future[T] | None = None

    def hand_in(self, work: Callable[[], T], *, ahead: bool) -> list[T]:
        """Do a piece of work, now or while the caller goes on; return what is done by now.

        What an earlier piece raised is raised here, and this one is not begun.
        """
        done = self.rest()
        if not ahead:
            return [*done, work()]
        if self._worker is None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sempre-ahead")
        self._coming = self._worker.submit(work)
        return done

    def rest(self) -> list[T]:
        """Wait for what is under way, and return it."""
        coming, self._coming = self._coming, None
        return [] if coming is None else [coming.result()]

    def __enter__(self) -> Self:
        """Nothing is under way yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what is under way, whatever has happened to the caller."""
        if self._worker is not None:
            self._worker.shutdown()
