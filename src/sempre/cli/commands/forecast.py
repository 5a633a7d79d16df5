"""`sempre forecast`: expected load of the coming days, from grids and past durations."""

from pathlib import Path

import click

from sempre.app.presentation.forecasts import forecast_json
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.forecasts import curve_of, print_forecast
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.drawing import load

__all__ = ["forecast"]


@click.command
@click.option("--from", "start", metavar="T", help="First instant, or 1h from now; default now.")
@click.option("--for", "length", metavar="D", default="7d", help="Length, up to 31d; default 7d.")
@click.option("-l", "--tag", help="Only schedules with this tag.")
@click.option("--job", help="Only schedules of this job.")
@click.option("-q", "--queue", help="Only schedules of this queue.")
@click.option("--zone", metavar="ZONE", help="Zone of days and hours; default the application's.")
@click.option(
    "--capacity", type=click.IntRange(1), metavar="N", help="Runs that your workers run at once."
)
@click.option(
    "--svg", metavar="FILE", type=click.Path(dir_okay=False), help="Draw the load to a file."
)
@context_options
def forecast(
    context: CommandContext, *, zone: str | None, svg: str | None, **options: str | None
) -> None:
    """Forecast load: peaks, collisions, spread.

    Starts and runs in flight are computed from all grids, and from how long past runs took: p50 is
    the median, p95 is exceeded by one run of twenty. Each suggestion was tried.

    \b
    sempre forecast --for 7d --zone Europe/Rome
    sempre forecast --queue reports --capacity 8 --svg load.svg
    """  # noqa: D301 - \b tells click to keep these lines apart
    timezone = "UTC" if context.output.utc else zone
    found = context.app.forecast(timezone=timezone, **options)  # type: ignore[arg-type]
    if svg is not None:
        _write(Path(svg), load(curve_of(found), embedded=False))
    if context.output.as_json:
        context.output.json(forecast_json(found))
        return
    context.output.table_zone = found.window.timezone
    print_forecast(context, found)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}."
        raise Failure(message, code=ExitCode.USAGE, advice="--svg load.svg") from error
    inform(f"wrote {path}")
