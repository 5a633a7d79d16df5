"""`sempre edit`: change the rule, arguments or policies of a schedule."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from sempre.app.times import json_instant
from sempre.cli.app_loader import command_path
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.cli.schedule_verbs import next_text

__all__ = ["edit", "edit_options", "read_changes", "read_json"]

NONE = "none"


EDIT_OPTIONS = (
    click.option("--cron", metavar="TEXT", help='Another cron rule, such as "0 2 * * *".'),
    click.option("--every", metavar="D", help='Another interval, such as "15m" or "1 month".'),
    click.option("--anchor", metavar="T", help="First instant of the interval."),
    click.option("--timezone", metavar="ZONE", help="Another time zone, such as Europe/Rome."),
    click.option("--args", metavar="JSON", help="All arguments of the job, as a JSON object."),
    click.option("--queue", help="Queue of the executions."),
    click.option("--priority", type=int, help="A lower number starts first."),
    click.option("--retry", type=int, metavar="N", help="Retries after a failure."),
    click.option("--timeout", metavar="D", help="Time limit of a run; none for no limit."),
    click.option("--overlap", help="skip, wait, allow or replace."),
    click.option("--jitter", metavar="D", help="Spread of the starts."),
    click.option("--tolerance", metavar="D", help="Lateness that does not count as downtime."),
    click.option("--deadline", metavar="D", help="Longest lateness of a start; none for no limit."),
    click.option("--catch-up/--no-catch-up", default=None, help="Run every slot after a downtime."),
    click.option("--until", metavar="T", help="Last instant of a slot; none for no end."),
    click.option("--tag", "tags", multiple=True, help="Tags, in place of the present ones."),
    click.option("--note", metavar="TEXT", help="Text for people."),
)


def edit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of an edit, in their order."""
    for option in reversed(EDIT_OPTIONS):
        function = option(function)
    return function


@click.command
@click.argument("name")
@edit_options
@why_option
@context_options
def edit(context: CommandContext, *, name: str, why: str, **options: Any) -> None:  # noqa: ANN401
    """Change a schedule.

    What is not named stays. Waiting executions of the old definition are replaced; due ones still
    run. A later deploy changes only the fields that its code changes.
    """
    changes = read_changes(options)
    [schedule] = context.schedules([name])
    is_changed = schedule.edit(**changes, why=why)
    row = schedule.row
    if context.output.as_json:
        answer = {"name": name, "changed": is_changed, "revision": row.revision}
        context.output.json({**answer, "next_run_at": json_instant(row.next_run_at)})
        return
    word = "edited" if is_changed else "unchanged"
    context.output.line(f"{word} {name}: {row.definition.grid.explain()}{next_text(context, row)}")


def read_changes(options: Mapping[str, Any]) -> Any:  # noqa: ANN401 - EditOptions
    """Return the changes that the options of an edit name; Failure if they name none."""
    given = {key: value for key, value in options.items() if value not in (None, ())}
    if not given:
        message = "nothing to change was named."
        raise Failure(message, code=ExitCode.USAGE, advice=f"{command_path()} --help")
    changes = {key: None if value == NONE else value for key, value in given.items()}
    return changes | ({"args": read_json(given["args"])} if "args" in given else {})


def read_json(text: str) -> dict[str, Any]:
    """Return arguments from the JSON of an option; Failure if it is no object."""
    try:
        value = json.loads(text)
    except ValueError as error:
        message = f"--args is no JSON: {error}."
        raise Failure(message, code=ExitCode.USAGE, advice="""--args '{"id": 7}'""") from None
    if not isinstance(value, dict):
        message = "--args is no JSON object with the arguments by name."
        raise Failure(message, code=ExitCode.USAGE, advice="""--args '{"id": 7}'""")
    return value
