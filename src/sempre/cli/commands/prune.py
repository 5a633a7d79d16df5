"""`sempre db prune`: delete old executions at once, page by page."""

from collections.abc import Iterator
from dataclasses import replace

import click

from sempre.app.times import format_duration, json_instant
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.progress import progress
from sempre.domain.definition import SHORTEST_RETENTION
from sempre.errors.wording import counted
from sempre.grids.intervals import read_duration
from sempre.ports.retention import Purge

__all__ = ["prune"]

PAGE = 1000


@click.command
@click.option("--older-than", metavar="D", required=True, help="Age of executions, such as 30d.")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Newest executions to keep.")
@click.option("--dry-run", is_flag=True, help="Only count the executions that would be deleted.")
@click.option("-y", "--yes", is_flag=True, help="Delete them.")
@context_options
def prune(
    context: CommandContext, *, older_than: str, keep: int | None, dry_run: bool, yes: bool
) -> None:
    """Delete executions that ended longer ago than a length of time.

    The retention of schedules does not count here. The newest executions of each schedule stay: N
    with --keep, else as many as the schedule keeps. Daily counts of deleted executions stay too.
    """
    age = read_duration("older-than", older_than, least=SHORTEST_RETENTION)
    before = context.store.last_pass().now - age
    asked = Purge(before=before, limit=PAGE, retention="any", keep=keep)
    old = sum(_pages(context, replace(asked, count_only=True)))
    preview = f"{counted(old, 'execution')} older than {format_duration(age)}"
    if old and not dry_run and not yes:
        advice = f"{click.get_current_context().command_path} --older-than {older_than} --dry-run"
        message = f"{preview} would be deleted; confirm with --yes."
        raise Failure(message, code=ExitCode.REFUSED, advice=advice)
    deleted = 0
    if not dry_run:
        with progress("deleting", old, is_wanted=not context.output.as_json) as show:
            for count in _pages(context, asked):
                deleted += count
                show(count)
    if context.output.as_json:
        context.output.json({"before": json_instant(before), "old": old, "deleted": deleted})
    elif dry_run:
        context.output.line(preview)
        inform("nothing was deleted.")
    else:
        context.output.line(f"ok {counted(deleted, 'execution')} deleted")


def _pages(context: CommandContext, asked: Purge) -> Iterator[int]:
    """Purge page by page; yield how many executions each page counted."""
    while True:
        done = context.store.purge(asked)
        yield done.count
        if not done.more:
            return
        asked = replace(asked, after=done.after)
