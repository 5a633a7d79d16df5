"""`sempre list`: schedules with state, next slot and last run, a line each."""

from itertools import islice

import click

from sempre.app.health.failing_work import failed_last
from sempre.app.health.reader import Reader
from sempre.app.presentation.schedules import SCHEDULE, Summary, summaries_of
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options, count_option
from sempre.cli.output import inform
from sempre.cli.tables import print_table

__all__ = ["list_schedules"]


@click.command("list")
@click.argument("text", default="")
@click.option("-l", "--tag", help="Only schedules with this tag.")
@click.option("--job", help="Only schedules of this job.")
@click.option(
    "--failing", "only", flag_value="failing", help="Only what `sempre status` reports as failing."
)
@click.option("--paused", "only", flag_value="paused", help="Only paused schedules.")
@click.option("--stopped", "only", flag_value="stopped", help="Only schedules a switch stops.")
@click.option("--late", "only", flag_value="late", help="Only late schedules.")
@click.option("--disabled", "only", flag_value="disabled", help="Only disabled schedules.")
@click.option("--broken", "only", flag_value="broken", help="Only schedules whose grid is broken.")
@count_option("-n", "--limit", what="Most schedules", default=100)
@context_options
def list_schedules(
    context: CommandContext, *, text: str, limit: int, only: str | None, **filters: str | None
) -> None:
    """List schedules.

    TEXT is a part of the names to list. The first column is the state: * ok, ~ late, x failing,
    = paused, # stopped by a switch, + waiting for a limit, - disabled, o never ran, . ended,
    ! broken, ? unreadable here.
    """
    schedules = context.app.schedules.find(text=text, tag=filters["tag"], job=filters["job"])
    if only == "failing":
        # The history of most schedules need not be read.
        suspects = set(failed_last(Reader(context.app.engine)))
        schedules = (each for each in schedules if each.name in suspects)
    found = (
        each for each in summaries_of(context, schedules) if only is None or each.state == only
    )
    summaries = list(islice(found, limit + 1))
    shown = summaries[:limit]
    unread = [each for each in context.unread if each.table == "schedules"]
    if context.output.as_json:
        answer = [SCHEDULE.json(each, context.redact) for each in shown]
        left_out = [{"name": each.name, "id": each.id, "reason": each.reason} for each in unread]
        context.output.json({"schedules": answer, "unreadable": left_out})
        return
    left_out_rows = [("?", each.name, "unreadable", each.reason) for each in unread]
    print_table(context, SCHEDULE, shown, further=left_out_rows)
    inform(_footer(shown, is_more=len(summaries) > limit))


def _footer(summaries: list[Summary], *, is_more: bool) -> str:
    count = len(summaries)
    parts = [f"{count} schedule{'' if count == 1 else 's'}"]
    for word in ("broken", "late", "failing", "paused", "stopped", "waiting", "disabled"):
        some = sum(each.state == word for each in summaries)
        parts += [f"{some} {word}"] if some else []
    more = f"; more exist: raise -n {count}" if is_more else ""
    return ", ".join(parts) + more + "."
