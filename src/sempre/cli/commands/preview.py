"""`sempre preview`: explain a cron expression or an interval, without a store."""

from datetime import datetime

import click

from sempre.app.times import format_instant, json_instant, zone_of
from sempre.cli.options import count_option, output_options
from sempre.cli.output import Output
from sempre.clock import SystemClock
from sempre.config import read_settings
from sempre.grids.cron import Cron
from sempre.grids.every import Every
from sempre.grids.grid import Grid
from sempre.grids.relative_instants import read_in_zone

__all__ = ["grid_of_text", "preview"]

CRON_FIELDS = 5


@click.command
@click.argument("text")
@click.option("--tz", "timezone", metavar="ZONE", help="Time zone; default the setting timezone.")
@count_option("-n", "count", what="Times to show", default=5, least=0, most=1000)
@click.option("--after", metavar="T", help="Show times after this instant; default now.")
@click.option("--anchor", metavar="T", help="Instant from which an interval counts.")
@click.option("--gap", default="shift", help="Times that the clock skips: shift (default) or skip.")
@click.option(
    "--fold", default="first", help="Times that come twice: first (default), last or both."
)
@output_options
def preview(
    output: Output, *, text: str, count: int, after: str | None, **rule: str | None
) -> None:
    """Explain a cron expression or an interval.

    \b
    sempre preview "0 2,14 * * *" --tz Europe/Rome
    sempre preview "every 15m"
    """  # noqa: D301 - \b tells click to keep these lines apart
    usual = read_settings({}).timezone
    grid = grid_of_text(text, rule).in_zone(usual or "UTC")
    zone_name = rule.get("timezone") or usual
    now = SystemClock().now() if after is None else read_in_zone("after", after, zone_name)
    times = grid.times(now, count)
    if output.as_json:
        output.json(_answer(grid, times))
        return
    output.line(grid.explain())
    zone = output.zone(zone_of(grid))
    output.lines([f"  {format_instant(each, zone, now=now)}" for each in times])
    output.lines([f"note: {note}" for note in grid.notes()])


def grid_of_text(text: str, rule: dict[str, str | None]) -> Grid:
    """Return the grid of a text: a cron expression if it looks like one, else an interval.

    Raises:
        InvalidInput: the text is neither.
    """
    given = {name: value for name, value in rule.items() if value is not None}
    is_cron = "*" in text or text.strip().startswith("@") or len(text.split()) >= CRON_FIELDS
    if not is_cron:
        return Every(text, **given)
    given.pop("anchor", None)
    return Cron(text, **given)


def _answer(grid: Grid, times: list[datetime]) -> dict[str, object]:
    return {
        "grid": grid.to_json(),
        "explanation": grid.explain(),
        "timezone": zone_of(grid),
        "times": [json_instant(each) for each in times],
        "notes": list(grid.notes()),
    }
