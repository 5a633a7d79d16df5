"""Marks in a stored declaration: the releases that declared and dropped a schedule, its owners.

The stored declaration is JSON: the fields that code declared, and marks beside them. `release` is
the release that last declared the schedule. `gone` is the newest release of the same owner that no
longer declares the schedule. `pruned` says that a deploy disabled the schedule for that reason, so
that a later deploy may enable it again: an operator's own disable has no mark. `former` is the
owner before the present owner. `refused` is the last deploy of another owner that declared the name
and was refused.
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
    """The owner of a schedule before the present owner; None if the schedule had no owner."""

    owner: str | None


class RefusedDeploy(NamedTuple):
    """A deploy that declared a schedule of another owner, and was refused.

    Attributes:
        owner: the owner of the refused code; None if the code has no owner.
        at: when the code was refused, by the store's clock; up to an hour old.
    """

    owner: str | None
    at: datetime


def write_declaration(said: dict[str, Any]) -> str:
    """Return a declaration as text; equal declarations give equal texts."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def newest_release(declared: str) -> int | None:
    """Return the newest release that declared or dropped a schedule; None if no code declares it.

    A release below it must not change the schedule.
    """
    said = _read(declared)
    return max(said[RELEASE], said.get(GONE, said[RELEASE])) if RELEASE in said else None


def is_gone(declared: str) -> bool:
    """Whether the newest code of the owner no longer declares the schedule."""
    return GONE in _read(declared)


def is_dropped_since(declared: str, release: int) -> bool:
    """Whether a release that does not declare a schedule is the first that drops it."""
    newest = newest_release(declared)
    if newest is None or newest > release:
        return False
    return newest < release or not is_gone(declared)


def is_pruned(declared: str) -> bool:
    """Whether a deploy disabled the schedule, and no operator has decided since."""
    return PRUNED in _read(declared)


def marked_as_gone(declared: str, release: int, *, pruned: bool) -> str:
    """Return a declaration marked as dropped by a release; an earlier `pruned` mark stays."""
    said = {**_read(declared), GONE: release}
    return write_declaration({**said, PRUNED: True} if pruned else said)


def unpruned(declared: str) -> str:
    """Return a declaration without the `pruned` mark: an operator has decided on `enabled`."""
    return _without(declared, PRUNED)


def former_owner(declared: str) -> FormerOwner | None:
    """Return the owner before the present one; None if the schedule has had only one."""
    said = _read(declared)
    return FormerOwner(said[FORMER]) if FORMER in said else None


def with_former_owner(declared: str, former: FormerOwner | None) -> str:
    """Return a declaration with the mark of the former owner, if there is a former owner."""
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
