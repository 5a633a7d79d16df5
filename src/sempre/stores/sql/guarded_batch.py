"""A guarded batch: plans are checked one after another, and written all at once.

The batch first reads and locks the rows that the plans were made from, schedules before executions.
Each plan is then compared with the rows as the earlier plans leave them, and added to the batch as
a whole or not at all. `write` is the only method that writes.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sempre.domain.execution import Draft, Execution, SlotRange
from sempre.domain.planning.plan import Change, Plan
from sempre.domain.planning.unique_conflict import coalesce, is_next_try, is_revival
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, Kind, State
from sempre.domain.values import copy_with
from sempre.grids.instants import instant_of, microseconds_of
from sempre.ports.messages import Attempt, Order, UniqueKey
from sempre.stores.guard import Position, Progress, Slot, slots_taken
from sempre.stores.sql import encoding
from sempre.stores.sql.audit_stamps import audit_stamp
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.keys import Keys
from sempre.stores.sql.new_executions import Own, load_executions
from sempre.stores.sql.records import write_attempt, write_range

__all__ = ["Guard", "GuardedBatch", "Holder", "is_mere_start"]


class Guard(NamedTuple):
    """The columns of an execution that are compared before the execution is changed.

    Attributes:
        rules: the rules of the snapshot that the row of a schedule's execution carries itself.
        args: the arguments of that snapshot.
    """

    state: str
    attempt: int
    fence: int
    held_by: str
    session: str
    due_at: int
    unique_key: str | None = None
    unique_mode: Literal["live", "active", "period"] | None = None
    unique_period: int | None = None
    rules: str | None = None
    args: str | None = None

    @property
    def unique(self) -> UniqueKey | None:
        """The unique key of the execution, if the execution has one."""
        if self.unique_key is None or self.unique_mode is None:
            return None
        period = timedelta(microseconds=self.unique_period or 0)
        return UniqueKey(self.unique_key, self.unique_mode, period)

    @property
    def progress(self) -> Progress:
        """The progress that a change of the execution is compared with."""
        return Progress(self.state, self.attempt, self.fence, self.held_by)


class Holder(NamedTuple):
    """A row that holds a slot."""

    is_untried: bool
    tzdata: str


class GuardedBatch:
    """The rows that a batch of plans touches."""

    def __init__(
        self, transaction: Transaction, orders: Sequence[Order], *, also: Iterable[str] = ()
    ) -> None:
        """Read and lock the rows that these orders touch, and the executions of `also`."""
        plans = [order.plan for order in orders]
        bases = sorted({plan.base.id for plan in plans if plan.base})
        touched = {change.before.id for plan in plans for change in plan.changes}
        ids = sorted(touched.union(also, *(order.ids for order in orders)))
        found = transaction.rows("guarded_schedules", ids=bases) if bases else []
        self._positions = {
            identity: Position(revision, starts, instant_of(cursor_at))
            for identity, revision, starts, cursor_at in found
        }
        found = transaction.rows("guarded_executions", ids=ids) if ids else []
        self.executions = {row[0]: Guard(*row[1:]) for row in found}
        tries = (each for plan in plans for each in plan.changes if _needs_key(each))
        wanted = (self.executions.get(each.before.id) for each in tries)
        self._keys = Keys(
            transaction, [each.unique_key for each in wanted if each and each.unique_key]
        )
        names = sorted({plan.schedule.name for plan in plans if plan.schedule and plan.renames})
        named = transaction.rows("schedules_named", names=names) if names else []
        self._named: dict[str, str] = dict(named)  # type: ignore[arg-type]
        self._slots: dict[Slot, dict[str, Holder]] = {}
        slots = sorted({slot for plan in plans for slot in _slots_to_know(plan)})
        occupied = transaction.rows("occupied_slots", slots=slots) if slots else []
        for identity, schedule_id, run_at, kind, state, first_started_at, tzdata in occupied:
            holder = Holder(state in LIVE and first_started_at is None, tzdata)
            slot = schedule_id, instant_of(run_at), Kind(kind)
            self._slots.setdefault(slot, {})[identity] = holder
        self._moved: dict[str, tuple[Schedule, str | None]] = {}
        self._rewritten: dict[str, tuple[Schedule, str | None]] = {}
        self._changed: dict[str, Execution] = {}
        self._mere_starts: set[str] = set()
        self._created: dict[str, Execution] = {}
        self._stored: dict[str, Own] = {}
        self._ranges: list[SlotRange] = []
        self._retracted: list[tuple[str, datetime]] = []
        self._attempts: list[Attempt] = []
        self._left_alone: list[Execution] = []

    def position_of(self, schedule_id: str) -> Position | None:
        """Return the position of a schedule after the plans of the batch."""
        return self._positions.get(schedule_id)

    def progress_of(self, execution_id: str) -> Progress | None:
        """Return the progress of an execution after the plans of the batch."""
        guard = self.executions.get(execution_id)
        return guard.progress if guard else None

    def named_id(self, name: str) -> str | None:
        """Return the id of the schedule that has a name after the plans of the batch."""
        return self._named.get(name)

    def is_key_taken(self, order: Order, transaction: Transaction) -> bool:
        """Return whether an order retries an execution whose unique key another one holds."""
        for change in filter(is_revival, order.plan.changes):
            guard, identity = self.executions.get(change.before.id), change.before.id
            unique = guard.unique if guard else None
            if unique and self._keys.in_the_way(unique.key, unique, transaction.now, identity):
                return True
        return False

    def holders_of(self, slot: Slot) -> Collection[str]:
        """Return the rows that hold a slot after the plans of the batch."""
        return self._slots.get(slot, {})

    def put(
        self, order: Order, transaction: Transaction, *, started: Execution | None = None
    ) -> None:
        """Add an order that fits; `started` is the started execution with its session and lease."""
        plan = order.plan
        for change in plan.changes:
            after = self._coalesced(change, transaction).after
            is_start = started is not None and started.id == after.id
            self.change(started if started and is_start else after)
            if is_start and after.id in self._changed and is_mere_start(change):
                self._mere_starts.add(after.id)
            if plan.schedule is None and change.before.is_untried and change.before.schedule_id:
                self._left_alone.append(change.before)
        for identity, draft in zip(order.ids, plan.creates, strict=True):
            self._create(draft.born(identity, transaction.now))
            self._note_snapshot(identity, draft, plan.changes)
        if plan.retracts_after is not None and plan.base is not None:
            self._retracted.append((plan.base.id, plan.retracts_after))
        self._ranges.extend(plan.ranges)
        if plan.base is not None and plan.schedule is not None and _is_audited_anew(plan):
            self._move(plan.schedule, redeclares=plan.redeclares)

    def note_losses(self, order: Order, transaction: Transaction) -> None:
        """Add the attempts that an order ends, as lost attempts of their sessions."""
        for change in order.plan.changes:
            if change.loss:
                row, now = change.before, transaction.now
                state = State(self.executions[row.id].state)
                began = row.started_at or now
                lost = Attempt(row.id, row.fence, row.session, began, now, state, lost=True)
                self._attempts.append(copy_with(lost, error=change.loss))

    def change(self, row: Execution) -> None:
        """Add the new state of one execution."""
        (self._created if row.id in self._created else self._changed)[row.id] = row
        self._mere_starts.discard(row.id)
        self._guard(row)
        if (
            row.schedule_id is not None
            and (slot := (row.schedule_id, row.run_at, row.kind)) in self._slots
        ):
            self._slots[slot].pop(row.id, None)
            if row.holds_slot:
                self._slots[slot][row.id] = Holder(row.is_untried, row.tzdata)

    def give_fences(self, started: Iterable[Execution]) -> None:
        """Add the fences of started executions, once the number of started executions is known."""
        for row in started:
            (self._created if row.id in self._created else self._changed)[row.id] = row

    def write(self, transaction: Transaction) -> None:
        """Write the batch: rows that release a slot before rows that take the slot."""
        for schedule_id, after in self._retracted:
            at = microseconds_of(after)
            transaction.run("retract_ranges", schedule_id=schedule_id, after=at)
        rewritten = [encoding.write_schedule(*each) for each in self._rewritten.values()]
        moved = [encoding.write_moved_schedule(*each) for each in self._moved.values()]
        rows = [
            encoding.write_changed_execution(row)
            for row in self._changed.values()
            if row.id not in self._mere_starts
        ]
        ranges = list(map(write_range, self._ranges))
        attempts = list(map(write_attempt, self._attempts))
        for name, values in (
            ("rewrite_schedule", rewritten),
            ("move_schedule", moved),
            ("update_execution", rows),
            ("insert_range", ranges),
            ("insert_attempt", attempts),
        ):
            if values:
                transaction.many(name, values)
        self._write_starts(transaction)
        load_executions(transaction, list(self._created.values()), self._stored)
        for row in self._left_alone:
            run_at = microseconds_of(row.run_at)
            transaction.run("mark_astray", schedule_id=row.schedule_id, run_at=run_at)

    def _write_starts(self, transaction: Transaction) -> None:
        """Write mere starts, grouped: the starts of a batch share one instant and one session."""
        begun: dict[tuple[int, str, str], list[tuple[str, int]]] = {}
        for row in (self._changed[each] for each in self._mere_starts):
            at = microseconds_of(row.started_at or transaction.now)
            begun.setdefault((at, row.session, row.tzdata), []).append((row.id, row.fence))
        for (now, session, tzdata), claims in begun.items():
            how = {"now": now, "session": session, "tzdata": tzdata}
            transaction.run("start_taken", claims=sorted(claims), **how)

    def _create(self, row: Execution) -> None:
        self._created[row.id] = row
        self._guard(row)
        if row.schedule_id is not None and row.holds_slot:
            holders = self._slots.setdefault((row.schedule_id, row.run_at, row.kind), {})
            holders[row.id] = Holder(row.is_untried, row.tzdata)

    def _note_snapshot(self, identity: str, draft: Draft, changes: Iterable[Change]) -> None:
        """Note that the snapshot of a new row is stored: a row of its schedule has an equal one."""
        for change in changes:
            before = change.before
            same = before.schedule_id == draft.schedule_id and before.snapshot == draft.snapshot
            if same and draft.schedule_id is not None:
                guard = self.executions[before.id]
                self._stored[identity] = guard.rules, guard.args

    def _guard(self, row: Execution) -> None:
        claim = row.attempt, row.fence, row.held_by, row.session
        known = self.executions.get(row.id)
        due_at = microseconds_of(row.due_at)
        self.executions[row.id] = Guard(
            row.state.value, *claim, due_at, *(known[6:] if known else ())
        )

    def _coalesced(self, change: Change, transaction: Transaction) -> Change:
        """Return the change; a retry is coalesced if another execution holds its unique key."""
        guard = self.executions[change.before.id]
        unique, identity = guard.unique, change.before.id
        if unique is None:
            return change
        if is_next_try(change):
            other = self._keys.in_the_way(unique.key, unique, transaction.now, besides=identity)
            change = coalesce(change, other) if other else change
        self._keys.change(unique.key, identity, change.after.state)
        return change

    def _move(self, after: Schedule, *, redeclares: bool) -> None:
        stamp = self._audit_stamp(after)
        if redeclares or after.id in self._rewritten:
            self._rewritten[after.id] = after, stamp
            self._moved.pop(after.id, None)
        else:
            self._moved[after.id] = after, stamp
        self._positions[after.id] = Position.of(after)
        self._named[after.name] = after.id

    def _audit_stamp(self, schedule: Schedule) -> str | None:
        """Return the audit stamp of a schedule after the plans of the batch."""
        if schedule.next_run_at is None:
            return audit_stamp(schedule, None)
        slot = schedule.id, schedule.next_run_at, Kind.SCHEDULED
        held = (holder for holder in self._slots.get(slot, {}).values() if holder.is_untried)
        return audit_stamp(schedule, next((holder.tzdata for holder in held), None))


def is_mere_start(change: Change) -> bool:
    """Return whether a change changes only the fields that every start changes."""
    before, after = change.before, change.after
    times = {"first_started_at": before.first_started_at or after.started_at}
    begun = {"state": State.RUNNING, "attempt": before.attempt + 1, "reason": ""}
    # Compared as mappings: a comparison of dicts skips values that are identical objects.
    return vars(before) | times | begun | {"started_at": after.started_at} == vars(after)


def _needs_key(change: Change) -> bool:
    """Return whether a change makes an execution wait again, and so needs its unique key."""
    return is_next_try(change) or is_revival(change)


def _slots_to_know(plan: Plan) -> Iterable[tuple[str, int]]:
    """Yield the slots that a plan depends on: of new rows, and of a next row that stays."""
    for schedule_id, run_at, _ in slots_taken(plan):
        yield schedule_id, microseconds_of(run_at)
    schedule = plan.schedule
    if schedule is None or schedule.next_run_at is None:
        return
    stays = all(draft.run_at != schedule.next_run_at for draft in plan.creates)
    if stays and _is_audited_anew(plan):
        yield schedule.id, microseconds_of(schedule.next_run_at)


def _is_audited_anew(plan: Plan) -> bool:
    """Return whether a plan may change the audit stamp: by its schedule, or a row's tzdata."""
    if plan.schedule != plan.base:
        return True
    return any(change.before.tzdata != change.after.tzdata for change in plan.changes)
