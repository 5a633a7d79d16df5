"""The wording of messages: `2 jobs`, `2026-01-31 09:00Z`, `90s`.

Times and lengths are written as a person types them, in code and on the command line.
"""

from datetime import UTC, datetime, timedelta

__all__ = ["counted", "written_instant", "written_length"]

UNITS = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1)))
ZERO = timedelta(0)


def counted(count: int, noun: str) -> str:
    """Write a number and its noun: `1 job`, `2,000 jobs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def written_instant(instant: datetime) -> str:
    """Write a datetime: to the minute if it is a whole one, `Z` for UTC, nothing for no zone."""
    wall = instant.replace(tzinfo=None)
    precise = "auto" if wall.second or wall.microsecond else "minutes"
    return f"{wall.isoformat(' ', precise)}{_offset(instant)}"


def written_length(length: timedelta) -> str:
    """Write a length of time exactly, from days to seconds: `2h`, `1h30m`, `1.5s`."""
    if length < ZERO:
        return f"-{written_length(-length)}"
    parts, rest = [], length
    for name, unit in UNITS:
        count, rest = divmod(rest, unit)
        parts += [f"{count}{name}"] if count else []
    if rest or not parts:
        parts.append(f"{rest.total_seconds():.6f}".rstrip("0").rstrip(".") + "s")
    return "".join(parts)


def _offset(instant: datetime) -> str:
    offset = instant.utcoffset()
    if offset is None:
        return ""
    if instant.tzinfo is UTC or not offset:
        return "Z"
    # As ISO 8601 has it, seconds only where there are any.
    return instant.isoformat()[len(instant.replace(tzinfo=None).isoformat()) :]
