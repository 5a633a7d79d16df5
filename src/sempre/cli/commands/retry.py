"""`sempre retry`, `cancel` and `discard`: act on executions, by id or by filter."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from sempre.app.executions.bulk_verbs import Answer, cancel_all, discard_all, retry_all
from sempre.cli.context import CommandContext
from sempre.cli.selection import Selection, act_on, selection_options
from sempre.domain.states import State

__all__ = ["cancel", "discard", "retry"]


@click.command
@selection_options(State.FAILED, State.MISSED, State.SKIPPED, State.CANCELLED)
def retry(context: CommandContext, *, selection: Selection) -> None:
    """Run ended executions again.

    They failed, or were missed, skipped or cancelled. An execution keeps its id, slot and key; its
    retries are counted anew. Slots that passed without an execution have none to retry:
    `sempre backfill` runs those.
    """
    act_on(context, selection, _verb(context, retry_all, selection), "retried")


@click.command
@selection_options(State.PENDING, State.SCHEDULED, State.RUNNING)
def cancel(context: CommandContext, *, selection: Selection) -> None:
    """Cancel waiting and running executions.

    Workers are asked to end running ones. The next execution of a schedule cannot be cancelled:
    skip its slot, or pause the schedule.
    """
    act_on(context, selection, _verb(context, cancel_all, selection), "cancelled")


@click.command
@selection_options(State.FAILED)
def discard(context: CommandContext, *, selection: Selection) -> None:
    """Discard failed executions.

    They leave the list of failures, and stay on record as cancelled.
    """
    act_on(context, selection, _verb(context, discard_all, selection), "discarded")


def _verb(
    context: CommandContext, verb: Callable[..., Iterator[Answer]], selection: Selection
) -> Callable[[Sequence[str]], Iterator[Answer]]:
    how: dict[str, Any] = {"actor": context.app.actor, "why": selection.why}
    return lambda ids: verb(context.app.engine, ids, **how)
