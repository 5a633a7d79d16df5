"""How values become columns and come back: instants as microseconds, JSON as text.

What is parsed is shared between rows of the same text, but for arguments: whoever runs a job may
change those.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution, build_execution
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.schedule import Pause, Schedule, build_schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import ENDS, Kind, State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import UniqueKey

__all__ = [
    "KINDS",
    "STATES",
    "Lane",
    "audit_stamp",
    "blank_claim",
    "instant",
    "json_text",
    "key_text",
    "lane",
    "microseconds",
    "queue_of",
    "read_execution",
    "read_schedule",
    "read_taken",
    "read_waiting",
    "tag_text",
    "tags_within",
    "told",
    "write_changed_execution",
    "write_execution",
    "write_moved_schedule",
    "write_schedule",
    "write_snapshot",
]

Row = Sequence[Any]
LONGEST_KEY = 500
MICROSECOND = timedelta(microseconds=1)
_text_of = json.JSONEncoder(separators=(",", ":")).encode


# What is read together was mostly written together, at the same few instants.
_instant = lru_cache(maxsize=4096)(instant_of)


def microseconds(value: datetime | None) -> int | None:
    """Return an instant as it is stored."""
    return None if value is None else microseconds_of(value)


def instant(value: int | None) -> datetime | None:
    """Return a stored instant."""
    return None if value is None else _instant(value)


def json_text(value: object) -> str:
    """Return JSON in its short form; escapes keep what UTF-8 cannot say."""
    return "{}" if value == {} else _text_of(value)


def told(text: str) -> str:
    """Return a text that every database accepts: an error may quote anything at all."""
    if text.isascii() and "\0" not in text:
        return str(text)
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def key_text(key: str) -> str:
    """Return a unique key as it is stored: a long one as its digest, for an index has a limit."""
    written = told(key)
    if len(written) <= LONGEST_KEY:
        return written
    return f"sha256:{sha256(written.encode()).hexdigest()}"


Lane = Literal["slots", "manual", "single"]
"""What waits together: rows of schedules, those that pass every switch, and one-off work."""


def lane(queue: str, which: Lane) -> str:
    """Return where rows of a queue wait."""
    return f"{which}/{queue}"


def queue_of(lane: str) -> str:
    """Return whose rows wait in a lane."""
    return lane.partition("/")[2]


def _lane_of(row: Execution) -> str:
    manual: Lane = "manual" if row.kind is Kind.MANUAL else "slots"
    return lane(row.snapshot.queue, manual if row.schedule_id is not None else "single")


def tag_text(tag: str) -> str:
    """Return a tag as it is found inside of the stored tags."""
    return f"\n{tag}\n"


def _tags_text(tags: Sequence[str]) -> str:
    return "\n".join(["", *tags, ""]) if tags else ""


def tags_within(stored: str) -> list[str]:
    """Return the tags of a schedule."""
    return stored.split("\n")[1:-1]


@lru_cache(maxsize=64)
def audit_stamp(tzdata: str) -> str:
    """Return the version of the zones as a text that sorts like it."""
    parts = (int(part) for part in tzdata.split(".") if part.isdigit())
    return "v" + ".".join(f"{part:010d}" for part in parts)


# Schedules


def write_schedule(schedule: Schedule, stamp: str | None) -> dict[str, Any]:
    """Return the columns of a schedule."""
    declared, pause = schedule.definition, schedule.pause
    return {
        **write_moved_schedule(schedule, stamp),
        "name": schedule.name,
        "live_name": None if schedule.deleted else schedule.name,
        "folded_name": schedule.name.casefold(),
        "job": declared.job,
        "tags": _tags_text(declared.tags),
        "definition": write_rules(declared),
        "args": json_text(declared.args),
        "created_at": microseconds_of(schedule.created_at),
        "enabled": int(declared.enabled),
        "paused": int(pause is not None),
        "paused_until": microseconds(pause.until) if pause else None,
        "pause_note": told(pause.note) if pause else "",
        "pause_actor": told(pause.actor) if pause else "",
        "deleted": int(schedule.deleted),
        "declared": schedule.declared,
    }


def write_moved_schedule(schedule: Schedule, stamp: str | None) -> dict[str, Any]:
    """Return the columns of a schedule that change while what was declared stays."""
    return {
        "id": schedule.id,
        "cursor_at": microseconds_of(schedule.cursor),
        "revision": schedule.revision,
        "starts": schedule.starts,
        "started": int(schedule.started),
        "broken": told(schedule.broken),
        "ended": int(schedule.ended),
        "next_run_at": microseconds(schedule.next_run_at),
        "audit_stamp": stamp,
    }


def read_schedule(row: Row) -> Schedule:
    """Return the schedule of a row of `schedule_columns`."""
    definition, pause = read_definition(row[2]), None
    if row[3] != "{}":
        definition = copy_with(definition, args=json.loads(row[3]))
    if row[9]:
        pause = Pause(until=instant(row[10]), note=row[11], actor=row[12])
    return build_schedule(
        id=row[0],
        name=row[1],
        definition=definition,
        created_at=_instant(row[4]),
        cursor=_instant(row[5]),
        revision=row[6],
        starts=row[7],
        started=bool(row[8]),
        pause=pause,
        broken=row[13],
        ended=bool(row[14]),
        deleted=bool(row[15]),
        next_run_at=instant(row[16]),
        declared=row[17],
    )


# Executions

KINDS = {kind.value: kind for kind in Kind}
STATES = {state.value: state for state in State}
"""Every kind and state by its word; to look one up is quicker than to make it of the word."""


def write_execution(
    row: Execution, own: tuple[str | None, str | None], *, unique: UniqueKey | None = None
) -> dict[str, Any]:
    """Return the columns of an execution, with the snapshot of its own that it may carry."""
    snapshot = row.snapshot
    rules, args = own
    return {
        **write_changed_execution(row),
        "schedule_id": row.schedule_id,
        "name": snapshot.name,
        "revision": snapshot.revision,
        "kind": row.kind.value,
        "run_at": microseconds_of(row.run_at),
        "job": snapshot.job,
        "queue": snapshot.queue,
        "lane": _lane_of(row),
        "priority": snapshot.priority,
        "rules": rules,
        "args": args,
        "created_at": microseconds_of(row.created_at),
        "unique_key": key_text(unique.key) if unique else None,
        "unique_mode": unique.mode if unique else None,
        "unique_period": unique.period // MICROSECOND if unique else None,
    }


def write_changed_execution(row: Execution) -> dict[str, Any]:
    """Return the columns of an execution that change during its life."""
    ended = row.state in ENDS
    return {
        "id": row.id,
        "state": row.state.value,
        "due_at": microseconds_of(row.due_at),
        "reason": told(row.reason),
        "actor": told(row.actor),
        "attempt": row.attempt,
        "failures": row.failures,
        "crashes": row.crashes,
        "first_started_at": microseconds(row.first_started_at),
        "started_at": microseconds(row.started_at),
        "finished_at": microseconds(row.finished_at),
        "ended_at": microseconds_of(row.finished_at or row.run_at) if ended else None,
        "fence": row.fence,
        "session": row.session,
        "held_by": row.held_by,
        "tzdata": row.tzdata,
    }


def read_execution(row: Row) -> Execution:
    """Return the execution of a row of `row_columns`."""
    arguments = _read_arguments(row[9])
    snapshot = copy_with(read_snapshot(row[8]), name=row[2], revision=row[3], args=arguments)
    return build_execution(
        id=row[0],
        schedule_id=row[1],
        kind=KINDS[row[4]],
        state=STATES[row[5]],
        run_at=_instant(row[6]),
        due_at=_instant(row[7]),
        snapshot=snapshot,
        reason=row[10],
        actor=row[11],
        tzdata=row[12],
        created_at=_instant(row[13]),
        attempt=row[14],
        failures=row[15],
        crashes=row[16],
        first_started_at=instant(row[17]),
        started_at=instant(row[18]),
        finished_at=instant(row[19]),
        fence=row[20],
        session=row[21],
        held_by=row[22],
        leased_until=instant(row[23]),
    )


def read_waiting(row: Row) -> Execution:
    """Return the one-off work of a row of `taken_columns`."""
    waiting = copy_with(
        _BLANK, state=STATES[row[5]], attempt=row[12], fence=row[18], session=row[19]
    )
    first_started_at, started_at = instant(row[15]), instant(row[16])
    waiting = copy_with(waiting, first_started_at=first_started_at, started_at=started_at)
    return copy_with(waiting, **_own_fields(row, _read_arguments(row[8])))


def blank_claim(session: str, now: datetime, lease: datetime | None) -> Execution:
    """Return what executions that are claimed together have in common, for `read_taken`."""
    claimed = copy_with(_BLANK, state=State.RUNNING, session=session, leased_until=lease)
    return copy_with(claimed, first_started_at=now, started_at=now)


def read_taken(row: Row, args: dict[str, Json], claimed: Execution, fence: int) -> Execution:
    """Return the one-off work of a row of `taken_columns` that has just been claimed."""
    taken = copy_with(claimed, fence=fence, attempt=row[12] + 1, **_own_fields(row, args))
    if row[15] is None:
        return taken
    return copy_with(taken, first_started_at=instant_of(row[15]))


def _own_fields(row: Row, args: dict[str, Json]) -> dict[str, Any]:
    """Return the fields of a row of `taken_columns` that a claim leaves as they are."""
    rules = _named_snapshot(row[7], row[2], row[3])
    return {
        "id": row[0],
        "due_at": _instant(row[1]),
        "snapshot": copy_with(rules, args=args),
        "kind": KINDS[row[4]],
        "run_at": _instant(row[6]),
        "actor": row[9],
        "tzdata": row[10],
        "created_at": _instant(row[11]),
        "failures": row[13],
        "crashes": row[14],
        "finished_at": instant(row[17]),
    }


@lru_cache(maxsize=1024)
def _named_snapshot(rules: str, name: str, revision: int) -> Snapshot:
    return copy_with(read_snapshot(rules), name=name, revision=revision)


_EPOCH = instant_of(0)
# To be filled in, which is quicker than to make an execution of so many fields.
_BLANK = Execution(
    id="",
    kind=Kind.ENQUEUED,
    run_at=_EPOCH,
    due_at=_EPOCH,
    created_at=_EPOCH,
    snapshot=Snapshot(name="", job=""),
)


def _read_arguments(text: str) -> dict[str, Json]:
    arguments: dict[str, Json] = {} if text == "{}" else json.loads(text)
    return arguments


def write_snapshot(snapshot: Snapshot) -> tuple[str, str]:
    """Return the rules of a snapshot and its arguments, as text."""
    return write_rules(snapshot), json_text(snapshot.args)
