"""Navigation: the pages in the head of the dashboard, in one list.

A page appears once its path has a route; so an entry may be written before its page exists.
"""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["ENTRIES", "Entry", "entries_for"]


class Entry(NamedTuple):
    """A link in the head of every page.

    Attributes:
        key: the letter that, after `g`, opens the page.
    """

    title: str
    path: str
    key: str


ENTRIES = (
    Entry("Overview", "/", "o"),
    Entry("Schedules", "/schedules", "s"),
    Entry("Executions", "/executions", "e"),
    Entry("Timeline", "/timeline", "t"),
    Entry("Forecast", "/forecast", "f"),
    Entry("Statement", "/statement", "m"),
    Entry("Pairs", "/pairs", "p"),
    Entry("Workers", "/workers", "w"),
    Entry("Switches", "/switches", "x"),
    Entry("Log", "/log", "l"),
    Entry("Settings", "/settings", "c"),
)
"""The order of the head; entries without a route are left out."""


def entries_for(paths: Iterable[str]) -> list[Entry]:
    """Return the entries whose page exists."""
    known = set(paths)
    return [each for each in ENTRIES if each.path in known]
