"""Forecasts as the command shows them: tables, a heat map of hours, and `--json`."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sempre.cli.context import CommandContext
from sempre.cli.layout import Column
from sempre.cli.times import format_duration
from sempre.domain.forecast import Collision, Forecast, Overrun
from sempre.domain.forecast.recurrence import DEFAULT_DURATION
from sempre.drawing import LoadCurve
from sempre.errors.wording import counted, written_length
from sempre.grids.instants import seconds_of
from sempre.grids.zones import zone

__all__ = ["curve_of", "heat_map", "print_forecast"]

MINUTE = timedelta(minutes=1)
HOUR = 60
HOURS = 24
TENTHS = 10
NAMES = 3
PEAKS = ("BUSIEST", "TIMES", "STARTS", "P50", "P95")
COLLISIONS = ("TOGETHER", "TIMES", "STARTS", Column("SCHEDULES", flexible=20))
ORIGINS = {
    "schedule": "from their last runs",
    "daily counts": "from the average of purged runs",
    "job": "from other runs of their job",
    "default": f"assumed ({written_length(DEFAULT_DURATION)})",
}
OVERRUNS = (Column("OVERRUNS", flexible=14), "INTERVAL", "P50", "P95", "OVERLAP")


def print_forecast(context: CommandContext, found: Forecast) -> None:
    """Print a forecast as tables for people."""
    output = context.output
    output.lines(_summary(context, found))
    if found.peaks:
        output.line("")
        rows = [
            (
                context.shown_in_table(each.at),
                str(each.times),
                *map(_number, (each.starts, each.p50, each.p95)),
            )
            for each in found.peaks
        ]
        output.table(PEAKS, rows)
        output.lines(["", *heat_map(found)])
    if found.collisions:
        output.line("")
        output.table(COLLISIONS, [_collision(context, each) for each in found.collisions])
    if found.overruns:
        output.line("")
        output.table(OVERRUNS, [_overrun(each) for each in found.overruns])
    output.lines(_advice(found))


def _summary(context: CommandContext, found: Forecast) -> Iterator[str]:
    start, end = (context.shown_in_table(at) for at in (found.window.start, found.window.end))
    starts = counted(round(sum(found.starts)), "start")
    yield f"{starts} of {counted(found.schedules, 'schedule')} from {start} to {end}."
    p50, p95 = found.highest
    yield f"peak: {_number(p95)} in flight by p95 durations, {_number(p50)} by p50."
    if found.capacity is not None:
        over = counted(found.minutes_over_capacity, "minute")
        yield f"capacity: {found.capacity} runs; exceeded in {over} by p95."
    if found.origins:
        parts = ", ".join(f"{count:,} {ORIGINS[name]}" for name, count in found.origins)
        yield f"durations of schedules: {parts}."


def _collision(context: CommandContext, found: Collision) -> Sequence[str]:
    names = ", ".join(found.names[:NAMES])
    more = found.schedules - NAMES
    shown = f"{names} and {more:,} more" if more > 0 else names
    return context.shown_in_table(found.at), str(found.times), _number(found.starts), shown


def _overrun(found: Overrun) -> Sequence[str]:
    lengths = (found.interval, found.durations.p50, found.durations.p95)
    return found.name, *map(format_duration, lengths), found.overlap


def _advice(found: Forecast) -> Iterator[str]:
    """Yield the quiet hours, and the suggestions with their commands."""
    if found.quiet and any(found.starts):
        quiet = ", ".join(f"{each.first:02}:00-{each.until:02}:00" for each in found.quiet)
        yield from ("", f"quiet: {quiet}")
    for each in found.suggestions:
        before, after = _number(each.before), _number(each.after)
        yield from ("", f"suggestion: the peak falls from {before} to {after} with")
        yield from (f"  {each.command_for(name)}" for name in each.names[:NAMES])
        if len(each.names) > NAMES:
            more = counted(len(each.names) - NAMES, "schedule")
            yield f"  and the same for {more} more (--json lists all)"
    for left in found.left_out:
        yield f"warning: {left.name} is left out: {left.reason}"


def heat_map(found: Forecast) -> Iterator[str]:
    """Yield a line for each day, with a cell for each hour: the load in tenths of the peak."""
    peak = found.highest[1]
    marks = " ".join(f"{hour:02}   " for hour in range(0, HOURS, 3))
    yield f"{'':11}{marks}".rstrip()
    for day, hours in _hours(found).items():
        cells = (_cell(hours.get(hour), peak) for hour in range(HOURS))
        yield f"{day:11}{' '.join(cells)}".rstrip()
    yield f"hours by p95, in tenths of the peak of {_number(peak)}; . none, # over nine tenths"


def _hours(found: Forecast) -> dict[str, dict[int, float]]:
    """Return the most runs in flight by day and hour of the zone of the forecast."""
    offset_at = zone(found.window.timezone).offset_at
    days: dict[str, dict[int, float]] = {}
    for number, level in enumerate(found.p95):
        at = found.window.minute(number)
        wall = at + timedelta(seconds=offset_at(seconds_of(at)))
        hours = days.setdefault(_day(wall), {})
        hours[wall.hour] = max(level, hours.get(wall.hour, 0.0))
    return days


def _day(wall: datetime) -> str:
    return f"{wall:%a} {wall.day} {wall:%b}"


def _cell(level: float | None, peak: float) -> str:
    if level is None:
        return " "
    if not level:
        return "."
    tenth = -int(-level * TENTHS // peak)
    return "#" if tenth >= TENTHS else str(max(1, tenth))


def _number(value: float) -> str:
    """Write an expected number: whole if it is large, to a tenth if it is small."""
    near = round(value, 1)
    return f"{near:,.0f}" if near >= TENTHS or near == round(near) else f"{near:.1f}"


def curve_of(found: Forecast) -> LoadCurve:
    """Return the load of a forecast for its drawing."""
    window = found.window
    return LoadCurve(
        window.start, MINUTE, found.p50, found.p95, found.starts, window.timezone, found.capacity
    )
