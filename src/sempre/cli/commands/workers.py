"""`sempre workers`: the worker processes, and their orderly stop."""

from collections.abc import Sequence

import click

from sempre.app.presentation.fleet import WORKER, WorkerState, read_workers
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.group import ListingGroup
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.action import Action
from sempre.domain.names import check_note
from sempre.engine.ids import new_id
from sempre.errors import NotFound
from sempre.errors.wording import counted

__all__ = ["drain", "list_workers", "workers"]


@click.group("workers", cls=ListingGroup)
def workers() -> None:
    """List workers, or drain them."""


@workers.command("list")
@context_options
def list_workers(context: CommandContext) -> None:
    """List workers.

    The first column is the state: * alive, ~ draining, x expired: the lease is over, and other
    workers rescue its runs.
    """
    found = read_workers(context)
    if context.output.as_json:
        context.output.json({"workers": [WORKER.json(each) for each in found]})
        return
    print_table(context, WORKER, found)
    alive = sum(each.state != "expired" for each in found)
    inform(f"{counted(alive, 'worker')} alive." if alive else "no worker is alive.")


@workers.command
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--host", help="All workers of this host.")
@click.option("--all", "everything", is_flag=True, help="All workers.")
@why_option
@context_options
def drain(
    context: CommandContext, *, ids: Sequence[str], host: str | None, everything: bool, why: str
) -> None:
    """Ask workers to finish their runs and to stop, as SIGTERM does.

    ID is an id of `sempre workers` or the beginning of one. A worker learns of the request with its
    next heartbeat. Its process is not started again.
    """
    if sum((bool(ids), host is not None, everything)) != 1:
        message = "name the workers to drain: either ids, --host or --all."
        raise Failure(message, code=ExitCode.USAGE, advice="sempre workers")
    found = [each for each in read_workers(context) if each.state != "expired"]
    chosen = [_chosen(found, each) for each in ids] if ids else found
    if host is not None:
        chosen = [each for each in found if each.session.host == host]
        if not chosen:
            raise NotFound("worker on host", host)
    names = list(dict.fromkeys(each.session.id for each in chosen))
    actions = [_action(context, each, why) for each in names]
    answers = dict(zip(names, context.store.drain(names, actions=actions), strict=True))
    _report(context, chosen, answers)


def _chosen(found: Sequence[WorkerState], text: str) -> WorkerState:
    """Return the worker whose id begins with a text."""
    matching = [each for each in found if each.session.id.startswith(text.strip().lower())]
    if not matching or not text.strip():
        raise NotFound("worker", text)
    if len(matching) > 1:
        raise Failure(
            f'the id "{text}" is ambiguous: {len(matching)} workers begin with it.',
            code=ExitCode.USAGE,
            advice="a longer prefix of the id",
            details="\n".join(f"{each.session.id}  {_place(each)}" for each in matching),
        )
    return matching[0]


def _action(context: CommandContext, identity: str, why: str) -> Action:
    """Return the entry of a drain in the log of actions."""
    return Action(
        id=new_id(context.now),
        verb="drain",
        target=f"worker:{identity}",
        actor=context.app.actor,
        note=check_note("why", why),
    )


def _report(
    context: CommandContext, chosen: Sequence[WorkerState], answers: dict[str, bool]
) -> None:
    if context.output.as_json:
        told = [{"id": each, "asked": asked} for each, asked in answers.items()]
        context.output.json({"workers": told})
        return
    for each in {each.session.id: each for each in chosen}.values():
        word = "draining" if answers[each.session.id] else "already gone:"
        runs = f", {counted(len(each.runs), 'run')} to finish" if each.runs else ""
        context.output.line(f"{word} {each.session.id} ({_place(each)}){runs}")
    if not chosen:
        inform("no worker is alive.")


def _place(worker: WorkerState) -> str:
    return f"{worker.session.host} {worker.session.pid}"
