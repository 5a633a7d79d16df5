"""Instants: aware datetimes in UTC at the surface, whole microseconds since 1970 inside.

A datetime without a zone is refused, except as the anchor of a grid: there it is wall time in the
zone of the grid.
"""

from datetime import UTC, date, datetime, time, timedelta

from sempre.errors import InstantError

__all__ = [
    "EARLIEST",
    "END_OF_CALENDAR",
    "EPOCH",
    "EPOCH_DAY",
    "LATEST",
    "as_instant",
    "check_aware",
    "instant_of",
    "microseconds_of",
    "read_instant",
    "read_moment",
    "seconds_of",
    "since_epoch",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EARLIEST_YEAR = 1800
# Days since 1970. The last days of the year 9999 are left out: some zones are already past them.
EPOCH_DAY = date(1970, 1, 1).toordinal()
EARLIEST = date(EARLIEST_YEAR, 1, 1).toordinal() - EPOCH_DAY
LATEST = date.max.toordinal() - 2 - EPOCH_DAY
END_OF_CALENDAR = EPOCH + timedelta(days=LATEST) - MICROSECOND
READABLE = "an ISO 8601 text such as 2026-01-31 09:00Z, or a datetime"


def microseconds_of(instant: datetime) -> int:
    """Return an aware instant as whole microseconds since 1970."""
    return (instant - EPOCH) // MICROSECOND


def instant_of(microseconds: int) -> datetime:
    """Return the aware UTC datetime of whole microseconds since 1970; OverflowError past 9999."""
    # Multiplying an existing timedelta takes a third of the time of making a new one.
    return EPOCH + microseconds * MICROSECOND


def seconds_of(instant: datetime) -> int:
    """Return an aware instant as seconds since 1970, rounded down."""
    since = instant - EPOCH
    return since.days * 86_400 + since.seconds


def read_moment(field: str, value: object) -> datetime:
    """Return a datetime, naive or aware, from a datetime, a date or ISO 8601 text."""
    if isinstance(value, str):
        value = _parse(field, value)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise InstantError(field, value, allowed=READABLE)
    if value.year < EARLIEST_YEAR:
        raise InstantError(field, value, allowed=f"the year {EARLIEST_YEAR} or later")
    _offset(field, value)
    return value


def read_instant(field: str, value: object) -> datetime:
    """Return an aware instant in UTC from a datetime or text; InstantError if it has no zone."""
    moment = read_moment(field, value)
    return as_instant(field, moment)


def as_instant(field: str, value: object) -> datetime:
    """Return an aware datetime in UTC; InstantError if it is naive or out of the calendar."""
    aware = check_aware(field, value)
    try:
        return aware.astimezone(UTC)
    except OverflowError:
        raise InstantError(
            field, value, allowed="an instant of the years 1 to 9999 in UTC"
        ) from None


def check_aware(field: str, value: object) -> datetime:
    """Return a datetime that has a zone, or raise InstantError."""
    if not isinstance(value, datetime):
        raise InstantError(field, value, allowed="a datetime with a zone")
    if _offset(field, value) is None:
        hint = f"Without a zone it could be {value}Z or many other instants."
        raise InstantError(field, value, allowed="a datetime with a zone", hint=hint)
    return value


def _offset(field: str, value: datetime) -> timedelta | None:
    try:
        return value.utcoffset()
    except Exception as error:  # noqa: BLE001 - a zone of the user's own may raise anything
        hint = f"Its zone raises {error!r}."
        raise InstantError(
            field, str(value.replace(tzinfo=None)), allowed=READABLE, hint=hint
        ) from None


def _parse(field: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise InstantError(field, text, allowed=READABLE) from None


def _not_an_instant(field: str, value: object) -> InstantError:
    """Return the error for a value that is not a datetime, or has no zone."""
    try:
        as_instant(field, value)
    except InstantError as error:
        return error
    return InstantError(field, value, allowed="a datetime with a zone")


def since_epoch(t: datetime) -> timedelta | None:
    """Return the time from 1970 to an instant; None past the calendar, where no slots are.

    Raises:
        InstantError: the value is not a datetime, has no zone, or lies before the calendar.
    """
    try:
        since = t - EPOCH
    except Exception:  # noqa: BLE001 - a zone of the user's own may raise anything
        raise _not_an_instant("t", t) from None
    if EARLIEST <= since.days < LATEST:
        return since
    if since.days < EARLIEST:
        raise InstantError("t", t, allowed=f"the year {EARLIEST_YEAR} or later")
    return None
