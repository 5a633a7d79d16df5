"""Attempts, sessions, switches, ranges and other small records as texts."""

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sempre.domain.execution import SlotRange
from sempre.domain.planning.plan import Change, Plan
from sempre.domain.states import Kind, State
from sempre.grids.instants import EPOCH, EPOCH_DAY
from sempre.ports.messages import (
    Attempt,
    Candidate,
    Enqueued,
    Pass,
    Report,
    Rollup,
    Session,
    Settlement,
    Stretch,
    Switch,
    Tick,
    View,
    report_of_pass,
)
from sempre.stores.redis.encoding import (
    instant,
    json_text,
    read_execution,
    read_schedule,
    stamp,
)

__all__ = [
    "days_of",
    "paired",
    "read_attempt",
    "read_candidate",
    "read_instant",
    "read_pass",
    "read_range",
    "read_receipt",
    "read_report",
    "read_rollup",
    "read_session",
    "read_stretch",
    "read_switch",
    "read_tick",
    "read_view",
    "sorted_attempts",
    "write_attempt",
    "write_loss",
    "write_report",
    "write_session",
    "write_switch",
]

WIDTH = 19  # of an instant
PLACE = 15  # of the number that distinguishes ranges of one first slot


def read_view(found: Sequence[Any]) -> View:
    """Return a schedule with its rows."""
    schedule, rows = found
    read = map(read_execution, rows)
    return View(read_schedule(schedule), tuple(sorted(read, key=lambda row: row.id)))


def read_candidate(found: Sequence[Any]) -> Candidate:
    """Return an execution with its schedule's view and the switch that stops it, if any."""
    row, view, switch = found
    return Candidate(
        read_execution(row),
        read_view(view) if view else None,
        read_switch(switch) if switch else None,
    )


def write_attempt(settlement: Settlement) -> str:
    """Return the text of an attempt, to which the store adds when and how the attempt ended."""
    claimed = settlement.execution
    began = stamp(claimed.started_at)
    return json_text([claimed.fence, claimed.session, began, settlement.result, settlement.error])


def write_loss(change: Change) -> str:
    """Return the text of the attempt that a change ends as lost; empty if there is none."""
    if not change.loss:
        return ""
    return write_attempt(Settlement(change.before, Plan(), error=change.loss))


def sorted_attempts(found: dict[str, str]) -> list[tuple[str, str]]:
    """Return the attempts of an execution, in order: the text and the ending of each."""
    pairs = sorted(found.items(), key=lambda pair: pair[1])
    return [(text, key.partition(":")[2]) for key, text in pairs]


def read_attempt(execution_id: str, text: str, ending: str) -> Attempt:
    """Return an attempt of an execution."""
    _, finished, state, rest = text.split(" ", 3)
    fence, session, started, result, error = json.loads(rest)
    times = instant(started or finished), instant(finished)
    how = ending == "late", ending == "lost"
    return Attempt(execution_id, fence, session, *times, State(state), result, error, *how)


def write_report(report: Report) -> str:
    """Return the text of a progress report, without its instant and fence."""
    return json_text([report.done, report.total, report.note])


def read_report(found: Sequence[str]) -> Report:
    """Return the progress report of an execution from its instant, its fence and its text."""
    identity, text = found
    fence, _, rest = text[WIDTH:].partition(" ")
    done, total, note = json.loads(rest)
    return Report(identity, int(fence), done, total, note, instant(text[:WIDTH]))


def write_session(session: Session) -> str:
    """Return the text that describes a session."""
    data = session.host, session.pid, session.queues, session.jobs, session.tzdata, session.release
    return json_text(data)


def read_session(found: Sequence[Any]) -> Session:
    """Return a session from its id, its start and description, its lease and its draining."""
    identity, text, lease, draining = found
    host, pid, queues, jobs, tzdata, release = json.loads(text[WIDTH:])
    said = host, pid, tuple(queues), tuple(jobs), tzdata, release
    return Session(identity, *said, instant(text[:WIDTH]), instant(lease), draining == 1)


def write_switch(switch: Switch) -> dict[str, str]:
    """Return the fields of a switch."""
    return {
        "target": switch.target,
        "mode": switch.mode,
        "reason": switch.reason,
        "actor": switch.actor,
        "until_at": stamp(switch.until),
    }


def read_switch(found: Sequence[Any]) -> Switch:
    """Return a switch from its name, its fields and, if given, its number of rejections."""
    name, target, mode, reason, actor, until, *rejected = found
    ends = instant(until) if until else None
    return Switch(name, target, mode, reason, actor, ends, *map(int, rejected))


def read_instant(found: str) -> datetime | None:
    """Return an instant, or None for an empty text."""
    return instant(found) if found else None


def read_receipt(found: Sequence[Any]) -> Enqueued:
    """Return the receipt of a piece of work."""
    identity, created, rejected_by, failures, until = found
    waits_until = instant(until) if until else None
    return Enqueued(identity, created == 1, rejected_by, failures, waits_until)


def read_tick(found: Sequence[Any]) -> Tick:
    """Return the answer to a heartbeat: what a worker has to know."""
    alive, next_due_at, pass_due_at, cancelled, held, has_expired, store, drain = found
    return Tick(
        alive=alive == 1,
        next_due_at=instant(next_due_at) if next_due_at else None,
        pass_due_at=instant(pass_due_at),
        cancelled=tuple(sorted(cancelled)),
        held=frozenset(map(int, held)),
        has_expired=has_expired == 1,
        store=store,
        drain=drain == 1,
    )


def paired(flat: Sequence[str]) -> dict[str, str]:
    """Return the hash of a flat list, in which a script alternates keys and values."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def read_stretch(found: Sequence[Any]) -> Stretch:
    """Return how many schedules were checked, the last one, and the suspect ones."""
    count, last, suspect = found
    return Stretch(count, last, tuple(suspect))


def read_pass(found: Sequence[Any], now: datetime = EPOCH) -> Pass:
    """Return the maintenance pass; in a new store, a pass is due at once."""
    due_at, holder, finished_at, report = found
    return Pass(
        due_at=instant(due_at) if due_at else now,
        holder=holder or "",
        finished_at=instant(finished_at) if finished_at else None,
        report=report_of_pass(report or "{}"),
    )


def read_range(schedule_id: str, text: str) -> SlotRange:
    """Return a range of slots from its first slot, a number, its last slot, count and reason."""
    first, last = text[:WIDTH], text[WIDTH + PLACE : WIDTH + PLACE + WIDTH]
    count, reason = text[WIDTH + PLACE + WIDTH :].split(" ", 1)
    return SlotRange(
        schedule_id=schedule_id,
        first=instant(first),
        last=instant(last),
        count=int(count),
        reason=reason,
    )


def days_of(found: dict[str, str]) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return the sums of purged executions, by day, state and kind.

    The kind is missing in sums of an older release.
    """
    sums: dict[tuple[str, ...], dict[str, str]] = {}
    for key, value in found.items():
        *of, what = key.split(" ")
        sums.setdefault(tuple(of), {})[what] = value
    return sorted(sums.items(), key=lambda each: each[0])


def read_rollup(schedule_id: str, of: Sequence[str], kept: dict[str, str]) -> Rollup:
    """Return the count and run time of purged executions of a day, state and kind."""
    day, state, *kinds = of
    sums = int(kept["count"]), int(kept["microseconds"]) / 10**6
    kind = Kind(kinds[0]) if kinds else None
    return Rollup(schedule_id, _day(int(day)), State(state), *sums, kind)


def _day(number: int) -> str:
    return (date.fromordinal(EPOCH_DAY) + timedelta(days=number)).isoformat()
