"""`sempre plan`: what a change would do, before it is made."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from sempre.app.changes.change_plan import ChangePlan, write_plan
from sempre.app.changes.planner import Planner
from sempre.app.changes.preview_json import plan_json, step_json, switch_json
from sempre.cli.commands.edit import edit_options, read_changes
from sempre.cli.commands.switch import stored_switch
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.declared_changes import read_source
from sempre.cli.files import written_file
from sempre.cli.options import code_options, context_options, count_option, why_option
from sempre.cli.output import inform
from sempre.cli.planned_changes import print_plan, print_switch

__all__ = ["plan"]

LONGEST = 3660
Function = Callable[..., Any]


@click.group
def plan() -> None:
    """Preview a change before it is made.

    Executions, slots, clock changes and load, before and after. Nothing is written to the store.
    `--out FILE` keeps the plan for `sempre apply FILE`.
    """


def _plan_options(function: Function) -> Function:
    """Give a command --days, -n and --out; it returns a plan, given a planner."""

    @count_option("--days", what="Days to preview", default=90, most=LONGEST)
    @count_option("-n", "--limit", what="Most slots to list", default=5, least=0)
    @click.option("--out", metavar="FILE", help="Write the plan to a file, for `sempre apply`.")
    @wraps(function)
    def command(
        context: CommandContext,
        *,
        days: int,
        limit: int,
        out: str | None,
        **options: Any,  # noqa: ANN401 - of any command
    ) -> None:
        planner = context.app.plan.covering(days, listed=limit)
        _report(context, function(context, planner, **options), out)

    return command


def _report(context: CommandContext, made: ChangePlan, out: str | None) -> None:
    if out:
        with written_file(out) as file:
            file.write(write_plan(made, [step_json(each, context.redact) for each in made.steps]))
    if out == "-":
        return
    if context.output.as_json:
        context.output.json({"plan": plan_json(made, context.redact), "file": out})
        return
    print_plan(context, made)
    if out:
        inform(f"wrote {out}; to apply it: sempre apply {out}")


@plan.command("edit")
@click.argument("name", type=SCHEDULE_NAME)
@edit_options
@why_option
@context_options
@_plan_options
def _edit(
    context: CommandContext,  # noqa: ARG001 - of every plan
    planner: Planner,
    *,
    name: str,
    why: str,
    **options: Any,  # noqa: ANN401 - of an edit
) -> ChangePlan:
    """Preview an edit; the options are those of `sempre edit`."""
    return planner.edit(name, **read_changes(options), why=why)


@plan.command("pause")
@click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
@click.option("--until", metavar="T", help="End the pause at an instant, or after 2h.")
@click.option("-m", "--note", default="", help="Reason, shown with the pause.")
@context_options
@_plan_options
def _pause(
    context: CommandContext,  # noqa: ARG001 - of every plan
    planner: Planner,
    *,
    names: Sequence[str],
    until: str | None,
    note: str,
) -> ChangePlan:
    """Preview a pause."""
    return planner.pause(*names, until=until, note=note)


@plan.command("skip")
@click.argument("name", type=SCHEDULE_NAME)
@click.option("--at", metavar="T", help="Instant of the slot; default the next slot.")
@why_option
@context_options
@_plan_options
def _skip(
    context: CommandContext,  # noqa: ARG001 - of every plan
    planner: Planner,
    *,
    name: str,
    at: str | None,
    why: str,
) -> ChangePlan:
    """Preview the skip of one slot."""
    return planner.skip(name, at, why=why)


def _verb(verb: str, text: str) -> None:
    """Add the preview of a verb without options of its own."""

    @plan.command(verb, help=text)
    @click.argument("names", type=SCHEDULE_NAME, metavar="NAME...", nargs=-1, required=True)
    @why_option
    @context_options
    @_plan_options
    def command(
        context: CommandContext,  # noqa: ARG001 - of every plan
        planner: Planner,
        *,
        names: Sequence[str],
        why: str,
    ) -> ChangePlan:
        made: ChangePlan = getattr(planner, verb)(*names, why=why)
        return made


_verb("resume", "Preview the end of a pause.")
_verb("enable", "Preview enabling schedules.")
_verb("disable", "Preview disabling schedules.")
_verb("delete", "Preview deleting schedules.")


@plan.command("deploy")
@code_options
@_plan_options
def _deploy(context: CommandContext, planner: Planner, *, app: str | None) -> ChangePlan:
    """Preview what the start of a worker with this code changes in the store.

    The code is found as by `sempre worker`. Schedules that the code of its owner no longer
    declares are disabled, as a start does.
    """
    source = read_source(context, None, app)
    return source.planned(planner, prune=source.settings.owner is not None)


@plan.command("switch-off")
@click.argument("name")
@click.option("--reject", is_flag=True, help="Reject new work and skip slots instead of holding.")
@click.option("--for", "until", metavar="D", help="Switch on again after a time, such as 2h.")
@count_option("--days", what="Days to preview", default=90, most=LONGEST)
@count_option("-n", "--limit", what="Most slots to list", default=5, least=0)
@context_options
def _switch_off(
    context: CommandContext, *, name: str, reject: bool, until: str | None, days: int, limit: int
) -> None:
    """Preview what a switch would stop: slots of schedules, and waiting work.

    NAME is as for `sempre switch off`. Nothing is switched.
    """
    stored = stored_switch(context, name)
    switch = stored.planned("", mode="reject" if reject else "hold", until=until)
    found = context.app.plan.covering(days, listed=limit).switch_off(switch)
    if context.output.as_json:
        context.output.json({"switch": switch_json(found)})
    else:
        print_switch(context, found)
