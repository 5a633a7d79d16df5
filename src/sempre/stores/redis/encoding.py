"""Encoding of schedules and executions as fields of a hash, and decoding of hashes.

Every value is a text. An instant is 19 digits, microseconds since 1970 plus 10^18: texts sort as
instants do, and no double rounds an instant. An empty text is None. Rows of equal text share the
parsed value, except for arguments: a job may change its arguments.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, replace
from datetime import datetime, timedelta
from types import SimpleNamespace

from sempre.domain.execution import Draft, Execution
from sempre.domain.limit_keys import limits_of
from sempre.domain.limits import Limit, Rate
from sempre.domain.rules import read_definition, read_snapshot, write_rules
from sempre.domain.schedule import Audit, Pause, Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import ENDS
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
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
    "EXECUTION_FIELDS",
    "MICROSECOND",
    "SCHEDULE",
    "SCHEDULE_FIELDS",
    "instant",
    "json_text",
    "length",
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
Row = Sequence[str]
MICROSECOND = timedelta(microseconds=1)
BIAS = 10**18


def stamp(value: datetime | None) -> str:
    """Return the stored text of an instant; an empty text for None."""
    return "" if value is None else _digits(microseconds_of(value))


def _digits(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds + BIAS:019d}"


def length(value: timedelta | None) -> str:
    """Return the stored text of a length of time, which sorts by length; empty for None."""
    return "" if value is None else f"{value // MICROSECOND:019d}"


def instant(text: str) -> datetime:
    """Return the instant of a stored text."""
    return instant_of(int(text) - BIAS)


def _maybe(text: str) -> datetime | None:
    return instant(text) if text else None


def json_text(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def _flag(value: bool) -> str:  # noqa: FBT001 - the flag is the value to write
    return "1" if value else "0"


_READ: Converters = {
    "instant": _maybe,
    "reference": lambda text: text or None,
    "number": int,
    "flag": "1".__eq__,
    "kind": KINDS.__getitem__,
    "state": STATES.__getitem__,
}
_WRITTEN: Converters = {
    "instant": _digits,
    "reference": lambda text: text or "",
    "number": str,
    "flag": _flag,
    "kind": word_of,
    "state": word_of,
}


def _hashed(columns: Iterable[Column]) -> list[Column]:
    """Return columns by their names in a hash, without the id, which is part of the key."""
    return [replace(each, name=each.attribute) for each in columns if each.name != "id"]


def _changing(columns: Iterable[Column]) -> list[Column]:
    return [each for each in columns if each.changes == "always"]


def _defaults_of(kind: type, columns: Iterable[Column]) -> Fields:
    """Return the defaults of a domain class as fields of a hash."""
    defaults = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
    known = [each for each in columns if each.attribute in defaults]
    return Writer(known, _WRITTEN).write(SimpleNamespace(**defaults))


# Schedules

SCHEDULE = Reader(Schedule, SCHEDULES.fields, _READ, ("definition", "pause"))
"""Reads an id and the fields that `SCHEDULE` of rows.lua names."""
SCHEDULE_FIELDS = [each.name for each in _hashed((*SCHEDULE.columns, *SCHEDULES.parts))]
_DEFAULTS_OF_SCHEDULE = _defaults_of(Schedule, _hashed(SCHEDULES.fields))
_AFTER_SCHEDULE = len(SCHEDULE.columns)
_declared = Writer(
    _hashed(SCHEDULES.fields),
    _WRITTEN,
    (
        *("rules", "args", "paused", "paused_until", "pause_note", "pause_actor"),
        *("folded_name", "job", "tags", "retention", "keep", "audit"),
    ),
)
_moved = Writer(_hashed(_changing(SCHEDULES.fields)), _WRITTEN, ("audit",))


def write_schedule(schedule: Schedule) -> Fields:
    """Return the fields of a schedule."""
    declared, pause = schedule.definition, schedule.pause
    return _declared.write(
        schedule,
        write_rules(declared, instant=stamp),
        json_text(declared.args),
        _flag(pause is not None),
        stamp(pause.until) if pause else "",
        pause.note if pause else "",
        pause.actor if pause else "",
        schedule.name.casefold(),
        declared.job,
        "\n".join(["", *declared.tags, ""]),
        length(declared.retention),
        str(declared.keep),
        _AUDITS[schedule.audit],
    )


def write_moved_schedule(schedule: Schedule) -> Fields:
    """Return the fields of a schedule that change without a new definition."""
    return _moved.write(schedule, _AUDITS[schedule.audit])


def read_schedule(row: Row) -> Schedule:
    """Return the schedule of an id and the fields that `SCHEDULE` of rows.lua names."""
    row = _completed(row, SCHEDULE_FIELDS, _DEFAULTS_OF_SCHEDULE)
    rules, args, paused, until, note, actor = row[_AFTER_SCHEDULE:]
    definition, pause = read_definition(rules, instant=instant), None
    if paused == "1":
        pause = Pause(until=_maybe(until), note=note, actor=actor)
    return SCHEDULE.read(row, copy_with(definition, args=json.loads(args)), pause)


def _completed(row: Row, names: Sequence[str], defaults: Fields) -> Row:
    """Return a row with defaults for fields that an older release did not write."""
    if None not in row:
        return row
    pairs = zip(names, row[1:], strict=False)
    found = [defaults[name] if value is None else value for name, value in pairs]
    return [row[0], *found, *row[len(found) + 1 :]]


# The stored texts of audits; for "by next row" a script also stores the stamp of the next row.
_AUDITS: dict[Audit, str] = {
    "sound": "well",
    "needs repair": "astray",
    "by next row": "by row",
}


# Executions

EXECUTION = Reader(Execution, EXECUTIONS.fields, _READ, ("snapshot", "leased_until"))
"""Reads an id and the fields that `ROW` of rows.lua names, before a lease."""
EXECUTION_FIELDS = [each.name for each in _hashed((*EXECUTION.columns, *EXECUTIONS.parts))]
_AFTER_EXECUTION = len(EXECUTION.columns)
_DEFAULTS_OF_EXECUTION = _defaults_of(Execution, _hashed(EXECUTIONS.fields))
_OF_DRAFT = [each for each in EXECUTIONS.fields if each.attribute in Draft.__dataclass_fields__]
_OF_EXECUTION = [each for each in EXECUTIONS.fields if each not in _OF_DRAFT]
_UNTRIED = _defaults_of(Execution, _hashed(_OF_EXECUTION))
_REST = (
    *("name", "revision", "rules", "args", "job", "queue", "priority", "tags"),
    *("unique", "unique_mode", "unique_period", "limit_key", "rate_key", "limits"),
    *("stamp", "ended_at"),
)
_inserted = Writer(_hashed(EXECUTIONS.fields), _WRITTEN, _REST)
_drafted = Writer(_hashed(_OF_DRAFT), _WRITTEN, _REST)
_changed = Writer(_hashed(_changing(EXECUTIONS.fields)), _WRITTEN, ("stamp", "ended_at"))


def write_execution(row: Execution) -> Fields:
    """Return the fields of an execution."""
    return _inserted.write(row, *_rest(row), stamp(row.ended_at))


def write_draft(draft: Draft) -> Fields:
    """Return the fields of a new execution."""
    ended_at = stamp(draft.run_at) if draft.state in ENDS else ""
    return _drafted.write(draft, *_rest(draft), ended_at) | _UNTRIED


def write_changed_execution(row: Execution) -> Fields:
    """Return the fields of an execution that change during its life."""
    return _changed.write(row, sortable_tzdata(row.tzdata), stamp(row.ended_at))


def _rest(draft: Draft) -> tuple[str, ...]:
    snapshot = draft.snapshot
    return (
        snapshot.name,
        str(snapshot.revision),
        write_rules(snapshot, instant=stamp),
        json_text(snapshot.args),
        snapshot.job,
        snapshot.queue,
        str(snapshot.priority),
        "\n".join(["", *snapshot.tags, ""]) if snapshot.tags else "",
        *("", "", ""),  # the unique key, which a script writes
        *_limits(snapshot),
        sortable_tzdata(draft.tzdata),
    )


def _limits(snapshot: Snapshot) -> tuple[str, str, str]:
    """Return the keys of the concurrency and of the rate, and the limits as scripts read them."""
    if not snapshot.limits:
        return "", "", ""
    found = limits_of(snapshot)
    keys = {each.limit.word: each.key for each in found}
    written = [
        [key, limit.word, limit.count, _period(limit), reason] for limit, key, reason in found
    ]
    return keys.get("concurrency", ""), keys.get("rate", ""), json_text(written)


def _period(limit: Limit) -> int:
    return limit.period // MICROSECOND if isinstance(limit, Rate) else 0


def read_execution(row: Row) -> Execution:
    """Return the execution of an id, the fields that `ROW` of rows.lua names, and a lease."""
    row = _completed(row, EXECUTION_FIELDS, _DEFAULTS_OF_EXECUTION)
    name, revision, rules, args, lease = row[_AFTER_EXECUTION:]
    rest = {"name": name, "revision": int(revision), "args": json.loads(args)}
    return EXECUTION.read(row, copy_with(read_snapshot(rules), **rest), _maybe(lease))
