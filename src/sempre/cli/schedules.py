"""Schedules as commands show them: the state, the last run, and the history drawn in one line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sempre.app.health.failures import failing
from sempre.cli.context import CommandContext
from sempre.cli.executions import EXECUTION
from sempre.cli.fields import Field, Fields
from sempre.cli.times import format_age, format_duration, json_instant, zone_of
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.domain.switch import Switch, stopping_schedule

__all__ = ["LIGHTS", "SCHEDULE", "Summary", "history_bar", "state_text", "summaries_of"]

LIGHTS = {
    "ok": "*",
    "late": "~",
    "failing": "x",
    "paused": "=",
    "stopped": "#",
    "waiting": "+",
    "disabled": "-",
    "never ran": "o",
    "ended": ".",
    "broken": "!",
}
"""The light of each state of a schedule: a shape, so that it needs no colour."""
BARS = ".:|"
RUNS = 30
AT_ONCE = 100
WORDS = {State.SUCCEEDED: "ok", State.SCHEDULED: "retrying", State.PENDING: "retrying"}


@dataclass(frozen=True)
class Summary:
    """A schedule, its past executions with the newest slot first, and the present.

    Attributes:
        history: executions that ran, run, wait for a retry, or were decided not to run.
        late_after: how long after its slot a waiting execution counts as late.
        outcomes: the last executions that succeeded or failed, the newest end first.
        stopped_by: the switch that stops the schedule, if any.
        waits_for: the limit that holds an execution of the schedule back; empty without one.
    """

    schedule: Schedule
    history: Sequence[Execution]
    now: datetime
    late_after: timedelta
    outcomes: Sequence[Execution] = ()
    stopped_by: Switch | None = None
    waits_for: str = ""

    @property
    def last(self) -> Execution | None:
        """The latest execution that ran."""
        return next((row for row in self.history if row.started_at is not None), None)

    @property
    def state(self) -> str:
        """The most important of the states that the schedule is in."""
        schedule, now = self.schedule, self.now
        waiting = schedule.next_run_at
        states = {
            "broken": bool(schedule.broken),
            "disabled": not schedule.definition.enabled,
            "paused": schedule.pause is not None and schedule.pause.holds(now),
            "stopped": self.stopped_by is not None,
            "waiting": bool(self.waits_for),
            "failing": failing(schedule, self.outcomes, now) is not None,
            "late": waiting is not None and waiting + self.allowance < now,
            "ended": schedule.ended,
            "never ran": self.last is None,
        }
        return next((word for word, holds in states.items() if holds), "ok")

    @property
    def allowance(self) -> timedelta:
        """How long after its slot an execution may start on time: jitter is no lateness."""
        return self.late_after + self.schedule.definition.jitter


def summaries_of(context: CommandContext, schedules: Iterable[Schedule]) -> Iterator[Summary]:
    """Yield the summaries of schedules; one query reads the history of many."""
    settings, left = context.app.settings, iter(schedules)
    switches = context.read(context.store.switches())
    while some := list(islice(left, AT_ONCE)):
        ids, late_after = [each.id for each in some], settings.sweep + settings.grace
        latest = context.read(context.store.latest(ids, limit=RUNS))
        outcomes = context.read(context.store.outcomes(ids, limit=_outcomes_of(some)))
        for schedule in some:
            rows, now = latest[schedule.id], context.now
            history = [row for row in rows if _is_past(row, now)]
            held = (row.held_by for row in rows if row.is_live and row.occupies_slot)
            yield Summary(
                schedule,
                history,
                now,
                late_after,
                outcomes.get(schedule.id, ()),
                stopped_by=stopping_schedule(switches, schedule),
                waits_for=next(filter(None, held), ""),
            )


def _outcomes_of(schedules: Sequence[Schedule]) -> int:
    """Return how many outcomes decide whether any of these schedules is failing."""
    return max(each.definition.alert_after for each in schedules)


def history_bar(history: Sequence[Execution]) -> str:
    """Draw runs, oldest first: height is duration, `x` failed, `>` runs now, `-` did not run."""
    times = [row.took or timedelta(0) for row in history]
    # Runs of milliseconds are drawn flat: their differences are noise.
    longest = max((timedelta(seconds=1), *times))
    marks = [_mark(row, time / longest) for row, time in zip(history, times, strict=True)]
    return "".join(reversed(marks))


def state_text(summary: Summary, context: CommandContext) -> str:
    """Return the state of a schedule, with the reason if it does not run."""
    schedule, pause, switch = summary.schedule, summary.schedule.pause, summary.stopped_by
    if summary.state == "broken":
        return f"broken: {schedule.broken}"
    if summary.state == "stopped" and switch is not None:
        why = ": ".join(filter(None, (switch.actor, switch.reason)))
        return f"stopped by the switch {switch.name}" + (f" ({why})" if why else "")
    if summary.state == "waiting":
        return f"waits for {summary.waits_for}"
    if summary.state != "paused" or pause is None:
        return summary.state
    until = f" until {context.shown_in_table(pause.until)}" if pause.until else ""
    why = ": ".join(filter(None, (pause.actor, pause.note)))
    return f"paused{until}" + (f" ({why})" if why else "")


def _is_past(row: Execution, now: datetime) -> bool:
    """Return whether an execution ran, or its slot came and was decided otherwise."""
    decided = row.run_at <= now and not row.is_live and row.state is not State.SUPERSEDED
    return row.started_at is not None or decided


def _is_failure(row: Execution) -> bool:
    """Return whether an execution failed, for good or until its retry."""
    return row.state is State.FAILED or (row.is_live and row.failures > 0)


def _mark(row: Execution, height: float) -> str:
    if _is_failure(row):
        return "x"
    if row.state is State.RUNNING:
        return ">"
    if row.state is not State.SUCCEEDED:
        return "-"
    return BARS[min(len(BARS) - 1, int(height * len(BARS)))]


def _pause_json(schedule: Schedule) -> dict[str, object] | None:
    pause = schedule.pause
    if pause is None:
        return None
    return {"until": json_instant(pause.until), "note": pause.note, "actor": pause.actor}


def _next_slot(summary: Summary) -> datetime | None:
    """Return the next slot, unless the schedule is stopped."""
    is_stopped = summary.state in ("paused", "stopped", "waiting", "disabled", "broken")
    return None if is_stopped else summary.schedule.next_run_at


def _next_text(summary: Summary, context: CommandContext) -> str:
    slot = _next_slot(summary)
    if slot is None:
        return state_text(summary, context)
    return context.shown_in_table(slot)


def _left_text(summary: Summary) -> str:
    slot, now = _next_slot(summary), summary.now
    if slot is None:
        return ""
    if summary.state == "late":
        return f"late {format_duration(now - slot)}"
    return format_duration(slot - now) if slot > now else "due"


def _last_text(summary: Summary, _context: CommandContext) -> str:
    last = summary.last
    if last is None:
        return ""
    at = last.started_at if last.state is State.RUNNING else last.finished_at
    word = WORDS.get(last.state, str(last.state))
    return f"{word} {format_age(at or last.run_at, summary.now)}"


def _last_json(last: Execution | None, redact: Sequence[str]) -> dict[str, object] | None:
    return None if last is None else EXECUTION.json(last, redact)


SCHEDULE = Fields[Summary](
    Field("", lambda each: LIGHTS[each.state], column=""),
    Field("name", lambda each: each.schedule.name, column="NAME", flexible=14),
    Field("state", lambda each: each.state),
    Field("job", lambda each: each.schedule.definition.job),
    Field(
        "when",
        lambda each: each.schedule.definition.grid.explain(),
        column="WHEN",
        below=True,
        flexible=28,
    ),
    Field("timezone", lambda each: zone_of(each.schedule.definition.grid)),
    Field("queue", lambda each: each.schedule.definition.queue),
    Field("tags", lambda each: each.schedule.definition.tags),
    Field("enabled", lambda each: each.schedule.definition.enabled),
    Field("pause", lambda each: _pause_json(each.schedule)),
    Field("broken", lambda each: each.schedule.broken or None),
    Field("stopped_by", lambda each: each.stopped_by.name if each.stopped_by else None),
    Field("waits_for", lambda each: each.waits_for or None),
    Field(
        "next_run_at",
        lambda each: each.schedule.next_run_at,
        column="NEXT",
        text=_next_text,
        flexible=24,
    ),
    Field("", _left_text, column="LEFT"),
    Field("last", lambda each: each.last, column="LAST", mask=_last_json, text=_last_text),
    Field("", lambda each: each.last.took if each.last else None, column="TOOK"),
    Field("", lambda each: history_bar(each.history), column="RUNS", below=True),
    Field("revision", lambda each: each.schedule.revision),
    grid=lambda each: each.schedule.definition.grid,
)
