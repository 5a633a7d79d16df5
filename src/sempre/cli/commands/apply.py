"""`sempre apply`: do what a plan says, or plan, show, ask and apply."""

import sys
from typing import Any

import click

from sempre.app.changes.application import Application, Applied
from sempre.app.changes.change_plan import ChangePlan
from sempre.app.changes.preview_json import plan_json
from sempre.app.times import json_instant
from sempre.cli.context import CommandContext
from sempre.cli.declared_changes import DeclaredSource, read_source
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import code_options, why_option
from sempre.cli.planned_changes import print_plan
from sempre.errors.wording import counted

__all__ = ["apply"]


@click.command
@click.argument("file", required=False)
@click.option("--prune", is_flag=True, help="Also disable schedules that are declared no more.")
@click.option("--late", is_flag=True, help="Apply a plan although slots that it changes passed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@why_option
@code_options
def apply(
    context: CommandContext,
    *,
    file: str | None,
    app: str | None,
    why: str,
    prune: bool,
    late: bool,
    yes: bool,
) -> None:
    """Apply a plan, a definition file or code.

    FILE is a plan or a definition file; without it the code of -A is deployed. A plan is applied
    as it is, or refused with exit 5 if the store has moved on. Code and definition files are
    planned, shown and, after a confirmation, applied. Each step is one commit; what a stop half
    way leaves out, the next `apply` does.
    """
    source = read_source(context, file, app)
    if source.plan is not None:
        if prune:
            message = "a plan file is applied as it is; --prune belongs to the plan."
            raise Failure(message, code=ExitCode.USAGE, advice="sempre plan deploy --out FILE")
        made = source.plan
    else:
        made = source.planned(context.app.plan, prune=prune)
        _confirm(context, made, yes=yes)
    # A plan that was confirmed a moment ago is applied although a slot may have come meanwhile.
    _apply(context, source, made.with_note(why), late=late or source.plan is None)


def _apply(
    context: CommandContext, source: DeclaredSource, made: ChangePlan, *, late: bool
) -> None:
    actor, engine = context.app.actor, context.app.engine
    application = Application(engine, actor=actor, tasks=source.tasks, late=late)
    answers = []
    for each in application.apply(made):
        answers.append(_answer(each))
        if not context.output.as_json:
            context.output.line(_line(context, each))
    if context.output.as_json:
        planned = plan_json(made, context.redact) if source.plan is None else None
        context.output.json({"applied": answers, "plan": planned})
    elif not answers:
        context.output.line("ok nothing to apply")


def _answer(applied: Applied) -> dict[str, Any]:
    found = {"name": applied.name, "verb": applied.verb, "done": applied.done}
    return {**found, "next_run_at": json_instant(applied.next_run_at)}


def _line(context: CommandContext, applied: Applied) -> str:
    following = "no next slot"
    if applied.next_run_at is not None:
        grid = context.app.schedule(applied.name).definition.grid
        following = f"next {context.shown(applied.next_run_at, grid)}"
    done = "" if applied.done else ", done before"
    return f"ok {applied.verb} {applied.name}{done}, {following}"


def _confirm(context: CommandContext, made: ChangePlan, *, yes: bool) -> None:
    """Show a plan and ask on a terminal; refuse where no one can answer."""
    if not context.output.as_json:
        print_plan(context, made)
    if yes or not made.steps:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        if click.confirm(f"Apply {counted(len(made.steps), 'step')}?", err=True):
            return
        raise Failure("nothing was applied.", code=ExitCode.REFUSED)
    message = f"{counted(len(made.steps), 'step')} would be applied; confirm with --yes."
    raise Failure(message, code=ExitCode.REFUSED)
