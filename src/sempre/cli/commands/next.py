"""`sempre next`: the next slots of one schedule, or of all in order."""

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from itertools import islice, takewhile
from typing import NamedTuple

import click

from sempre.app.presentation.fields import Field, Fields
from sempre.app.presentation.schedules import summaries_of
from sempre.app.presentation.slots import all_views, upcoming
from sempre.app.times import format_age
from sempre.cli.completions import SCHEDULE_NAME
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table
from sempre.domain.planning.plan import TICK
from sempre.domain.schedule import Schedule
from sempre.errors import SempreError
from sempre.ports.messages import View

__all__ = ["next_slots"]


class _Slot(NamedTuple):
    """A slot that will run."""

    at: datetime
    schedule: Schedule


SLOT = Fields[_Slot](
    Field("run_at", lambda each: each.at, column="SLOT"),
    Field("", lambda each: each.at, column="LEFT", text=lambda e, c: format_age(e.at, c.now)),
    Field("name", lambda each: each.schedule.name, column="NAME", flexible=14),
    grid=lambda each: each.schedule.definition.grid,
)


@click.command("next")
@click.argument("name", type=SCHEDULE_NAME, required=False)
@count_option("-n", "count", what="Slots to show", default=10, most=10_000)
@click.option("--between", nargs=2, metavar="A B", help="Only slots from instant A to instant B.")
@context_options
def next_slots(
    context: CommandContext, *, name: str | None, count: int, between: tuple[str, str] | None
) -> None:
    """Show the next slots of schedules.

    Without NAME, of all schedules in order.
    """
    views = [context.view(name)] if name else list(all_views(context))
    context.read(context.store.last_pass())
    after, until = context.now, None
    if between:
        after, until = (context.instant("between", each) for each in between)
        after -= TICK
    options = {"strict": name is not None, "overdue": not between}
    lists = [_slots(view, after, **options) for view in views]
    merged = merge(*lists, key=lambda each: (each.at, each.schedule.name))
    found = list(islice(takewhile(lambda each: until is None or each.at <= until, merged), count))
    if context.output.as_json:
        context.output.json({"next": [SLOT.json(each) for each in found]})
        return
    print_table(context, SLOT, found)
    if name and not found:
        [summary] = summaries_of(context, [views[0].schedule])
        inform(f"{name} will not run: {summary.state}.")


def _slots(view: View, after: datetime, *, strict: bool, overdue: bool) -> Iterator[_Slot]:
    try:
        for slot in upcoming(view, after=after, overdue=overdue):
            yield _Slot(slot, view.schedule)
    except SempreError as error:
        if strict:
            raise
        inform(f"warning: {view.schedule.name} is left out: {error}")
