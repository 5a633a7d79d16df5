"""Prefetch of pages: while the caller handles one page, the next page is read.

Only where the store is a server, which works beside this process; elsewhere everything stays in one
thread, as the simulator needs it.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sempre.ports.messages import Page, Reading

__all__ = ["pages"]

T = TypeVar("T")
Read = Callable[[str], Reading[Page[T]]]


def pages(read: Read[T], *, ahead: bool) -> Iterator[Reading[Page[T]]]:
    """Yield every page of a list, from the first to the last; an error of `read` is raised.

    Args:
        read: returns the page after a place; the first page after an empty text.
        ahead: whether another thread reads the next page before the caller wants it.
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
