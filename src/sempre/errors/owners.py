"""The refusal of code that declares schedules of another owner."""

from collections.abc import Sequence
from typing import NamedTuple

from sempre.errors import StoreRefused

__all__ = ["OwnedByAnother", "OwnedName"]

NAMED = 5


class OwnedName(NamedTuple):
    """A schedule of one owner that code of another owner declares."""

    schedule: str
    owner: str | None
    declared_as: str | None


class OwnedByAnother(StoreRefused):
    """Code declares schedules whose names belong to another owner, and does not adopt them.

    Attributes:
        owner: the owner of the code; None if the code has no owner.
        taken: the owners of the schedules, by the name of the schedule.
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
        fact = f"the schedule {first.schedule} belongs to owner {first.owner}"
        if self.owner:
            remedy = "Rename it, or take it over"
        else:
            remedy = f'Declare it with Sempre(owner="{first.owner}"), rename it, or take it over'
        how = "adopt=True where it is declared, or one start with SEMPRE_ADOPT=1"
        super().__init__(f"{fact}, and this code declares it {code}{also}. {remedy}: {how}.")
