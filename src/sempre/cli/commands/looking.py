"""`sempre list`, `show` and `next`: schedules as they are, and what they will do."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import merge
from itertools import islice, takewhile

import click

from sempre.cli.desk import Desk
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.showing import (
    definition_json,
    definition_lines,
    history_rows,
    range_json,
    range_rows,
)
from sempre.cli.summaries import (
    LIGHTS,
    TICK,
    Summary,
    execution_json,
    history_bar,
    seconds_of_run,
    upcoming,
)
from sempre.cli.times import ago, as_json, length
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.errors import SempreError
from sempre.ports.messages import ExecutionQuery, View

__all__ = ["list_schedules", "next_slots", "show", "summaries_of"]

RUNS = 30
PAGE = 500
AT_ONCE = 100
COLUMNS = ("", "NAME", "WHEN", "NEXT", "LEFT", "LAST", "TOOK", "RUNS")


@click.command("list")
@click.argument("text", default="")
@click.option("-l", "--tag", help="Only those with this tag.")
@click.option("--job", help="Only those of this job.")
@click.option("--failing", "only", flag_value="failing", help="Only those whose last run failed.")
@click.option("--paused", "only", flag_value="paused", help="Only those that are paused.")
@click.option("--late", "only", flag_value="late", help="Only those that are late.")
@click.option("--disabled", "only", flag_value="disabled", help="Only those that are disabled.")
@click.option("--broken", "only", flag_value="broken", help="Only those whose grid is broken.")
@click.option("-n", "--limit", type=click.IntRange(1), default=100, help="At most so many.")
@operating
def list_schedules(desk: Desk, *, limit: int, only: str | None, **filters: str | None) -> None:
    """List schedules.

    TEXT is a part of their names. The lights: * ok, ~ late, x failing, = paused, - disabled,
    o never ran, . ended, ! broken, ? not readable here.
    """
    found = summaries_of(desk, _found(desk, **filters))
    wanted = (each for each in found if only is None or each.state == only)
    summaries = list(islice(wanted, limit + 1))
    shown = summaries[:limit]
    unread = [each for each in desk.unread if each.table == "schedules"]
    if desk.output.as_json:
        answer = {"schedules": [each.to_json(desk.redact) for each in shown]}
        left_out = [{"name": each.name, "id": each.id, "reason": each.reason} for each in unread]
        desk.output.json(answer | {"unreadable": left_out})
        return
    rows = [_row(desk, each) for each in shown]
    rows += [("?", each.name, "unreadable", each.reason, *[""] * 4) for each in unread]
    desk.output.table(COLUMNS, rows)
    talk(_footer(shown, is_more=len(summaries) > limit))


@click.command
@click.argument("name")
@click.option("-n", "count", type=click.IntRange(0, 1000), default=10, help="How many executions.")
@operating
def show(desk: Desk, *, name: str, count: int) -> None:
    """Show all about one schedule."""
    view = desk.view(name)
    schedule = view.schedule
    query = ExecutionQuery(schedule_id=schedule.id, limit=count)
    rows = desk.read(desk.store.executions(query)).items if count else ()
    ranges = desk.read(desk.store.ranges(schedule.id, limit=count)) if count else []
    slots = _slots_or_none(view, desk.now, 5)
    [summary] = summaries_of(desk, [schedule])
    if desk.output.as_json:
        answer = {
            **summary.to_json(desk.redact),
            "declared": bool(schedule.declared),
            "definition": definition_json(schedule.definition, desk.redact),
            "notes": list(schedule.definition.grid.notes()),
            "next": [as_json(slot) for slot in slots],
            "executions": [execution_json(row, desk.redact) for row in rows],
            "ranges": [range_json(each, schedule.name) for each in ranges],
        }
        desk.output.json({"schedule": answer})
        return
    grid = schedule.definition.grid
    desk.output.line(f"{LIGHTS[summary.state]} {schedule.name}: {_state_words(desk, summary)}")
    declared = definition_lines(schedule, desk.redact)
    desk.output.lines([f"  {key:<12} {text}" for key, text in declared])
    desk.output.lines([f"  note         {note}" for note in grid.notes()])
    for title, slot in zip(["next", *[""] * len(slots)], slots, strict=False):
        desk.output.line(f"  {title:<12} {desk.shown(slot, grid)} ({ago(slot, desk.now)})")
    if rows:
        desk.output.line("")
        desk.output.table(*history_rows(desk, rows))
    if ranges:
        desk.output.line("")
        desk.output.table(*range_rows(desk, ((each, schedule) for each in ranges)))


@click.command("next")
@click.argument("name", required=False)
@click.option("-n", "count", type=click.IntRange(1, 10_000), default=10, help="How many.")
@click.option("--between", nargs=2, metavar="A B", help="Only slots from A to B.")
@operating
def next_slots(
    desk: Desk, *, name: str | None, count: int, between: tuple[str, str] | None
) -> None:
    """Show what will run, and when.

    Without a NAME it is what all schedules will run, in order.
    """
    views = [desk.view(name)] if name else list(_all_views(desk))
    desk.read(desk.store.last_pass())
    after, until = desk.now, None
    if between:
        after, until = (desk.instant("between", each) for each in between)
        after -= TICK
    chosen = {"strict": name is not None, "overdue": not between}
    lists = [_named(view, after, **chosen) for view in views]
    merged = takewhile(lambda each: until is None or each[0] <= until, merge(*lists, key=_first))
    found = list(islice(merged, count))
    if desk.output.as_json:
        answer = [{"name": view.schedule.name, "run_at": as_json(slot)} for slot, view in found]
        desk.output.json({"next": answer})
        return
    rows = [
        (desk.shown(slot, view.schedule.definition.grid), ago(slot, desk.now), view.schedule.name)
        for slot, view in found
    ]
    desk.output.table(("SLOT", "LEFT", "NAME"), rows)
    if name and not found:
        [summary] = summaries_of(desk, [views[0].schedule])
        talk(f"{name} will not run: {summary.state}.")


def summaries_of(desk: Desk, schedules: Iterable[Schedule]) -> Iterator[Summary]:
    """Yield what is said of schedules in one line each; the store is asked once for many."""
    settings, left = desk.app.settings, iter(schedules)
    while some := list(islice(left, AT_ONCE)):
        latest = desk.read(desk.store.latest([each.id for each in some], limit=RUNS))
        for schedule in some:
            history = [row for row in latest[schedule.id] if _counts(row, desk.now)]
            yield Summary(schedule, history, desk.now, settings.sweep + settings.grace)


def _counts(row: Execution, now: datetime) -> bool:
    return row.started_at is not None or _was_decided(row, now)


def _was_decided(row: Execution, now: datetime) -> bool:
    """Tell a slot that came and did not run; one that was superseded never counted."""
    return row.run_at <= now and not row.is_live and row.state is not State.SUPERSEDED


def _found(desk: Desk, **filters: str | None) -> Iterator[Schedule]:
    return desk.app.schedules.find(
        tag=filters.get("tag"), job=filters.get("job"), text=filters.get("text") or ""
    )


def _row(desk: Desk, summary: Summary) -> tuple[str, ...]:
    schedule = summary.schedule
    name, when = schedule.name, schedule.definition.grid.explain()
    light, bar = LIGHTS[summary.state], history_bar(summary.history)
    slot = schedule.next_run_at
    if slot is None or summary.state in ("paused", "disabled", "broken"):
        return light, name, when, _state_words(desk, summary), "", *_last(summary), bar
    left = length(slot - desk.now) if slot > desk.now else "due"
    if summary.state == "late":
        left = f"late {length(desk.now - slot)}"
    return light, name, when, desk.shown(slot, schedule.definition.grid), left, *_last(summary), bar


def _last(summary: Summary) -> tuple[str, str]:
    last = summary.last
    if last is None:
        return "", ""
    words = {State.SUCCEEDED: "ok", State.SCHEDULED: "retrying", State.PENDING: "retrying"}
    word = words.get(last.state, str(last.state))
    at = last.started_at if last.state is State.RUNNING else last.finished_at
    at = at or last.run_at
    took = seconds_of_run(last)
    return f"{word} {ago(at, summary.now)}", "" if took is None else length(took)


def _state_words(desk: Desk, summary: Summary) -> str:
    schedule, pause = summary.schedule, summary.schedule.pause
    if summary.state == "broken":
        return f"broken: {schedule.broken}"
    if summary.state != "paused" or pause is None:
        return summary.state
    until = f" until {desk.shown(pause.until, schedule.definition.grid)}" if pause.until else ""
    why = ": ".join(filter(None, (pause.actor, pause.note)))
    return f"paused{until}" + (f" ({why})" if why else "")


def _footer(summaries: list[Summary], *, is_more: bool) -> str:
    count = len(summaries)
    parts = [f"{count} schedule{'' if count == 1 else 's'}"]
    for word in ("broken", "late", "failing", "paused", "disabled"):
        some = sum(each.state == word for each in summaries)
        parts += [f"{some} {word}"] if some else []
    more = "; more exist: raise -n" if is_more else ""
    return ", ".join(parts) + more + "."


def _all_views(desk: Desk) -> Iterator[View]:
    after = ""
    while True:
        reading = desk.store.slice(after=after, limit=PAGE)
        views = desk.read(reading)
        yield from views
        ids = [view.schedule.id for view in views] + [each.missing for each in reading.unreadable]
        if len(ids) < PAGE:
            return
        after = max(ids)


def _named(
    view: View, after: datetime, *, strict: bool, overdue: bool
) -> Iterator[tuple[datetime, View]]:
    try:
        for slot in upcoming(view, after=after, overdue=overdue):
            yield slot, view
    except SempreError as error:
        if strict:
            raise
        talk(f"warning: {view.schedule.name} is left out: {error}")


def _first(each: tuple[datetime, View]) -> tuple[datetime, str]:
    return each[0], each[1].schedule.name


def _slots_or_none(view: View, after: datetime, count: int) -> list[datetime]:
    try:
        return list(upcoming(view, after=after, count=count))
    except SempreError as error:
        talk(f"warning: its slots are not known here: {error}")
        return []
