"""The load of records of another store into the memory store."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.values import copy_with
from sempre.ports.load import Record, ending_of
from sempre.ports.messages import Attempt, Rollup
from sempre.ports.run_logs import RunLog
from sempre.stores.memory.operation import Operation
from sempre.stores.memory.tables import Tables

__all__ = ["MemoryLoad"]

K = TypeVar("K")
V = TypeVar("V")


class MemoryLoad(ABC):
    """The operation of the port that loads records."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def load(self, records: Sequence[Record]) -> int:
        """Write records that are unknown; attempts and logs after their executions."""
        with self._at_once() as (tables, _):
            ordered = sorted(records, key=lambda each: isinstance(each, Attempt | RunLog))
            return sum(_load(tables, each) for each in ordered)


def _load(tables: Tables, record: Record) -> bool:
    """Write a record unless it is known; return whether it was written."""
    match record:
        case Schedule():
            done = _load_schedule(tables, record)
        case Execution():
            done = _load_execution(tables, record)
        case SlotRange():
            done = _add(tables.ranges, record)
        case Rollup():
            done = _keep(tables.rollups, record.key, record)
        case Attempt():
            done = _load_attempt(tables, record)
        case RunLog():
            done = _load_log(tables, record)
        case Action():
            done = _keep(tables.actions, record.id, record)
    return done


def _keep(known: dict[K, V], key: K, value: V) -> bool:
    is_new = key not in known
    known.setdefault(key, value)
    return is_new


def _add(known: list[SlotRange], record: SlotRange) -> bool:
    is_new = record not in known
    known.extend([record] if is_new else [])
    return is_new


def _load_schedule(tables: Tables, schedule: Schedule) -> bool:
    is_named = not schedule.deleted and tables.named(schedule.name) is not None
    if schedule.id in tables.schedules or is_named:
        return False
    tables.schedules[schedule.id] = schedule
    return True


def _load_execution(tables: Tables, row: Execution) -> bool:
    if row.id in tables.executions or _is_slot_taken(tables, row):
        return False
    tables.put(copy_with(row, leased_until=None))
    return True


def _is_slot_taken(tables: Tables, row: Execution) -> bool:
    if row.schedule_id is None or not row.holds_slot:
        return False
    return bool(tables.holders_of((row.schedule_id, row.run_at, row.kind)))


def _load_attempt(tables: Tables, attempt: Attempt) -> bool:
    if attempt.execution_id not in tables.executions:
        return False
    known = tables.attempts[attempt.execution_id]
    key = attempt.fence, ending_of(attempt)
    if key in {(each.fence, ending_of(each)) for each in known}:
        return False
    known.append(attempt)
    return True


def _load_log(tables: Tables, log: RunLog) -> bool:
    if log.execution_id not in tables.executions:
        return False
    known = tables.run_logs.setdefault(log.execution_id, {})
    return _keep(known, log.fence, log)
