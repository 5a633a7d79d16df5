"""The audit: checks the invariants, numbered as in the design, after every write.

The audit reads the store's rows and judges by the grids themselves, never by planning's results.
Invariants 7 and 8, of a lost broker and of unique keys, have contracts of their own.
"""

# ruff: noqa: S101 - a contract asserts

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, cast

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import TRANSITIONS, Kind, State
from sempre.domain.switch import Switch, stopping
from sempre.errors import BrokenGrid, UnknownGrid
from sempre.grids.grid import following
from sempre.ports.messages import ExecutionQuery, ScheduleQuery
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import TZDATA, check_invariants, now_of

__all__ = ["Audit", "audited"]

TICK = timedelta(microseconds=1)
WRITES = {
    "create",
    "apply",
    "claim",
    "claim_exclusively",
    "claim_one_off",
    "settle",
    "enqueue",
    "cancel",
    "mark_announced",
    "purge",
}
MANY = 10_000


class Audit:
    """The rows of a store after the last write; the next write is judged against them."""

    def __init__(self, store: Store) -> None:
        """Begin with an empty store."""
        self._store = store
        self._rows: dict[str, Execution] = {}
        self._schedules: dict[str, Schedule] = {}
        self._switches: tuple[Switch, ...] = ()
        self._fence = 0

    def check(self) -> None:
        """Assert every invariant, given the rows before the write."""
        rows = {row.id: row for row in self._all_rows()}
        schedules = {each.id: each for each in self._all_schedules()}
        for identity, row in rows.items():
            self._check_row(self._rows.get(identity), row)
        self._check_fences(rows)
        for identity, schedule in schedules.items():
            own = [row for row in rows.values() if row.schedule_id == identity]
            check_invariants(self._store, schedule.name)
            self._check_next_row(schedule, own)
            self._check_cursor(self._schedules.get(identity), schedule, own)
        self._rows, self._schedules = rows, schedules

    def turn(self, switch: Switch, *, off: bool) -> None:
        """Note that a switch has been turned off, or on again."""
        others = tuple(each for each in self._switches if each.name != switch.name)
        self._switches = (*others, switch) if off else others

    # Rows

    def _check_row(self, before: Execution | None, after: Execution) -> None:
        """5: ends are final. 3 and 9: a started row was due, and allowed."""
        if before is not None and before.state is not after.state:
            assert after.state in TRANSITIONS[before.state], (before, after)
        if after.state is State.RUNNING and (before is None or before.fence != after.fence):
            assert after.started_at is not None
            assert after.started_at >= after.due_at, f"3: {after} started early"
            self._check_allowed(after)

    def _check_allowed(self, row: Execution) -> None:
        """9: no row starts that was stopped before, except manual runs."""
        if row.kind is Kind.MANUAL:
            return
        schedule = self._schedules.get(row.schedule_id or "")
        tags = schedule.definition.tags if schedule else ()
        assert stopping(self._switches, row, tags) is None, f"9: {row} started though switched off"
        if schedule is not None and row.started_at is not None:
            assert schedule.allows_start(row.started_at), f"9: {row} started though stopped"

    def _check_fences(self, rows: dict[str, Execution]) -> None:
        """4: every claim gets a new fence, higher than all earlier fences."""
        fences = {key: row.fence for key, row in rows.items() if row.fence}
        known = {key: row.fence for key, row in self._rows.items()}
        new = [fence for key, fence in fences.items() if known.get(key) != fence]
        assert len(new) == len(set(new)), f"4: {new}"
        assert all(fence > self._fence for fence in new), f"4: {new} came after {self._fence}"
        self._fence = max([self._fence, *new])

    # Schedules

    def _check_next_row(self, schedule: Schedule, rows: list[Execution]) -> None:
        """1: the next row is at the first eligible slot."""
        waiting = [row for row in rows if row.is_untried and row.occupies_slot]
        after = [row for row in waiting if row.run_at > schedule.cursor]
        # A row that was placed by other zones than ours is not ours to judge.
        if schedule.broken or any(row.tzdata != TZDATA for row in after):
            return
        taken = {row.run_at for row in rows if row.occupies_slot and row not in after}
        try:
            wanted = _wanted_slot(schedule, taken)
        except (UnknownGrid, BrokenGrid):
            return
        found = [row.run_at for row in after]
        assert found == ([wanted] if wanted else []), f"1: {schedule.name} has {found}: {wanted}"

    def _check_cursor(
        self, before: Schedule | None, after: Schedule, rows: list[Execution]
    ) -> None:
        """5 and 6: the cursor goes forward, and each slot it passes is decided once.

        The cursor goes back only from the future, after a jump of the store's clock.
        """
        if before is None or before.cursor == after.cursor:
            return
        now = now_of(self._store)
        if before.is_ahead(now) and after.cursor <= now:
            return
        assert after.cursor > before.cursor, f"5: the cursor of {after.name} went back"
        if before.broken or after.broken:
            return
        ranges = self._store.ranges(after.id, limit=MANY).value
        for slot in before.definition.grid.between(before.cursor, after.cursor):
            decided = _deciding(slot, rows, ranges)
            assert len(decided) == 1, f"6: {slot} of {after.name} is decided by {decided}"

    # Reading

    def _all_rows(self) -> Iterable[Execution]:
        return self._store.executions(ExecutionQuery(limit=MANY)).value.items

    def _all_schedules(self) -> Iterable[Schedule]:
        return self._store.schedules(ScheduleQuery(limit=MANY)).value.items


def audited(store: Store, audit: Audit) -> Store:
    """Return a store that is audited after each of its writes."""
    return cast("Store", _Audited(store, audit))


class _Audited:
    """Delegates every call to a store, and audits the store after each write."""

    def __init__(self, store: Store, audit: Audit) -> None:
        self._store = store
        self._audit = audit

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        operation = getattr(self._store, name)
        return self._watched(operation) if name in WRITES else operation

    def switch(self, switch: Switch, *, off: bool) -> object:
        """Turn a switch and register the switch with the audit."""
        answer = self._store.switch(switch, off=off)
        self._audit.turn(switch, off=off)
        self._audit.check()
        return answer

    def _watched(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: object, **options: object) -> object:
            answer = operation(*arguments, **options)
            self._audit.check()
            return answer

        return write


def _wanted_slot(schedule: Schedule, taken: set[datetime]) -> datetime | None:
    """Return the first eligible slot by the grid; None if there should be no next row."""
    if not schedule.wants_next_row:
        return None
    declared, pause = schedule.definition, schedule.pause
    start, resumes = schedule.cursor, pause.until if pause and pause.until else schedule.cursor
    if not declared.grid.relative:
        start = max(start, resumes - TICK)
    slot = following(declared.grid, start)
    while slot is not None and (slot in taken or slot < resumes):
        slot = following(declared.grid, slot)
    late = slot is not None and declared.until is not None and slot > declared.until
    return None if late else slot


def _deciding(
    slot: datetime, rows: Iterable[Execution], ranges: Iterable[SlotRange]
) -> list[object]:
    """Return the rows and ranges that record the decision on a slot."""
    own: list[object] = [row for row in rows if row.occupies_slot and row.run_at == slot]
    return own + [each for each in ranges if each.first <= slot <= each.last]
