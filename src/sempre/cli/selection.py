"""The executions that a command acts on: named by id, or chosen by filters, with a preview."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from sempre.app.executions.bulk_verbs import Answer
from sempre.app.presentation.executions import EXECUTION
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import context_options, why_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.errors import NotFound
from sempre.errors.wording import counted

__all__ = ["Selection", "act_on", "selection_options"]

SHOWN = 10
MOST = 100_000
Verb = Callable[[Sequence[str]], Iterator[Answer]]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Selection:
    """The executions that a user names or chooses.

    Attributes:
        ids: executions by id; empty if filters choose them.
        filters: the keywords of `app.executions`.
        dry_run: whether the executions are only shown.
        yes: whether no confirmation is asked.
        why: the reason, for the log of actions.
    """

    ids: tuple[str, ...]
    filters: dict[str, Any]
    dry_run: bool = False
    yes: bool = False
    why: str = ""


def selection_options(*states: State) -> Callable[[Function], Function]:
    """Give a command ids and filters, and call it with a Selection.

    Without a state among the options, the filters choose executions in `states`.
    """
    choice = click.Choice([str(state) for state in states])

    def decorate(function: Function) -> Function:
        @click.argument("ids", nargs=-1, metavar="[ID]...")
        @click.option("--state", "state", type=choice, multiple=True, help="Only this state.")
        @click.option("--failed", is_flag=True, help="Short for --state failed.")
        @click.option("-s", "--schedule", metavar="NAME", help="Only executions of this schedule.")
        @click.option("--job", help="Only executions of this job.")
        @click.option("--tag", help="Only executions with this tag.")
        @click.option("--since", metavar="T", help="Slots from an instant, or from 1h ago.")
        @click.option("--until", metavar="T", help="Slots up to an instant, or up to 1h ago.")
        @click.option("--text", metavar="TEXT", help="Only executions whose error has this text.")
        @why_option
        @click.option("--dry-run", is_flag=True, help="Only show the executions.")
        @click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
        @context_options
        @wraps(function)
        def command(context: CommandContext, **options: Any) -> None:  # noqa: ANN401
            function(context, selection=_read_selection(options, states))

        return command

    return decorate


def _read_selection(options: dict[str, Any], states: Sequence[State]) -> Selection:
    ids, rest = tuple(options.pop("ids")), dict(options)
    how = {name: rest.pop(name) for name in ("dry_run", "yes", "why")}
    chosen = [*rest.pop("state"), *([State.FAILED] if rest.pop("failed") else [])]
    filters = {name: value for name, value in rest.items() if value is not None}
    if bool(ids) == bool(filters or chosen):
        allowed = "name executions by id, or choose them by --state, --since, --job and the like"
        raise Failure(f"{allowed}: one of both.", code=ExitCode.USAGE, advice="sempre executions")
    return Selection(ids, {**filters, "state": chosen or list(states)}, **how)


def act_on(context: CommandContext, selection: Selection, verb: Verb, done: str) -> None:
    """Show the executions, ask if filters chose them, act on each, and print the answers."""
    rows = _named(context, selection.ids) if selection.ids else _chosen(context, selection)
    if selection.dry_run or not selection.ids:
        _preview(context, rows, done, alone=selection.dry_run)
    if selection.dry_run:
        return
    if rows and not selection.ids and not selection.yes:
        _confirm(rows, done)
    with _progress(rows, verb([row.id for row in rows])) as answers:
        found = list(answers)
    _print(context, rows, found, done)


def _named(context: CommandContext, ids: Iterable[str]) -> list[Execution]:
    """Return executions by id; NotFound, before any change, if one is missing."""
    wanted = list(dict.fromkeys(map(context.execution_id, ids)))
    found = context.read(context.store.candidates(wanted))
    known = {each.execution.id: each.execution for each in found}
    for identity in wanted:
        if identity not in known:
            raise NotFound("execution", identity)
    return [known[identity] for identity in wanted]


def _chosen(context: CommandContext, selection: Selection) -> list[Execution]:
    filters = dict(selection.filters)
    text = str(filters.pop("text", "")).casefold()
    executions = context.app.executions(**filters).first(MOST + 1)
    if len(executions) > MOST:
        message = f"more than {MOST:,} executions; choose fewer, by --since or --job."
        raise Failure(message, code=ExitCode.REFUSED)
    return [row for row in executions if text in row.reason.casefold()]


def _preview(context: CommandContext, rows: Sequence[Execution], done: str, *, alone: bool) -> None:
    """Show the executions to act on; in JSON only where nothing else is printed."""
    if context.output.as_json:
        if alone:
            found = [EXECUTION.json(row, context.redact) for row in rows]
            context.output.json({"executions": found})
        return
    print_table(context, EXECUTION, rows[:SHOWN])
    more = f" ({len(rows) - SHOWN:,} more than shown)" if len(rows) > SHOWN else ""
    inform(f"{counted(len(rows), 'execution')} to be {done}{more}.")


def _confirm(rows: Sequence[Execution], done: str) -> None:
    if sys.stdin.isatty() and sys.stderr.isatty():
        if click.confirm("Go on?", err=True):
            return
        raise Failure("nothing was changed.", code=ExitCode.REFUSED)
    message = f"{counted(len(rows), 'execution')} would be {done}; confirm with --yes."
    raise Failure(message, code=ExitCode.REFUSED)


@contextmanager
def _progress(rows: Sequence[Execution], answers: Iterator[Answer]) -> Iterator[Iterable[Answer]]:
    """Show a progress bar on a terminal while the answers come."""
    if not sys.stderr.isatty() or len(rows) <= 1:
        yield answers
        return
    with click.progressbar(answers, length=len(rows), file=sys.stderr) as bar:
        yield bar


def _print(
    context: CommandContext, rows: Sequence[Execution], answers: Sequence[Answer], done: str
) -> None:
    refused = [answer for answer in answers if not answer.done]
    if context.output.as_json:
        shown = [answer._asdict() for answer in answers]
        context.output.json({"answers": shown, "done": len(answers) - len(refused)})
    else:
        names = {row.id: row for row in rows}
        for answer in answers[:SHOWN] if len(answers) > SHOWN and not refused else answers:
            row = names[answer.id]
            context.output.line(_line(context, row, answer))
        inform(f"{len(answers) - len(refused):,} of {counted(len(answers), 'execution')} {done}.")
    if refused and len(refused) == len(answers):
        raise click.exceptions.Exit(ExitCode.REFUSED)


def _line(context: CommandContext, row: Execution, answer: Answer) -> str:
    slot = context.shown(row.run_at, row.snapshot.grid)
    word = "ok" if answer.done else "!"
    return f"{word} {row.id} {row.snapshot.name} {slot}: {answer.message}"
