"""`sempre switch off`, `on` and `list`: stop work in an incident, and restart it."""

from typing import Any

import click

from sempre.app.presentation.switches import SWITCH, switch_target
from sempre.app.switches import StoredSwitch
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table

__all__ = ["kill", "list_switches", "off", "on", "revive", "stored_switch", "switch", "switches"]


@click.group("switch")
def switch() -> None:
    """Stop work in an incident, and restart it."""


@switch.command
@click.argument("name")
@click.option("--reject", is_flag=True, help="Reject new work and skip slots instead of holding.")
@click.option("--for", "until", metavar="D", help="Switch on again after a time, such as 2h.")
@click.option("-m", "--reason", required=True, help="Reason, shown wherever the switch is.")
@context_options
def off(
    context: CommandContext, *, name: str, reject: bool, until: str | None, reason: str
) -> None:
    """Stop the work of a job, queue, tag or pair, or all work.

    NAME is job:NAME, queue:NAME, tag:NAME, pair:JOB or all, or the plain name of a known job or
    tag. From now on only `sempre run` starts such work; executions that run already finish. Due
    work is held until the switch is on again, or rejected with --reject.
    """
    stored = stored_switch(context, name)
    stored.off(reason, mode="reject" if reject else "hold", until=until)
    _report(context, stored, "switched off")


@switch.command
@click.argument("name")
@why_option
@context_options
def on(context: CommandContext, *, name: str, why: str) -> None:
    """Switch work on again; held work starts at once."""
    stored = stored_switch(context, name)
    was_off = stored.is_off
    stored.on(why=why)
    _report(context, stored, "switched on" if was_off else "already on")


@switch.command("list")
@context_options
def list_switches(context: CommandContext) -> None:
    """List the switches that are off, with reason and end."""
    found = context.read(context.store.switches())
    if context.output.as_json:
        context.output.json({"switches": [SWITCH.json(each) for each in found]})
        return
    print_table(context, SWITCH, found)
    if not found:
        inform("no switch is off.")


def stored_switch(context: CommandContext, name: str) -> StoredSwitch:
    """Return the switch of a name; known jobs and tags come from schedules and workers."""
    return context.app.switch(switch_target(context, name))


def _report(context: CommandContext, stored: StoredSwitch, did: str) -> None:
    if context.output.as_json:
        state = stored.state
        shown = None if state is None else SWITCH.json(state)
        context.output.json({"target": stored.target, "did": did, "switch": shown})
    else:
        context.output.line(f"ok {stored.target} {did}")


def _renamed(old: str, command: click.Command) -> click.Command:
    """Return a command under its old name, which names the new one on stderr."""

    def run(**options: Any) -> None:  # noqa: ANN401 - of any command
        new = f"sempre switch {command.name}"
        inform(f"hint: `sempre {old}` is now `{new}`; the next release removes the old name.")
        command.callback(**options)  # type: ignore[misc]  # a command of ours has a callback

    return click.Command(old, params=command.params, callback=run, help=command.help, hidden=True)


kill = _renamed("kill", off)
revive = _renamed("revive", on)
switches = _renamed("switches", list_switches)
