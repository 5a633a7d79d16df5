"""Ownership: which code base may declare a schedule whose name the store has already.

The owner of a stored schedule is the `owner` field of its definition. A name without an owner, and
one that the newest code of its owner declares no more, is free for the first owner that declares
it. Every other change of owner is an adoption, which the declaration must ask for.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from sempre.domain.declaration_marks import former_owner, is_gone, newest_release
from sempre.domain.schedule import Schedule
from sempre.errors import StoreRefused

__all__ = ["OwnedByAnother", "OwnedName", "Standing", "standing_of"]

NAMED = 5


class OwnedName(NamedTuple):
    """A schedule that belongs to one owner, and that code declares as another one."""

    schedule: str
    owner: str | None
    declared_as: str | None


class OwnedByAnother(StoreRefused):
    """Code declares schedules whose names belong to another owner, and does not adopt them.

    Attributes:
        owner: as which the code declares them; None if it has no owner.
        taken: by the name of a schedule, the owner that has it.
    """

    def __init__(self, owned: Sequence[OwnedName]) -> None:
        """Name the schedules, both owners and the remedy; `owned` has one at least."""
        first = owned[0]
        self.owner = first.declared_as
        self.taken = {each.schedule: each.owner for each in owned}
        code = f"as owner {self.owner}" if self.owner else "without an owner"
        likewise = [f"{each.schedule} of {each.owner}" for each in owned[1:NAMED]]
        more = [f"{len(owned) - NAMED} more"] if len(owned) > NAMED else []
        also = f" (likewise {', '.join([*likewise, *more])})" if likewise else ""
        told = f"the schedule {first.schedule} belongs to owner {first.owner}"
        if self.owner:
            remedy = "Rename it, or take it over"
        else:
            remedy = f'Declare it with Sempre(owner="{first.owner}"), rename it, or take it over'
        how = "adopt=True where it is declared, or one start with SEMPRE_ADOPT=1"
        super().__init__(f"{told}, and this code declares it {code}{also}. {remedy}: {how}.")


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
