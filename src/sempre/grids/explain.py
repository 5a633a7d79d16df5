"""Explanations: when a grid fires, in plain English.

The words follow from the meaning of a grid, not from its spelling: grids with equal explanations
fire at equal instants. The zone is named if the grid would fire at other instants in another zone.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta

from sempre.grids.cron_fields import LENGTHS, CronFields, bits, lowest
from sempre.grids.instants import EPOCH, seconds_of
from sempre.grids.intervals import ELAPSED, SECONDS, Interval
from sempre.grids.zones import Zone

__all__ = ["clock", "explain_cron", "explain_every", "joined", "months_hit", "seconds_of_day"]

MINUTE, HOUR, DAY = 60, 3600, 86_400
SIZES = {"second": 60, "minute": 60, "hour": 24}
EVERY_DAY = "every day"
ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS = bits(range(1, 32)), bits(range(1, 13)), bits(range(7))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
NTH = ("", "first", "second", "third", "fourth", "fifth")
WORKDAY = "weekday (Monday to Friday)"
# Up to this number, the times of a day are listed; beyond it a rule is given, if there is one.
FEW, SOME = 4, 8
# Lists that are longer than this, in characters, are only counted.
LONGEST_TIMES, LONGEST_DAYS = 110, 170
# A winter and a summer late enough that the changes of the past are behind.
SEASONS = (2_209_000_000, 2_224_700_000)


def explain_cron(meaning: CronFields, zone: Zone) -> str:
    """Say when a cron rule fires: exactly, unless that would take several lines."""
    times, period = _times(meaning)
    days = _days(meaning)
    if len(times) > LONGEST_TIMES:
        times = f"{seconds_of_day(meaning).bit_count()} times a day"
    if len(days) > LONGEST_DAYS:
        days = "on the days that the cron text lists"
    if period == DAY:
        return f"{times} {days}, {zone.name}"
    days = days.removeprefix(EVERY_DAY)
    place = f", {zone.name}" if days or _matters(zone, period) else ""
    return f"{times} {days.strip()}".strip() + place


def explain_every(interval: Interval, anchor: datetime, zone: Zone, *, stated: bool) -> str:
    """Say when an anchor grid fires. The anchor is wall time; `stated` by the user or not."""
    if interval.unit not in ELAPSED:
        return f"{clock(anchor.time())} {_calendar_days(interval, anchor)}, {zone.name}"
    words = _every(interval.count, interval.unit)
    if not stated:
        return words
    step = interval.count * SECONDS[interval.unit]
    past_hour = (anchor.minute * MINUTE + anchor.second) % step
    if HOUR % step or anchor.microsecond or past_hour % MINUTE or _drifts(zone, anchor, step):
        return f"{words} from {anchor:%Y-%m-%d} {clock(anchor.time())}, {zone.name}"
    place = f", {zone.name}" if _matters(zone, step) else ""
    if past_hour:
        minutes = range(past_hour // MINUTE, MINUTE, step // MINUTE)
        words = f"{_at('minute', bits(minutes))} of every hour"
    return words + place


def seconds_of_day(meaning: CronFields) -> int:
    """Return the mask of 0-86399: the seconds of a day that match."""
    hour = sum(meaning.seconds << MINUTE * minute for minute in _numbers(meaning.minutes))
    return sum(hour << HOUR * number for number in _numbers(meaning.hours))


def months_hit(months: int, first: int) -> list[int]:
    """Return the months that are reached from the first month in steps of `step` months."""
    return sorted({(first - 1 + months * n) % 12 + 1 for n in range(12)})


def clock(moment: time | int) -> str:
    """Write a time of day, or a second of the day, as a clock shows it: 09:00, or 09:00:30."""
    if isinstance(moment, int):
        moment = (EPOCH + timedelta(seconds=moment)).time()
    has_seconds = moment.second or moment.microsecond
    return moment.isoformat("auto" if has_seconds else "minutes")


def joined(parts: Sequence[str], *, last: str = "and") -> str:
    """Write a list as English does: a, b and c."""
    return f" {last} ".join([*filter(None, [", ".join(parts[:-1])]), parts[-1]])


def _times(meaning: CronFields) -> tuple[str, int]:
    """Return when on a day, and after how many seconds that repeats."""
    day = seconds_of_day(meaning)
    run, count = _run(day), day.bit_count()
    if run and run.start == 0 and len(run) * run.step == DAY and len(run) >= FEW:
        return _every_seconds(run.step), run.step
    if meaning.hours.bit_count() == SIZES["hour"]:
        return _within(meaning), HOUR
    if count > FEW and run:
        first, last = clock(run.start), clock(run[-1])
        return f"{_every_seconds(run.step)} from {first} to {last}", DAY
    if count <= SOME:
        return joined([clock(second) for second in _numbers(day)]), DAY
    return _within(meaning), DAY


def _within(meaning: CronFields) -> str:
    """Describe times by field, the finest first: at minutes 5 and 7 of the hours 9 and 11."""
    fields = [("second", meaning.seconds), ("minute", meaning.minutes), ("hour", meaning.hours)]
    if meaning.seconds == 1:
        del fields[0]
    words = _at(*fields[0])
    is_whole = _is_cycle(*fields[0])
    for noun, mask in fields[1:]:
        is_all = mask.bit_count() == SIZES[noun]
        # Every minute, or every 5 minutes, of every hour goes without saying.
        if not (is_whole and is_all):
            words += f" of every {noun}" if is_all else f" of {_which(noun, mask, 'the ')}"
        is_whole = is_all
    return words


def _at(noun: str, mask: int) -> str:
    """Describe one field: at minute 5, every 5 minutes, every 7 minutes from minute 0 to 56."""
    run = _run(mask)
    if not run or len(run) <= FEW:
        return f"at {_which(noun, mask)}"
    words = _every(run.step, f"{noun}s")
    return words if _is_cycle(noun, mask) else f"{words} from {noun} {run.start} to {run[-1]}"


def _is_cycle(noun: str, mask: int) -> bool:
    """Whether the values of a field are evenly spaced from 0 on, across its end too."""
    run = _run(mask)
    return run is not None and run.start == 0 and len(run) * run.step == SIZES[noun]


def _which(noun: str, mask: int, article: str = "") -> str:
    plural = mask.bit_count() > 1
    return f"{article if plural else ''}{noun}{'s' if plural else ''} {_spoken(mask)}"


def _days(meaning: CronFields) -> str:
    by_day = "" if meaning.days == ALL_DAYS else _by_day(meaning)
    by_weekday = "" if meaning.weekdays == ALL_WEEKDAYS else _by_weekday(meaning)
    if meaning.any_day or meaning.any_weekday:
        if by_day and by_weekday:
            return f"{by_weekday}, but only {by_day}"
        return by_day or by_weekday or EVERY_DAY + _in_months(meaning.months)
    if by_day and by_weekday:
        return f"{by_day} and also {by_weekday}"
    return EVERY_DAY + _in_months(meaning.months)


def _by_day(meaning: CronFields) -> str:
    from_end = _last_days(meaning.days_from_end)
    nearest = [_nearest(day) for day in meaning.nearest]
    if meaning.months.bit_count() == 1 and not from_end and not nearest:
        return f"on {_spoken(meaning.days)} {MONTHS[lowest(meaning.months) - 1]}"
    days = [_which("day", meaning.days)] if meaning.days else []
    return f"on {joined([*days, *from_end, *nearest])} {_of_months(meaning.months)}"


def _last_days(mask: int) -> list[str]:
    """Describe days counted from the end; the last 3 or more of a month as one phrase."""
    length = lowest(~(mask >> 1))
    if length < 3:
        return [_from_end(number) for number in _numbers(mask)]
    rest = mask >> length + 1 << length + 1
    return [f"the last {length} days", *(_from_end(number) for number in _numbers(rest))]


def _from_end(number: int) -> str:
    return "the last day" if number == 1 else f"the {_ordinal(number)}-to-last day"


def _nearest(day: int) -> str:
    if day == -1:
        return f"the last {WORKDAY}"
    return f"the {WORKDAY} nearest to {f'day {day}' if day > 0 else _from_end(-day)}"


def _by_weekday(meaning: CronFields) -> str:
    parts = []
    if meaning.weekdays:
        # Cron counts from Sunday = 0; people here begin with Monday.
        week = [(number - 1) % 7 for number in _numbers(meaning.weekdays)]
        run = _circle(week, WEEKDAYS)
        words = run or f"every {joined([WEEKDAYS[number] for number in sorted(week)])}"
        parts.append(words + _in_months(meaning.months))
    if meaning.nth_weekdays:
        nth = joined([_nth(weekday, n) for weekday, n in meaning.nth_weekdays])
        parts.append(f"on {nth} {_of_months(meaning.months)}")
    return " and ".join(parts)


def _nth(weekday: int, n: int) -> str:
    name = WEEKDAYS[(weekday - 1) % 7]
    if n == -1:
        return f"the last {name}"
    if_any = " (if any)" if abs(n) == 5 else ""
    return f"the {_ordinal(abs(n))}{'' if n > 0 else '-to-last'} {name}{if_any}"


def _ordinal(number: int) -> str:
    if number < len(NTH):
        return NTH[number]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number in (11, 12, 13) else ending}"


def _in_months(mask: int) -> str:
    if mask == ALL_MONTHS:
        return ""
    run = _circle([number - 1 for number in _numbers(mask)], MONTHS)
    return f" from {run}" if run else f" in {_month_names(mask)}"


def _of_months(mask: int) -> str:
    if mask == ALL_MONTHS:
        return "of every month"
    run = _circle([number - 1 for number in _numbers(mask)], MONTHS)
    return f"of each month from {run}" if run else f"of {_month_names(mask)}"


def _month_names(mask: int) -> str:
    return joined([MONTHS[number - 1] for number in _numbers(mask)])


def _calendar_days(interval: Interval, anchor: datetime) -> str:
    count, unit = interval.count, interval.unit
    if unit in ("months", "years"):
        return _month_days(count * 12 if unit == "years" else count, anchor)
    weekday = WEEKDAYS[anchor.weekday()]
    if count == 1:
        return EVERY_DAY if unit == "days" else f"every {weekday}"
    on_weekday = f" on {weekday}" if unit == "weeks" else ""
    return f"{_every(count, unit)}{on_weekday} from {anchor:%Y-%m-%d}"


def _month_days(months: int, anchor: datetime) -> str:
    day, month = anchor.day, MONTHS[anchor.month - 1]
    hit = months_hit(months, anchor.month)
    or_last = any(day > LENGTHS[number] for number in hit)
    since = f" from {anchor:%Y-%m-%d}"
    if months % 12 == 0:
        years = _every(months // 12, "years") + (since if months > 12 else "")
        return f"on {day} {month} {years}{' (or 28 February)' if or_last else ''}"
    if months == 1:
        return f"on day {day} of every month{' (or its last day)' if or_last else ''}"
    which = _of_months(bits(hit)) if 12 % months == 0 else _every(months, "months") + since
    return f"on day {day} {which}{' (or the last day there is)' if or_last else ''}"


def _every_seconds(seconds: int) -> str:
    unit = next(unit for unit in ELAPSED if seconds % SECONDS[unit] == 0)
    return _every(seconds // SECONDS[unit], unit)


def _every(count: int, units: str) -> str:
    return f"every {units[:-1]}" if count == 1 else f"every {count} {units}"


def _matters(zone: Zone, period: int) -> bool:
    """Whether a rule with this period fires at other instants than it would in UTC."""
    return any(zone.offset_at(season) % period for season in SEASONS)


def _drifts(zone: Zone, anchor: datetime, step: int) -> bool:
    """Whether steps of elapsed time from an anchor move on the wall clock."""
    seconds = (*SEASONS, seconds_of(anchor.replace(tzinfo=UTC)))
    return len({zone.offset_at(second) % step for second in seconds}) > 1


def _numbers(mask: int) -> Iterable[int]:
    while mask:
        yield lowest(mask)
        mask &= mask - 1


def _run(mask: int) -> range | None:
    """Return the evenly spaced numbers that a mask consists of; None if it is uneven or short."""
    first, last, count = lowest(mask), mask.bit_length() - 1, mask.bit_count()
    if count < 3 or (last - first) % (count - 1):
        return None
    step = (last - first) // (count - 1)
    # Ones at distance `step`: a geometric sum.
    even = ((1 << step * count) - 1) // ((1 << step) - 1) << first
    return range(first, last + 1, step) if mask == even else None


def _circle(places: list[int], names: Sequence[str]) -> str:
    """Describe three or more neighbours on a circle; an empty text if they are not neighbours."""
    starts = [place for place in places if (place - 1) % len(names) not in places]
    if len(starts) != 1 or len(places) < 3:
        return ""
    return f"{names[starts[0]]} to {names[(starts[0] + len(places) - 1) % len(names)]}"


def _spoken(mask: int) -> str:
    """Write numbers as a list with ranges, or as the beginning and end of an even series."""
    run = _run(mask)
    if run and run.step > 1 and len(run) > FEW + 1:
        return f"{run[0]}, {run[1]}, {run[2]} ... {run[-1]}"
    parts: list[str] = []
    while mask:
        first = lowest(mask)
        length = lowest(~(mask >> first))
        numbers = range(first, first + length)
        parts += [f"{first} to {numbers[-1]}"] if length > 2 else map(str, numbers)
        mask &= ~(((1 << length) - 1) << first)
    return joined(parts)
