"""Limits of the memory store: counted by scans of its rows, under its lock."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from sempre.domain.execution import Execution
from sempre.domain.limit_keys import PARKED, KeyedLimit, limits_of, parked_under, rank_of
from sempre.domain.limits import Rate
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.limits import Opened
from sempre.ports.messages import Reading, Waiting
from sempre.stores.limit_room import BULK, GENEROSITY, Admissions, Crowd, Opening, Rank
from sempre.stores.memory.operation import Operation
from sempre.stores.memory.tables import Tables

__all__ = ["MemoryLimits", "RoomInMemory", "note_start", "park", "parked"]


class RoomInMemory:
    """The facts of the memory store about limits, each as of the first time it was asked for."""

    def __init__(self, tables: Tables) -> None:
        """Read tables that are locked."""
        self._tables = tables
        self._running: dict[str, int] = {}
        self._starts: dict[tuple[str, datetime], int] = {}

    def running(self, key: str) -> int:
        """Return how many executions run under a key."""
        if key not in self._running:
            rows = (row for row in self._tables.unended.values() if row.state is State.RUNNING)
            counted = (any(each.key == key for each in limits_of(row.snapshot)) for row in rows)
            self._running[key] = sum(counted)
        return self._running[key]

    def starts_after(self, key: str, instant: datetime) -> int:
        """Return how many starts under a key are younger than an instant."""
        if (key, instant) not in self._starts:
            starts = self._tables.limit_starts.get(key, ())
            self._starts[key, instant] = sum(start > instant for start in starts)
        return self._starts[key, instant]

    def newest_start(self, key: str, number: int) -> datetime:
        """Return the instant of the newest start under a key (1), the one before (2), and so on."""
        return sorted(self._tables.limit_starts[key])[-number]

    def first_parked(self, key: str, count: int) -> list[Rank]:
        """Return the ranks of the parked executions of a key that go first."""
        return [rank_of(row) for row in parked(self._tables, key)[:count]]


def parked(tables: Tables, key: str) -> list[Execution]:
    """Return the parked executions of a key, the first ones first."""
    holder = parked_under(key)
    rows = (row for row in tables.unended.values() if row.is_live and row.held_by == holder)
    return sorted(rows, key=rank_of)


def note_start(tables: Tables, row: Execution, now: datetime) -> None:
    """Record the start of an execution under its rate, and drop starts that count no more."""
    for each in limits_of(row.snapshot):
        if isinstance(each.limit, Rate):
            longest = max(each.limit.period, tables.limit_periods.get(each.key, timedelta(0)))
            tables.limit_periods[each.key] = longest
            known = tables.limit_starts.get(each.key, [])
            young = [start for start in known if start > now - longest]
            tables.limit_starts[each.key] = [*young, now]


def park(tables: Tables, admissions: Admissions, now: datetime) -> None:
    """Park the executions that an operation refused, and those that wait for its full limits."""
    for identity, full in admissions.parked.items():
        _hold(tables, tables.executions[identity], full)
    for crowd in admissions.crowds.values():
        waiting = [row for row in tables.unended.values() if _waits_in(row, crowd, now)]
        for row in sorted(waiting, key=lambda row: (row.due_at, row.id))[:BULK]:
            _hold(tables, row, crowd.full)


def _hold(tables: Tables, row: Execution, full: KeyedLimit) -> None:
    if row.is_live:
        tables.put(copy_with(row, held_by=full.holder, reason=full.reason))


def _waits_in(row: Execution, crowd: Crowd, now: datetime) -> bool:
    if not row.is_live or row.held_by or row.due_at > now:
        return False
    keys = [each.key for each in limits_of(row.snapshot)]
    return keys[:1] == [crowd.first_key] and crowd.full.key in keys


class MemoryLimits(ABC):
    """The operation of the port on executions that wait for limits."""

    @abstractmethod
    def _at_once(self) -> Operation:
        """Return the context of one operation."""

    def open_limits(
        self, keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        """Free parked executions of these keys, as many as there is room for."""
        with self._at_once() as (tables, now):
            known = _parked_keys(tables, after)
            asked = sorted(keys) if keys is not None else known[:limit]
            extra = GENEROSITY if keys is None else 0
            openings = [_open(tables, key, now, limit, extra) for key in asked]
            freed = tuple(Waiting.of(row) for each in openings for row in each.freed)
            opens = {key: at for each in openings for key, at in each.opens.items()}
            last = asked[-1] if keys is None and len(asked) == limit else ""
            return Reading(now, Opened(freed, opens, last))


def _parked_keys(tables: Tables, after: str) -> list[str]:
    held: Iterable[str] = {row.held_by for row in tables.unended.values() if row.is_live}
    keys = (name.removeprefix(PARKED) for name in held if name.startswith(PARKED))
    return sorted(key for key in keys if key > after)


def _open(tables: Tables, key: str, now: datetime, limit: int, extra: int) -> Opening:
    opening = Opening(key, RoomInMemory(tables), now, extra=extra)
    opening.add(parked(tables, key)[:limit])
    for row, full in opening.moved:
        _hold(tables, row, full)
    free = [copy_with(row, held_by="", reason="", due_at=now) for row in opening.freed]
    for row in free:
        tables.put(row)
    opening.freed = free
    return opening
