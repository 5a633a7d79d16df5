"""`sempre simulate`: run an application on virtual time, without calling its jobs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

import click

from sempre.app import Schedules, Sempre
from sempre.app.alerts.names import is_own
from sempre.app.times import format_duration, format_instant, json_instant, zone_of
from sempre.cli.app_loader import load_app
from sempre.cli.options import count_option, output_options
from sempre.cli.output import Output, inform
from sempre.cli.timeline import NOT_RUN, Busiest, Event, Timeline
from sempre.clock import SystemClock
from sempre.domain.planning.plan import TICK
from sempre.errors import InvalidInput
from sempre.errors.wording import counted, written_instant
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_in_zone

__all__ = ["simulate"]

MOST_NAMES = 5


@click.command
@click.argument("app", required=False)
@click.option("--from", "start", metavar="T", help="First instant; default now.")
@click.option(
    "--to",
    "end",
    metavar="T",
    default="1 day",
    help="Last instant, or a length of time; default 1 day.",
)
@click.option("--tz", metavar="ZONE", help="Zone of instants without one; default the app's.")
@click.option(
    "--takes", multiple=True, metavar="NAME=10m", help="Duration of the runs of a job; repeatable."
)
@click.option("--all", "everything", is_flag=True, help="Show schedules of Sempre's own too.")
@count_option("-n", "--limit", what="Most slots to show", default=100, least=0)
@output_options
def simulate(
    output: Output,
    *,
    app: str | None,
    start: str | None,
    end: str,
    tz: str | None,
    takes: tuple[str, ...],
    everything: bool,
    limit: int,
) -> None:
    """Simulate what an application will run.

    No job is called: each run succeeds at once, or after the time that --takes gives. The
    application is found as by `sempre dev`; its store is neither read nor written.

    \b
    sempre simulate jobs.py --from 2026-03-28 --to 2026-03-31 --tz Europe/Rome
    sempre simulate --to 7d --takes refresh_cache=20m
    """  # noqa: D301 - \b tells click to keep these lines apart
    lengths = dict(map(_length, takes))
    found = load_app(app)
    inform(f"using {found.name} ({found.origin})")
    timezone = tz or found.app.settings.timezone or "UTC"
    first = SystemClock().now() if start is None else read_in_zone("from", start, timezone)
    last = _last(end, first, timezone)
    line = _simulated(found.app, first, last, lengths)
    if not everything:
        line = line.without(is_own)
    if output.as_json:
        output.json(_answer(line, limit))
    else:
        _print(output, line, limit, timezone)


def _simulated(app: Sempre, first: datetime, last: datetime, takes: Mapping[str, str]) -> Timeline:
    """Run an application on virtual time, with jobs that do nothing."""
    # The first slot of a schedule lies after its creation: a tick earlier includes `first`.
    with app.testing(first - TICK, call_jobs=False) as t:
        for name, long in takes.items():
            t.takes(name, long)
        t.travel_to(last)
        rows = chain(t.executions(), *(t.executions(state=state) for state in NOT_RUN))
        events = [Event.of(row) for row in rows]
        schedules = tuple(Schedules(app.engine))
    return Timeline(first, last, sorted(events, key=lambda event: event.at), schedules)


def _last(text: str, first: datetime, timezone: str) -> datetime:
    if text[:4].isdigit() and "-" in text:
        last = read_in_zone("to", text, timezone)
    else:
        last = first + read_duration("to", text)
    if last < first:
        raise InvalidInput("to", text, allowed=f"{written_instant(first)} or later")
    return last


def _length(text: str) -> tuple[str, str]:
    name, equals, long = text.rpartition("=")
    if not equals:
        raise InvalidInput("takes", text, allowed="a job and a duration, such as bill=10m")
    return name, long


def _print(output: Output, line: Timeline, limit: int, timezone: str) -> None:
    def on(instant: datetime, zone: str = timezone) -> str:
        return format_instant(instant, output.zone(zone), now=line.start)

    rows = [
        (on(event.at, zone_of(event.row.snapshot.grid)), event.row.snapshot.name, note)
        for event, note in _noted(line, limit)
    ]
    if rows:
        output.table(("START", "NAME", "NOTE"), rows)
    if len(line.events) > limit:
        output.line(f"... and {len(line.events) - limit} more; raise -n to show them.")
    names = {event.row.snapshot.name for event in line.starts}
    count = f"{counted(len(line.starts), 'start')} of {counted(len(names), 'schedule')}"
    output.line(f"{count} from {on(line.start)} to {on(line.end)}.")
    output.lines([*_busy(line, on), *_clocks(line, on)])


def _busy(line: Timeline, on: Callable[..., str]) -> Iterator[str]:
    """Yield the peaks, and the schedules whose runs overlap."""
    if peak := line.peak:
        names = ", ".join(peak.names[:MOST_NAMES])
        more = f" and {len(peak.names) - MOST_NAMES} more" if len(peak.names) > MOST_NAMES else ""
        yield f"peak: {counted(peak.count, 'start')} in the minute of {on(peak.at)}: {names}{more}."
    if most := line.most_at_once:
        yield f"peak: {most.count} runs at once, first at {on(most.at)}."
    yield from (f"overlap: {each}." for each in line.overlaps)


def _clocks(line: Timeline, on: Callable[..., str]) -> Iterator[str]:
    """Yield the clock changes, and what schedules do on these days."""
    for each in line.changes:
        change = f"goes {each.direction} by {format_duration(abs(each.by))}"
        yield f"clock: {each.zone} {change} to {on(each.at, each.zone)}."
    yield from (f"note: {note}" for note in line.notes)


def _noted(line: Timeline, limit: int) -> Iterator[tuple[Event, str]]:
    """Yield the first events, each with its note and the clock change of its day."""
    changes = line.changes
    for event in line.events[:limit]:
        zone = zone_of(event.row.snapshot.grid)
        days = (each for each in changes if each.zone == zone and each.is_day_of(event.at))
        day = next((f"the clock goes {each.direction} today" for each in days), "")
        yield event, ", ".join(filter(None, (event.note, day)))


def _answer(line: Timeline, limit: int) -> dict[str, Any]:
    return {
        "from": json_instant(line.start),
        "to": json_instant(line.end),
        "slots": [_slot(event, note) for event, note in _noted(line, limit)],
        "left_off": max(0, len(line.events) - limit),
        "starts": Counter(event.row.snapshot.name for event in line.starts),
        "peak": _busiest(line.peak),
        "most_at_once": _busiest(line.most_at_once),
        "overlaps": [
            {**vars(each), "longest": each.longest.total_seconds()} for each in line.overlaps
        ],
        "clock_changes": [
            {"zone": each.zone, "at": json_instant(each.at), "seconds": each.by.total_seconds()}
            for each in line.changes
        ],
        "notes": line.notes,
    }


def _slot(event: Event, note: str) -> dict[str, object]:
    row = event.row
    return {
        "schedule": row.snapshot.name,
        "job": row.snapshot.job,
        "run_at": json_instant(row.run_at),
        "started_at": json_instant(row.first_started_at),
        "finished_at": json_instant(row.finished_at),
        "state": str(row.state),
        "reason": row.reason,
        "note": note,
    }


def _busiest(busiest: Busiest | None) -> dict[str, object] | None:
    if busiest is None:
        return None
    return {"at": json_instant(busiest.at), "count": busiest.count, "names": list(busiest.names)}
