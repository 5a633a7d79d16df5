"""The walk through a list that a store returns page by page."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from sempre.ports.history_queries import Page

__all__ = ["walk_pages"]

T = TypeVar("T")


def walk_pages(read: Callable[[str], Page[T]]) -> Iterator[T]:
    """Yield every item of a list, a page at a time; an error of `read` is raised.

    A page may be empty and not the last: only an empty `after` ends the list.

    Args:
        read: returns the page after a place; the first page after an empty text.
    """
    after = ""
    while True:
        page = read(after)
        yield from page.items
        after = page.after
        if not after:
            return
