"""Bounds of labels: the first names have series of their own, the others share one."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from sempre.telemetry.tally import MOST, OTHER

__all__ = ["in_groups"]

T = TypeVar("T")


def in_groups(items: Iterable[T], name_of: Callable[[T], str]) -> dict[str, list[T]]:
    """Return items by name: the first `MOST` names in alphabetical order, and `other`."""
    groups: dict[str, list[T]] = {}
    for item in sorted(items, key=name_of):
        name = name_of(item)
        groups.setdefault(name if name in groups or len(groups) < MOST else OTHER, []).append(item)
    return groups
