"""Marks in a stored declaration: the release that declared a schedule, and the one that dropped it.

The stored declaration is JSON: the fields that code declared, and marks beside them. `release` is
the release that last declared the schedule. `gone` is the newest release of the same owner that no
longer declares the schedule. `pruned` says that a deploy disabled the schedule for that reason, so
that a later deploy may enable it again: an operator's own disable has no mark. `former` is the
owner that had the schedule before the present one. `refused` tells of the last deploy of another
owner that declared the name and was refused.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple

__all__ = [
    "MARKS",
    "FormerOwner",
    "RefusedDeploy",
    "former_owner",
    "is_dropped_since",
    "is_gone",
    "is_pruned",
    "marked_as_gone",
    "marked_as_refused",
    "newest_release",
    "refused_deploy",
    "unpruned",
    "with_former_owner",
    "without_refusal",
    "write_declaration",
]

RELEASE, GONE, PRUNED, FORMER, REFUSED = "release", "gone", "pruned", "former", "refused"
MARKS = frozenset({RELEASE, GONE, PRUNED, FORMER, REFUSED})


class FormerOwner(NamedTuple):
    """The owner that had a schedule before the present one; None if it had none."""

    owner: str | None


class RefusedDeploy(NamedTuple):
    """A deploy that declared a schedule of another owner, and was refused.

    Attributes:
        owner: of the code that was refused; None if it has none.
        at: when it last was, by the store's clock, to the hour at least.
    """

    owner: str | None
    at: datetime


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
    return _without(declared, PRUNED)


def former_owner(declared: str) -> FormerOwner | None:
    """Return the owner before the present one; None if the schedule has had only one."""
    said = _read(declared)
    return FormerOwner(said[FORMER]) if FORMER in said else None


def with_former_owner(declared: str, former: FormerOwner | None) -> str:
    """Return a declaration that says who had the schedule before, if anybody had."""
    if former is None:
        return declared
    return write_declaration({**_read(declared), FORMER: former.owner})


def refused_deploy(declared: str) -> RefusedDeploy | None:
    """Return the last deploy of another owner that was refused; None if there was none."""
    said = _read(declared).get(REFUSED)
    return RefusedDeploy(said["owner"], datetime.fromisoformat(said["at"])) if said else None


def marked_as_refused(declared: str, refused: RefusedDeploy) -> str:
    """Return a declaration with the deploy of another owner that was refused."""
    mark = {"owner": refused.owner, "at": refused.at.isoformat()}
    return write_declaration({**_read(declared), REFUSED: mark})


def without_refusal(declared: str) -> str:
    """Return a declaration without the mark of a refused deploy."""
    return _without(declared, REFUSED)


def _without(declared: str, mark: str) -> str:
    said = _read(declared)
    if mark not in said:
        return declared
    return write_declaration({name: value for name, value in said.items() if name != mark})


def _read(declared: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(declared) if declared else {}
    return said
