"""Roles: what a visitor of the dashboard may do, in ascending order."""

from enum import IntEnum
from typing import NamedTuple

from sempre.errors import PolicyError, nearest

__all__ = ["Identity", "Role", "read_identity"]


class Role(IntEnum):
    """What a visitor may do; a higher role includes every lower one."""

    DENY = 0
    READ = 1
    """See every page."""
    OPERATOR = 2
    """Run, pause, resume, skip, retry, cancel, discard, and turn switches."""
    ADMIN = 3
    """Enable, disable, rename and delete schedules."""

    @property
    def word(self) -> str:
        """The role as `auth` returns it."""
        return self.name.lower()


class Identity(NamedTuple):
    """The role of a visitor, and the name for the log of actions; the name may be empty."""

    role: Role
    name: str = ""


def read_identity(given: object) -> Identity:
    """Return the identity that `auth` returned: a role, or a role and a name.

    Raises:
        PolicyError: the role is unknown; a slip must not open the dashboard.
    """
    role, name = given if isinstance(given, tuple | list) and len(given) == 2 else (given, "")  # noqa: PLR2004 - a pair
    if isinstance(role, Role):
        return Identity(role, str(name or ""))
    words = {each.word: each for each in Role}
    if isinstance(role, str) and role in words:
        return Identity(words[role], str(name or ""))
    hint = nearest(role, words) if isinstance(role, str) else ""
    raise PolicyError("auth", role, allowed=", ".join(words), hint=hint)
