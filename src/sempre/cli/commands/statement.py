"""`sempre statement`: the slots that a month demanded, against what happened."""

from collections.abc import Iterable
from pathlib import Path

import click

from sempre.app.statement import MonthStatement
from sempre.app.statement.files import csv_lines, json_parts
from sempre.app.statement.page import page_parts
from sempre.app.times import zone_of
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.statement.table import print_slots, print_statement

__all__ = ["statement"]


@click.command
@click.option("--month", metavar="MONTH", required=True, help="The month, such as 2026-03.")
@click.option("-s", "--schedule", metavar="NAME", help="Only this schedule.")
@click.option("--job", help="Only schedules of this job.")
@click.option("--tag", help="Only schedules with this tag.")
@click.option("--zone", metavar="ZONE", help="Time zone of the calendar, such as Europe/Rome.")
@click.option("--late", metavar="D", help="Late from this lateness on; default: the tolerance.")
@click.option("--slots", is_flag=True, help="List each slot with its outcome.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page.")
@context_options
def statement(
    context: CommandContext,
    *,
    month: str,
    slots: bool,
    as_csv: bool,
    html: Path | None,
    **asked: str | None,
) -> None:
    """State the slots of a month against what happened.

    Exit 1 if a slot is unexplained: demanded, and without a record.
    """
    if sum((as_csv, html is not None, context.output.as_json)) > 1 or (html and slots):
        message = "--csv, --json and --html exclude each other, and --html has no --slots."
        raise Failure(message, code=ExitCode.USAGE)
    zone = asked.pop("zone") or _zone(context, asked["schedule"])
    found = context.app.statement(month=month, zone=zone, **asked)
    if html is not None:
        _write(found, html)
    elif as_csv:
        _print(csv_lines(found, slots=slots))
    elif context.output.as_json:
        _print(json_parts(found, slots=slots))
    elif slots:
        print_slots(context, found)
    else:
        print_statement(context, found)
    if found.totals.unexplained:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _zone(context: CommandContext, name: str | None) -> str | None:
    """Return the zone of the application, or of the one schedule that is asked for."""
    if context.app.settings.timezone or name is None:
        return context.app.settings.timezone
    view = context.read_one(context.store.views([name]))
    return None if view is None else zone_of(view.schedule.definition.grid)


def _print(parts: Iterable[str]) -> None:
    for part in parts:
        click.echo(part, nl=False)


def _write(found: MonthStatement, path: Path) -> None:
    try:
        with path.open("w", encoding="utf-8") as page:
            page.writelines(page_parts(found))
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise Failure(message, code=ExitCode.USAGE) from error
    totals = found.totals
    inform(f"wrote {path}: {totals.demanded:,} slots, {totals.unexplained:,} unexplained.")
