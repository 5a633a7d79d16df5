"""The logs of the runs of an execution, as commands show them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sempre.app.presentation.executions import has_ended
from sempre.app.presentation.run_logs import logs_of
from sempre.cli.context import CommandContext
from sempre.domain.execution import Execution
from sempre.errors import NotFound

__all__ = ["NewLines", "execution_of", "follow_logs"]


class NewLines(NamedTuple):
    """Lines that an attempt has written since the last query."""

    attempt: int
    lines: list[str]


def execution_of(context: CommandContext, identity: str) -> Execution:
    """Return an execution by the beginning of its id; NotFound if there is none."""
    found = context.read_one(context.store.candidates([context.execution_id(identity)]))
    if found is None:
        raise NotFound("execution", identity)
    return found.execution


def follow_logs(
    context: CommandContext, identity: str, *, everything: bool, rest: Callable[[], object]
) -> Iterator[NewLines]:
    """Yield the lines of an execution as its runs write them, until the execution has ended.

    Args:
        context: of the command.
        identity: the id of the execution.
        everything: begin with the first attempt, in place of the newest.
        rest: called between two queries.

    Raises:
        NotFound: the execution does not exist, or was purged meanwhile.
    """
    seen: dict[int, int] = {}
    first: int | None = 0 if everything else None
    while True:
        # Before its logs: an execution that has ended has all its lines.
        row = execution_of(context, identity)
        logs = logs_of(context, row)
        if first is None and logs:
            first = logs[-1].fence
        for each in logs:
            if first is not None and each.fence >= first:
                yield NewLines(each.attempt, each.lines.after(seen.get(each.fence, 0)))
                seen[each.fence] = each.lines.total
        if has_ended(row):
            return
        rest()
