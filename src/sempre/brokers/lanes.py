"""Names of lanes, the queues of a broker: only names that every broker accepts.

A name becomes part of a protocol's line and of keys, so other characters are refused.
"""

import re
from collections.abc import Iterable

from sempre.errors import NamingError

__all__ = ["check_lanes"]

_LANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def check_lanes(lanes: Iterable[str]) -> None:
    """Refuse the name of a lane that not every broker accepts.

    Raises:
        NamingError: the name is empty, too long or has other characters.
    """
    for lane in lanes:
        if not _LANE.fullmatch(lane):
            allowed = "up to 200 letters, digits and, but for the first, dots, dashes, underscores"
            raise NamingError("lane", lane, allowed=allowed)
