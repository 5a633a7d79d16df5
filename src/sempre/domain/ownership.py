"""Ownership: which code base may declare a schedule whose name the store has already.

The owner of a stored schedule is the `owner` field of its definition. A name without an owner, and
one that the newest code of its owner declares no more, is free for the first owner that declares
it. Every other change of owner is an adoption, which the declaration must ask for.
"""

from enum import Enum, auto

from sempre.domain.declaration_marks import former_owner, is_gone, newest_release
from sempre.domain.schedule import Schedule

__all__ = ["Standing", "standing_of"]


class Standing(Enum):
    """What a declaration is to the schedule that the store has under its name."""

    OWN = auto()
    """The owner declares it."""
    FREE = auto()
    """Nobody owns it now: the declaration makes its owner the new one."""
    OUTDATED = auto()
    """A newer release took it over from the owner that declares it here: left alone."""
    TAKEN = auto()
    """Another owner has it: refused, unless the declaration adopts it."""


def standing_of(schedule: Schedule, *, owner: str | None, release: int) -> Standing:
    """Return what the declaration of an owner, by a release, is to a stored schedule."""
    if schedule.definition.owner == owner:
        return Standing.OWN
    former, newest = former_owner(schedule.declared), newest_release(schedule.declared)
    # Releases of different owners are not compared, but where one took over from the other.
    if former is not None and former.owner == owner and newest is not None and newest > release:
        return Standing.OUTDATED
    if schedule.definition.owner is None or is_gone(schedule.declared):
        return Standing.FREE
    return Standing.TAKEN
