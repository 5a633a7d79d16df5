"""The small tables as values: ranges, attempts, sessions, switches, the pass and roll-ups."""

import json
from collections.abc import Sequence
from typing import Any

from sempre.domain.execution import SlotRange
from sempre.domain.states import Kind, State
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.load import ending_of
from sempre.ports.messages import Attempt, Pass, Report, Rollup, Session, Switch, report_of_pass
from sempre.stores.sql.encoding import instant, json_text, microseconds, storable_text

__all__ = [
    "read_attempt",
    "read_pass",
    "read_range",
    "read_report",
    "read_rollup",
    "read_session",
    "read_switch",
    "write_attempt",
    "write_range",
    "write_report",
    "write_rollup",
    "write_session",
    "write_switch",
]

Row = Sequence[Any]


def write_range(passed: SlotRange) -> dict[str, Any]:
    """Return the columns of a range of slots."""
    return {
        "schedule_id": passed.schedule_id,
        "first_at": microseconds_of(passed.first),
        "last_at": microseconds_of(passed.last),
        "slots": passed.count,
        "reason": storable_text(passed.reason),
    }


def read_range(row: Row) -> SlotRange:
    """Return the range of slots of a row."""
    first, last = instant_of(row[1]), instant_of(row[2])
    return SlotRange(schedule_id=row[0], first=first, last=last, count=row[3], reason=row[4])


def write_attempt(attempt: Attempt) -> dict[str, Any]:
    """Return the columns of an attempt."""
    return {
        "execution_id": attempt.execution_id,
        "fence": attempt.fence,
        "session": attempt.session,
        "started_at": microseconds_of(attempt.started_at),
        "finished_at": microseconds_of(attempt.finished_at),
        "state": attempt.state.value,
        "result": json_text(attempt.result),
        "error": storable_text(attempt.error),
        "ending": ending_of(attempt),
    }


def read_attempt(row: Row) -> Attempt:
    """Return the attempt of a row."""
    started, finished = instant_of(row[3]), instant_of(row[4])
    how = row[8] in ("late", "orphan"), row[8] == "lost"
    ended = State(row[5]), json.loads(row[6]), row[7], *how
    return Attempt(row[0], row[1], row[2], started, finished, *ended)


def write_report(report: Report, reported_at: int) -> dict[str, Any]:
    """Return the columns of a report."""
    return {
        "execution_id": report.execution_id,
        "fence": report.fence,
        "told_at": reported_at,
        "report": json_text([report.done, report.total, storable_text(report.note)]),
    }


def read_report(row: Row) -> Report:
    """Return the report of a row."""
    done, total, note = json.loads(row[3])
    return Report(row[0], row[1], done, total, note, instant_of(row[2]))


def write_session(session: Session) -> dict[str, Any]:
    """Return the columns of a session."""
    return {
        "id": session.id,
        "host": storable_text(session.host),
        "pid": session.pid,
        "queues": json_text(session.queues),
        "jobs": json_text(session.jobs),
        "tzdata": session.tzdata,
        "release_number": session.release,
        "started_at": microseconds(session.started_at),
        "leased_until": microseconds(session.leased_until),
    }


def read_session(row: Row) -> Session:
    """Return the session of a row."""
    queues, jobs = tuple(json.loads(row[3])), tuple(json.loads(row[4]))
    times = instant(row[7]), instant(row[8])
    return Session(row[0], row[1], row[2], queues, jobs, row[5], row[6], *times, bool(row[9]))


def write_switch(switch: Switch) -> dict[str, Any]:
    """Return the columns of a switch."""
    told_by = {"reason": storable_text(switch.reason), "actor": storable_text(switch.actor)}
    return vars(switch) | told_by | {"until_at": microseconds(switch.until)}


def read_switch(row: Row) -> Switch:
    """Return the switch of a row."""
    name, target, mode, reason, actor, until = row
    return Switch(name, target, mode, reason, actor, instant(until))


def read_pass(row: Row) -> Pass:
    """Return the maintenance pass of its row."""
    return Pass(instant_of(row[0]), row[1], instant(row[2]), report_of_pass(row[3]))


def read_rollup(row: Row) -> Rollup:
    """Return the counts of one day."""
    kind = Kind(row[3]) if row[3] else None
    return Rollup(row[0], row[1], State(row[2]), row[4], row[5] / 1_000_000, kind)


def write_rollup(rollup: Rollup) -> dict[str, Any]:
    """Return the columns of the counts of one day."""
    return {
        "schedule_id": rollup.schedule_id,
        "day": rollup.day,
        "state": rollup.state.value,
        "kind": rollup.kind.value if rollup.kind else "",
        "executions": rollup.count,
        "microseconds": round(rollup.seconds * 1_000_000),
    }
