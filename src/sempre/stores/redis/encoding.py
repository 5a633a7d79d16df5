"""How schedules and executions become fields of a hash and come back: every value is a text.

An instant is 19 digits, microseconds since 1970 plus 10^18, which sort as the instants do and pass
through no double. An empty text is None. What is parsed is shared between rows of the same text,
but for arguments: whoever runs a job may change those.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.execution import Draft, Execution
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.states import ENDS, Kind, State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of

__all__ = [
    "MICROSECOND",
    "audit_stamp",
    "instant",
    "json_text",
    "read_execution",
    "read_schedule",
    "stamp",
    "write_changed_execution",
    "write_draft",
    "write_execution",
    "write_moved_schedule",
    "write_schedule",
]

Fields = dict[str, str]
MICROSECOND = timedelta(microseconds=1)
BIAS = 10**18


def stamp(value: datetime | None) -> str:
    """Return an instant as it is stored."""
    return "" if value is None else f"{microseconds_of(value) + BIAS:019d}"


def instant(text: str) -> datetime:
    """Return a stored instant."""
    return instant_of(int(text) - BIAS)


def _maybe(text: str) -> datetime | None:
    return instant(text) if text else None


def json_text(value: object) -> str:
    """Return JSON in its short form."""
    return json.dumps(value, separators=(",", ":"))


def audit_stamp(tzdata: str) -> str:
    """Return the version of the zones as a text that sorts like it."""
    parts = (int(part) for part in tzdata.split(".") if part.isdigit())
    return "v" + ".".join(f"{part:010d}" for part in parts)


# Schedules


def write_schedule(schedule: Schedule) -> Fields:
    """Return the fields of a schedule."""
    declared, pause = schedule.definition, schedule.pause
    return {
        **write_moved_schedule(schedule),
        "name": schedule.name,
        "folded_name": schedule.name.casefold(),
        "job": declared.job,
        "tags": "\n".join(["", *declared.tags, ""]),
        "rules": write_rules(declared, instant=stamp),
        "args": json_text(declared.args),
        "created_at": stamp(schedule.created_at),
        "paused": _flag(pause is not None),
        "paused_until": stamp(pause.until) if pause else "",
        "pause_note": pause.note if pause else "",
        "pause_actor": pause.actor if pause else "",
        "deleted": _flag(schedule.deleted),
        "declared": schedule.declared,
    }


def write_moved_schedule(schedule: Schedule) -> Fields:
    """Return the fields of a schedule that change while what was declared stays."""
    return {
        "cursor": stamp(schedule.cursor),
        "revision": str(schedule.revision),
        "starts": str(schedule.starts),
        "started": _flag(schedule.started),
        "broken": schedule.broken,
        "ended": _flag(schedule.ended),
        "next_run_at": stamp(schedule.next_run_at),
        "audit": _audit(schedule),
    }


def read_schedule(row: Sequence[str]) -> Schedule:
    """Return the schedule of an id and the fields that `SCHEDULE` of rows.lua names."""
    pause = None
    if row[9] == "1":
        pause = Pause(until=_maybe(row[10]), note=row[11], actor=row[12])
    return Schedule(
        id=row[0],
        name=row[1],
        definition=copy_with(read_definition(row[2], instant=instant), args=json.loads(row[3])),
        created_at=instant(row[4]),
        cursor=instant(row[5]),
        revision=int(row[6]),
        starts=int(row[7]),
        started=row[8] == "1",
        pause=pause,
        broken=row[13],
        ended=row[14] == "1",
        deleted=row[15] == "1",
        next_run_at=_maybe(row[16]),
        declared=row[17],
    )


def _audit(schedule: Schedule) -> str:
    """Say whether maintenance has to look at a schedule; where its next row says so, "by row"."""
    if schedule.deleted or schedule.ended:
        return "well"
    if not schedule.started:
        return "astray" if schedule.definition.enabled else "well"
    if not schedule.wants_next_row:
        return "well"
    return "astray" if schedule.broken or schedule.next_run_at is None else "by row"


def _flag(value: bool) -> str:  # noqa: FBT001 - the value is what is written
    return "1" if value else "0"


# Executions


def write_execution(row: Execution) -> Fields:
    """Return the fields of an execution."""
    born = {"created_at": stamp(row.created_at)}
    return write_draft(row) | write_changed_execution(row) | born


def write_draft(draft: Draft) -> Fields:
    """Return the fields of an execution that comes into being."""
    snapshot = draft.snapshot
    return {
        "schedule_id": draft.schedule_id or "",
        "name": snapshot.name,
        "revision": str(snapshot.revision),
        "kind": draft.kind.value,
        "state": draft.state.value,
        "run_at": stamp(draft.run_at),
        "due_at": stamp(draft.due_at),
        "job": snapshot.job,
        "queue": snapshot.queue,
        "priority": str(snapshot.priority),
        "rules": write_rules(snapshot, instant=stamp),
        "args": json_text(snapshot.args),
        "reason": draft.reason,
        "actor": draft.actor,
        "tzdata": draft.tzdata,
        "stamp": audit_stamp(draft.tzdata),
        "ended_at": stamp(draft.run_at) if draft.state in ENDS else "",
        "tags": "\n".join(["", *snapshot.tags, ""]) if snapshot.tags else "",
        **_UNTRIED,
    }


_UNTRIED = {
    **dict.fromkeys(("attempt", "failures", "crashes", "fence"), "0"),
    **dict.fromkeys(("first_started_at", "started_at", "finished_at", "session", "held_by"), ""),
    **dict.fromkeys(("unique", "unique_mode", "unique_period"), ""),
}


def write_changed_execution(row: Execution) -> Fields:
    """Return the fields of an execution that change during its life."""
    ended = row.state in ENDS
    return {
        "state": row.state.value,
        "due_at": stamp(row.due_at),
        "reason": row.reason,
        "actor": row.actor,
        "attempt": str(row.attempt),
        "failures": str(row.failures),
        "crashes": str(row.crashes),
        "first_started_at": stamp(row.first_started_at),
        "started_at": stamp(row.started_at),
        "finished_at": stamp(row.finished_at),
        "ended_at": stamp(row.finished_at or row.run_at) if ended else "",
        "fence": str(row.fence),
        "session": row.session,
        "held_by": row.held_by,
        "tzdata": row.tzdata,
        "stamp": audit_stamp(row.tzdata),
    }


def read_execution(row: Sequence[str]) -> Execution:
    """Return the execution of an id, the fields that `ROW` of rows.lua names, and a lease."""
    snapshot = copy_with(
        read_snapshot(row[8]), name=row[2], revision=int(row[3]), args=_args(row[9])
    )
    return Execution(
        id=row[0],
        schedule_id=row[1] or None,
        kind=Kind(row[4]),
        state=State(row[5]),
        run_at=instant(row[6]),
        due_at=instant(row[7]),
        snapshot=snapshot,
        reason=row[10],
        actor=row[11],
        tzdata=row[12],
        created_at=instant(row[13]),
        attempt=int(row[14]),
        failures=int(row[15]),
        crashes=int(row[16]),
        first_started_at=_maybe(row[17]),
        started_at=_maybe(row[18]),
        finished_at=_maybe(row[19]),
        fence=int(row[20]),
        session=row[21],
        held_by=row[22],
        leased_until=_maybe(row[23]),
    )


def _args(text: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(text)
