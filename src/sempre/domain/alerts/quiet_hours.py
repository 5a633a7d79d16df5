"""Quiet hours: the time of each day in which a channel gets no alerts."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.errors import PolicyError
from sempre.grids.instants import seconds_of
from sempre.grids.zones import zone

__all__ = ["QuietHours", "read_quiet_hours"]

DAY = 86_400
_TEXT = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?")
ALLOWED = 'two times of the day and a zone, such as "22:00-07:00 Europe/Rome"'


@dataclass(frozen=True)
class QuietHours:
    """The hours from `start` to `end` of each day, by the wall clock of a zone.

    Attributes:
        start: seconds after midnight; the first quiet second.
        end: seconds after midnight; the first second that is not quiet. Before `start`, the hours
            cross midnight.
    """

    start: int
    end: int
    zone: str

    def __str__(self) -> str:
        """Return the hours as a user writes them."""
        first, last = (f"{at // 3600:02}:{at % 3600 // 60:02}" for at in (self.start, self.end))
        return f"{first}-{last} {self.zone}"

    def covers(self, at: datetime) -> bool:
        """Return whether an instant is quiet."""
        second = seconds_of(at)
        wall = (second + zone(self.zone).offset_at(second)) % DAY
        if self.start < self.end:
            return self.start <= wall < self.end
        return wall >= self.start or wall < self.end


def read_quiet_hours(value: object, usual_zone: str | None = None) -> QuietHours | None:
    """Return the quiet hours that a user wrote; None for None.

    Args:
        value: such as "22:00-07:00 Europe/Rome".
        usual_zone: the zone of a text without one; UTC by default.

    Raises:
        PolicyError: the text is not two different times and a zone.
        ZoneError: there is no such zone.
    """
    if value is None or isinstance(value, QuietHours):
        return value
    found = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise PolicyError("quiet", value, allowed=ALLOWED)
    start, end = (timedelta(hours=int(found[at]), minutes=int(found[at + 1])) for at in (1, 3))
    if start == end:
        raise PolicyError("quiet", value, allowed=f"{ALLOWED}; the two times differ")
    name = found[5] or usual_zone or "UTC"
    zone(name)
    return QuietHours(int(start.total_seconds()), int(end.total_seconds()), name)
