"""What is said of a schedule in one line: its light, its last run, its history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice

from sempre.cli.times import as_json, zone_of
from sempre.domain.execution import Execution
from sempre.domain.planning.steps import first_slot_from
from sempre.domain.redaction import redacted, redacted_text
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, State
from sempre.grids.grid import following
from sempre.ports.messages import View

__all__ = ["LIGHTS", "Summary", "execution_json", "history_bar", "seconds_of_run", "upcoming"]

TICK = timedelta(microseconds=1)
LIGHTS = {
    "ok": "*",
    "late": "~",
    "failing": "x",
    "paused": "=",
    "disabled": "-",
    "never ran": "o",
    "ended": ".",
    "broken": "!",
}
"""The light of each state a schedule can be in; by shape, so that it needs no colour."""
BARS = ".:|"


@dataclass(frozen=True)
class Summary:
    """A schedule, its executions so far, newest slot first, and the present.

    Attributes:
        history: what has run, runs, waits for another try, or was decided not to run.
        late_after: how long after its slot a next row counts as late.
    """

    schedule: Schedule
    history: Sequence[Execution]
    now: datetime
    late_after: timedelta

    @property
    def last(self) -> Execution | None:
        """The latest execution that ran."""
        return next((row for row in self.history if row.started_at is not None), None)

    @property
    def state(self) -> str:
        """The one word that matters most about it."""
        schedule, now = self.schedule, self.now
        waiting = schedule.next_run_at
        stopped = {
            "broken": bool(schedule.broken),
            "disabled": not schedule.definition.enabled,
            "paused": schedule.pause is not None and schedule.pause.holds(now),
            "late": waiting is not None and waiting + self.allowance < now,
            "failing": self.last is not None and _is_failure(self.last),
            "ended": schedule.ended,
            "never ran": self.last is None,
        }
        return next((word for word, holds in stopped.items() if holds), "ok")

    @property
    def allowance(self) -> timedelta:
        """How long after its slot it may start without being late: jitter is no lateness."""
        return self.late_after + self.schedule.definition.jitter

    def to_json(self, redact: Sequence[str] = ()) -> dict[str, object]:
        """Return it as `--json` has it."""
        schedule, declared, pause = self.schedule, self.schedule.definition, self.schedule.pause
        stop = pause and {"until": as_json(pause.until), "note": pause.note, "actor": pause.actor}
        return {
            "name": schedule.name,
            "state": self.state,
            "job": declared.job,
            "when": declared.grid.explain(),
            "timezone": zone_of(declared.grid),
            "queue": declared.queue,
            "tags": list(declared.tags),
            "enabled": declared.enabled,
            "pause": stop,
            "broken": schedule.broken or None,
            "next_run_at": as_json(schedule.next_run_at),
            "last": self.last and execution_json(self.last, redact),
            "revision": schedule.revision,
        }


def execution_json(row: Execution, redact: Sequence[str] = ()) -> dict[str, object]:
    """Return an execution as `--json` has it, without secrets and what stands under `redact`."""
    seconds, names = seconds_of_run(row), (*redact, *row.snapshot.redact)
    return {
        "id": row.id,
        "schedule": row.snapshot.name if row.schedule_id else None,
        "job": row.snapshot.job,
        "kind": str(row.kind),
        "state": str(row.state),
        "reason": redacted_text(row.reason, names),
        "actor": row.actor,
        "run_at": as_json(row.run_at),
        "due_at": as_json(row.due_at),
        "started_at": as_json(row.started_at),
        "finished_at": as_json(row.finished_at),
        "seconds": seconds,
        "attempt": row.attempt,
        "failures": row.failures,
        "crashes": row.crashes,
        "queue": row.snapshot.queue,
        "held_by": row.held_by or None,
        "args": redacted(dict(row.snapshot.args), names),
    }


def seconds_of_run(row: Execution) -> float | None:
    """Return how long the latest attempt took; None while it runs or if it never did."""
    waits = row.state in LIVE or row.state is State.RUNNING
    if row.started_at is None or row.finished_at is None or waits:
        return None
    return max(0.0, (row.finished_at - row.started_at).total_seconds())


def history_bar(history: Sequence[Execution]) -> str:
    """Draw runs, oldest first.

    Height is duration, `x` a failure, `>` runs now, `-` did not run.
    """
    lengths = [seconds_of_run(row) or 0.0 for row in history]
    # What takes milliseconds is flat: their differences are noise.
    longest = max(1.0, *lengths) if lengths else 1.0
    pairs = zip(history, lengths, strict=True)
    marks = [_mark(row, seconds / longest) for row, seconds in pairs]
    return "".join(reversed(marks))


def upcoming(
    view: View, *, after: datetime, count: int | None = None, overdue: bool = True
) -> Iterator[datetime]:
    """Yield the slots of a schedule that will run after an instant, as things stand.

    A next row that waits since before it comes first, if `overdue` is wanted. What is skipped,
    paused, past `until` or beyond `limit` is left out.

    Raises:
        UnknownGrid: the grid's class lives in the user's code, which is not imported here.
    """
    schedule = view.schedule
    if not schedule.wants_next_row or schedule.ended or schedule.broken:
        return iter(())
    limit = schedule.definition.limit
    left = [each for each in (count, limit and limit - schedule.starts) if each is not None]
    waiting = [schedule.next_run_at] if overdue and schedule.next_run_at else []
    passed = [slot for slot in waiting if slot <= after]
    return islice(chain(passed, _slots(view, after)), min(left, default=None))


def _slots(view: View, after: datetime) -> Iterator[datetime]:
    schedule = view.schedule
    declared = schedule.definition
    skipped = {row.run_at for row in view.rows if row.state is State.SKIPPED}
    start = after + TICK
    if schedule.pause and schedule.pause.until:
        start = max(start, schedule.pause.until)
    for slot in _walk(schedule, start):
        if declared.until and slot > declared.until:
            return
        if slot not in skipped:
            yield slot


def _walk(schedule: Schedule, start: datetime) -> Iterator[datetime]:
    grid = schedule.definition.grid
    cursor = schedule.cursor if grid.relative else start - TICK
    slot = first_slot_from(grid, cursor, start)
    while slot is not None:
        yield slot
        slot = following(grid, slot)


def _is_failure(row: Execution) -> bool:
    """Tell what has failed, for good or until its next try."""
    return row.state is State.FAILED or (row.is_live and row.failures > 0)


def _mark(row: Execution, height: float) -> str:
    if _is_failure(row):
        return "x"
    if row.state is State.RUNNING:
        return ">"
    if row.state is not State.SUCCEEDED:
        return "-"
    return BARS[min(len(BARS) - 1, int(height * len(BARS)))]
