"""Helpers for verbs on schedules: carry out a verb, and report the next slot."""

from collections.abc import Callable, Sequence
from datetime import datetime

from sempre.app import StoredSchedule
from sempre.app.times import json_instant
from sempre.cli.context import CommandContext
from sempre.domain.schedule import Schedule

__all__ = ["apply_to_schedules", "next_text", "report_slot"]

Verb = Callable[[StoredSchedule], bool]


def apply_to_schedules(
    context: CommandContext, names: Sequence[str], verb: Verb, done: str
) -> None:
    """Apply a verb to each schedule, once all are known to exist, and print the results."""
    answers = []
    for schedule in context.schedules(names):
        is_done = verb(schedule)
        next_run_at = json_instant(schedule.row.next_run_at)
        answers.append({"name": schedule.name, "done": is_done, "next_run_at": next_run_at})
        if not context.output.as_json:
            word = done if is_done else f"already {done}"
            context.output.line(f"{word} {schedule.name}{next_text(context, schedule.row)}")
    if context.output.as_json:
        context.output.json({"schedules": answers})


def report_slot(
    context: CommandContext, schedule: StoredSchedule, done: str, slot: datetime
) -> None:
    """Print the change of one slot of a schedule, and the next slot."""
    row = schedule.row
    if context.output.as_json:
        instants = {"slot": json_instant(slot), "next_run_at": json_instant(row.next_run_at)}
        context.output.json({"name": row.name, **instants})
        return
    shown = context.shown(slot, row.definition.grid)
    context.output.line(f"{done} {row.name} {shown}{next_text(context, row)}")


def next_text(context: CommandContext, row: Schedule) -> str:
    """Return the end of a line about a schedule: its next slot."""
    if row.next_run_at is None:
        return ", no next slot"
    return f", next {context.shown(row.next_run_at, row.definition.grid)}"
