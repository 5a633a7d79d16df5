"""Ownership: which code base may declare a schedule whose name the store has already.

The owner of a stored schedule is the `owner` field of its definition. A name without an owner, and
name that the newest code of its owner no longer declares, is free for the first owner that declares
it. Every other change of owner is an adoption, which the declaration has to request.
"""

from enum import Enum, auto

from sempre.domain.declaration_marks import former_owner, is_gone, newest_release
from sempre.domain.schedule import Schedule

__all__ = ["Standing", "standing_of"]


class Standing(Enum):
    """The relation of a declaration to the stored schedule of that name."""

    OWN = auto()
    """The owner of the schedule declares it."""
    FREE = auto()
    """The schedule has no owner now: the declaration makes its own owner the new one."""
    OUTDATED = auto()
    """A newer release took the schedule over from this owner: nothing is changed."""
    TAKEN = auto()
    """Another owner has the schedule: refused, unless the declaration adopts the schedule."""


def standing_of(schedule: Schedule, *, owner: str | None, release: int) -> Standing:
    """Return the relation of a declaration, by its owner and release, to a stored schedule."""
    if schedule.definition.owner == owner:
        return Standing.OWN
    former, newest = former_owner(schedule.declared), newest_release(schedule.declared)
    # Releases of two owners are compared only if one owner took over from the other.
    if former is not None and former.owner == owner and newest is not None and newest > release:
        return Standing.OUTDATED
    if schedule.definition.owner is None or is_gone(schedule.declared):
        return Standing.FREE
    return Standing.TAKEN
