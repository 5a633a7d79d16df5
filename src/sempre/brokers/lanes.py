"""Which lanes there can be: names that every broker takes as they are.

They become parts of a protocol's lines and of keys, so nothing else is let through.
"""

import re
from collections.abc import Iterable

from sempre.errors import NamingError

__all__ = ["check_lanes"]

_LANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def check_lanes(lanes: Iterable[str]) -> None:
    """Refuse a lane that some broker could not have.

    Raises:
        NamingError: it is empty, too long or has other characters.
    """
    for lane in lanes:
        if not _LANE.fullmatch(lane):
            allowed = "up to 200 letters, digits and, but for the first, dots, dashes, underscores"
            raise NamingError("lane", lane, allowed=allowed)
