"""How values become columns of a database, and how rows become values.

Instants are microseconds, JSON is text. Rows of equal text share the parsed value, except for
arguments: a job may change its arguments.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.limit_keys import limits_of
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.schedule import Pause, Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import UniqueKey
from sempre.stores.columns import (
    EXECUTIONS,
    KINDS,
    SCHEDULES,
    STATES,
    Column,
    Converters,
    Reader,
    Writer,
    word_of,
)

__all__ = [
    "EXECUTION",
    "SCHEDULE",
    "TAKEN",
    "Lane",
    "claim_fields",
    "instant",
    "is_one_off",
    "json_text",
    "key_text",
    "lane",
    "microseconds",
    "queue_of",
    "read_execution",
    "read_schedule",
    "read_taken",
    "storable_text",
    "tag_text",
    "tags_within",
    "write_changed_execution",
    "write_execution",
    "write_moved_schedule",
    "write_schedule",
    "write_snapshot",
    "write_unique",
]

Row = Sequence[Any]
LONGEST_KEY = 500
MICROSECOND = timedelta(microseconds=1)
_text_of = json.JSONEncoder(separators=(",", ":")).encode


# Rows that are read together were mostly written together, at a few equal instants.
_instant = lru_cache(maxsize=4096)(instant_of)


def microseconds(value: datetime | None) -> int | None:
    """Return an instant in its stored form."""
    return None if value is None else microseconds_of(value)


def instant(value: int | None) -> datetime | None:
    """Return a stored instant."""
    return None if value is None else _instant(value)


def json_text(value: object) -> str:
    """Return JSON in its short form; escapes keep characters that UTF-8 cannot encode."""
    return "{}" if value == {} else _text_of(value)


def storable_text(text: str) -> str:
    """Return a text that every database accepts: an error may quote any characters."""
    if text.isascii() and "\0" not in text:
        return str(text)
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def key_text(key: str) -> str:
    """Return the stored form of a unique key: a digest of a long key, as an index has a limit."""
    written = storable_text(key)
    if len(written) <= LONGEST_KEY:
        return written
    return f"sha256:{sha256(written.encode()).hexdigest()}"


Lane = Literal["slots", "manual", "single", "limited"]
"""What waits together: rows of schedules, those that pass every switch, one-off work, and one-off
work with a limit, which only planned claims start."""


def lane(queue: str, which: Lane) -> str:
    """Return the lane in which rows of a queue wait."""
    return f"{which}/{queue}"


def queue_of(lane: str) -> str:
    """Return the queue whose rows wait in a lane."""
    return lane.partition("/")[2]


def is_one_off(lane: str) -> bool:
    """Return whether one-off work waits in a lane."""
    return lane.partition("/")[0] == "single"


def _lane_of(row: Execution) -> str:
    if row.schedule_id is None:
        return lane(row.snapshot.queue, "limited" if row.snapshot.limits else "single")
    return lane(row.snapshot.queue, "manual" if row.kind is Kind.MANUAL else "slots")


def tag_text(tag: str) -> str:
    """Return the text by which a tag is found in the stored tags."""
    return f"\n{tag}\n"


def _tags_text(tags: Sequence[str]) -> str:
    return "\n".join(["", *tags, ""]) if tags else ""


def tags_within(stored: str) -> list[str]:
    """Return the tags of a schedule."""
    return stored.split("\n")[1:-1]


_READ: Converters = {
    "instant": _instant,
    "flag": bool,
    "kind": KINDS.__getitem__,
    "state": STATES.__getitem__,
}
_WRITTEN: Converters = {
    "flag": int,
    "kind": word_of,
    "state": word_of,
    "prose": storable_text,
}


def _changing(columns: Iterable[Column]) -> list[Column]:
    """Return the id and the columns that are written with every change."""
    return [each for each in columns if each.name == "id" or each.changes == "always"]


# Schedules

SCHEDULE = Reader(Schedule, SCHEDULES.fields, _READ, ("definition", "pause"))
_declared = Writer(
    SCHEDULES.fields,
    _WRITTEN,
    (
        *("definition", "args", "paused", "paused_until", "pause_note", "pause_actor"),
        *("live_name", "folded_name", "job", "tags", "enabled", "retention", "keep"),
        "audit_stamp",
    ),
)
_moved = Writer(_changing(SCHEDULES.fields), _WRITTEN, ("audit_stamp",))


def write_schedule(schedule: Schedule, stamp: str | None) -> dict[str, Any]:
    """Return the columns of a schedule."""
    declared, pause = schedule.definition, schedule.pause
    return _declared.write(
        schedule,
        write_rules(declared),
        json_text(declared.args),
        int(pause is not None),
        microseconds(pause.until) if pause else None,
        storable_text(pause.note) if pause else "",
        storable_text(pause.actor) if pause else "",
        None if schedule.deleted else schedule.name,
        schedule.name.casefold(),
        declared.job,
        _tags_text(declared.tags),
        int(declared.enabled),
        declared.retention // MICROSECOND if declared.retention else None,
        declared.keep,
        stamp,
    )


def write_moved_schedule(schedule: Schedule, stamp: str | None) -> dict[str, Any]:
    """Return the columns of a schedule that change while the definition stays."""
    return _moved.write(schedule, stamp)


def read_schedule(row: Row) -> Schedule:
    """Return the schedule of a row of `schedule_columns`."""
    definition, pause = read_definition(row[_DEFINITION]), None
    if row[_ARGS] != "{}":
        definition = copy_with(definition, args=json.loads(row[_ARGS]))
    if row[_PAUSED]:
        until, note, actor = row[_PAUSED + 1 :]
        pause = Pause(until=instant(until), note=note, actor=actor)
    return SCHEDULE.read(row, definition, pause)


_DEFINITION, _ARGS, _PAUSED = range(len(SCHEDULE.columns), len(SCHEDULE.columns) + 3)


# Executions

# The fields that a claim sets, and the fields that waiting one-off work lacks.
_CLAIM = ("started_at", "state", "session", "leased_until", "schedule_id", "reason", "held_by")
EXECUTION = Reader(Execution, EXECUTIONS.fields, _READ, ("snapshot", "leased_until"))
TAKEN = Reader(
    Execution,
    [each for each in EXECUTIONS.fields if each.name not in {*_CLAIM, "fence"}],
    _READ,
    ("snapshot", "fence", *_CLAIM),
)
_AFTER_EXECUTION, _AFTER_TAKEN = len(EXECUTION.columns), len(TAKEN.columns)
_inserted = Writer(
    EXECUTIONS.fields,
    _WRITTEN,
    (
        *("name", "revision", "rules", "args", "job", "queue", "lane", "priority", "ended_at"),
        *("limit_key", "rate_key"),
    ),
)
_changed = Writer(_changing(EXECUTIONS.fields), _WRITTEN, ("ended_at",))


def write_execution(row: Execution, own: tuple[str | None, str | None]) -> dict[str, Any]:
    """Return the columns of an execution; `own` is the snapshot that the row carries, if any."""
    snapshot = row.snapshot
    return _inserted.write(
        row,
        snapshot.name,
        snapshot.revision,
        *own,
        snapshot.job,
        snapshot.queue,
        _lane_of(row),
        snapshot.priority,
        microseconds(row.ended_at),
        *_limit_keys(snapshot),
    )


def _limit_keys(snapshot: Snapshot) -> tuple[str, str]:
    """Return the keys of the concurrency and of the rate; empty without such a limit."""
    if not snapshot.limits:
        return "", ""
    keys = {each.limit.word: each.key for each in limits_of(snapshot)}
    return keys.get("concurrency", ""), keys.get("rate", "")


def write_unique(unique: UniqueKey | None) -> dict[str, Any]:
    """Return the columns of a unique key, which only one-off work has."""
    if unique is None:
        return {"unique_key": None, "unique_mode": None, "unique_period": None}
    period = unique.period // MICROSECOND
    return {
        "unique_key": key_text(unique.key),
        "unique_mode": unique.mode,
        "unique_period": period,
    }


def write_changed_execution(row: Execution) -> dict[str, Any]:
    """Return the columns of an execution that change during its life."""
    return _changed.write(row, microseconds(row.ended_at))


def read_execution(row: Row) -> Execution:
    """Return the execution of a row of `row_columns`."""
    name, revision, rules, args, lease = row[_AFTER_EXECUTION:]
    arguments = {} if args == "{}" else json.loads(args)
    snapshot = copy_with(read_snapshot(rules), name=name, revision=revision, args=arguments)
    return EXECUTION.read(row, snapshot, instant(lease))


def claim_fields(session: str, now: datetime, lease: datetime | None) -> tuple[Any, ...]:
    """Return the fields that executions of one claim have in common, for `read_taken`."""
    return now, State.RUNNING, session, lease, None, "", ""


def read_taken(row: Row, args: dict[str, Json], claim: tuple[Any, ...], fence: int) -> Execution:
    """Return the one-off work of a row of `taken_columns` that has just been claimed."""
    name, revision, rules = row[_AFTER_TAKEN : _AFTER_TAKEN + 3]
    snapshot = copy_with(_named_snapshot(rules, name, revision), args=args)
    taken = TAKEN.read(row, snapshot, fence, *claim)
    # No other code refers to this value yet, so the value is completed rather than copied.
    own = vars(taken)
    own["attempt"] += 1
    if own["first_started_at"] is None:
        own["first_started_at"] = claim[0]
    return taken


@lru_cache(maxsize=1024)
def _named_snapshot(rules: str, name: str, revision: int) -> Snapshot:
    return copy_with(read_snapshot(rules), name=name, revision=revision)


def write_snapshot(snapshot: Snapshot) -> tuple[str, str]:
    """Return the rules of a snapshot and its arguments, as text."""
    return write_rules(snapshot), json_text(snapshot.args)
