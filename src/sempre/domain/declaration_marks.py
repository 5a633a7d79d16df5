"""Marks in a stored declaration: the release that declared a schedule, and the one that dropped it.

The stored declaration is JSON: the fields that code declared, and three marks beside them.
`release` is the release that last declared the schedule. `gone` is the newest release of the same
owner that no longer declares the schedule. `pruned` says that a deploy disabled the schedule for
that reason, so that a later deploy may enable it again: an operator's own disable has no mark.
"""

import json
from typing import Any

__all__ = [
    "MARKS",
    "is_dropped_since",
    "is_gone",
    "is_pruned",
    "marked_as_gone",
    "newest_release",
    "unpruned",
    "write_declaration",
]

RELEASE, GONE, PRUNED = "release", "gone", "pruned"
MARKS = frozenset({RELEASE, GONE, PRUNED})


def write_declaration(said: dict[str, Any]) -> str:
    """Return a declaration as text; equal ones are equal texts."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def newest_release(declared: str) -> int | None:
    """Return the newest release that declared or dropped a schedule; None if no code declares it.

    A release below this one changes nothing of the schedule.
    """
    said = _read(declared)
    return max(said[RELEASE], said.get(GONE, said[RELEASE])) if RELEASE in said else None


def is_gone(declared: str) -> bool:
    """Tell whether the newest code of the owner no longer declares the schedule."""
    return GONE in _read(declared)


def is_dropped_since(declared: str, release: int) -> bool:
    """Tell whether a release that no longer declares a schedule is the first to find that out."""
    newest = newest_release(declared)
    if newest is None or newest > release:
        return False
    return newest < release or not is_gone(declared)


def is_pruned(declared: str) -> bool:
    """Tell whether a deploy disabled the schedule, and no operator has decided since."""
    return PRUNED in _read(declared)


def marked_as_gone(declared: str, release: int, *, pruned: bool) -> str:
    """Return a declaration that a release no longer makes; an earlier `pruned` mark stays."""
    said = {**_read(declared), GONE: release}
    return write_declaration({**said, PRUNED: True} if pruned else said)


def unpruned(declared: str) -> str:
    """Return a declaration of a schedule about whose `enabled` an operator has decided."""
    said = _read(declared)
    if PRUNED not in said:
        return declared
    return write_declaration({name: value for name, value in said.items() if name != PRUNED})


def _read(declared: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(declared) if declared else {}
    return said
