"""The store of a journey: the memory store, quick enough for a year of a hundred schedules.

Planning reads rows that wait, run or have just ended. All other rows are filed away: queries of
history find these rows until the watchdog purges them, and a claim skips them at no cost. The
file itself is never purged: `TimeTravel.executions` reads the file.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import takewhile
from typing import Any

from sempre.clock import Clock
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, State
from sempre.domain.values import copy_with
from sempre.errors import TransactionError
from sempre.ports.messages import (
    Candidate,
    Enqueued,
    ExecutionQuery,
    Order,
    Page,
    Reading,
    Tick,
    UniqueKey,
    Wanted,
    Work,
)
from sempre.ports.retention import Purge, Purged
from sempre.ports.transactional import Effects
from sempre.stores.memory import MemoryStore, history
from sempre.stores.memory.keys import forget_key
from sempre.stores.memory.purges import is_concerned, roll_up
from sempre.stores.memory.tables import Tables
from sempre.testing.travel.filed_rows import (
    FINISHED,
    ID,
    RUN,
    SCHEDULE,
    Filed,
    filed_row,
    is_asked,
    unfiled,
)

__all__ = ["TravelStore"]

# The number of ended rows that may pile up before the store checks them again.
MOST_KEPT = 20
ACTIVE = LIVE | {State.RUNNING}


@dataclass
class _TravelTables(Tables):
    """The tables, which record the rows that ended since the last filing."""

    ended: list[str] = field(default_factory=list)
    waiting: list[tuple[datetime, str]] = field(default_factory=list)
    queues: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)

    def put(self, row: Execution) -> None:
        """Write one execution."""
        super().put(row)
        if row.state in LIVE:
            heappush(self.waiting, (row.due_at, row.id))
            self.queues.add(row.snapshot.queue)
        elif row.state is not State.RUNNING:
            self.ended.append(row.id)

    def named(self, name: str) -> Schedule | None:
        """Return the schedule of a name that is not deleted, found at once the second time."""
        known = self.schedules.get(self.names.get(name, ""))
        if known is not None and known.name == name and not known.deleted:
            return known
        found = super().named(name)
        if found is not None:
            self.names[name] = found.id
        return found

    def waits(self, due_at: datetime, identity: str) -> bool:
        """Return whether an execution is waiting for its start at an instant."""
        row = self.executions.get(identity)
        return row is not None and row.is_live and row.due_at == due_at


class TravelStore(MemoryStore):
    """A memory store whose one worker serves every queue.

    The store accepts any transaction of the caller, so that code which enqueues in a
    transaction can be tested. The store writes at once, and a rollback undoes nothing.
    """

    capabilities = replace(MemoryStore.capabilities, transactional=True)

    def __init__(self, clock: Clock) -> None:
        """Begin empty."""
        self._travel = _TravelTables()
        super().__init__(clock, tables=self._travel)
        self._overdue: set[tuple[datetime, str]] = set()
        self._file: list[Filed] = []
        self._by_id: dict[str, Filed] = {}
        self._keys: dict[str, UniqueKey] = {}
        self._taken_out: set[int] = set()  # by identity of the tuple in the file
        self._examined: dict[object, int] = {}
        self._filed_of: Counter[str | None] = Counter()
        self._old: dict[str, deque[Filed]] = defaultdict(deque)
        self._kept: list[str] = []
        self._most_kept = MOST_KEPT
        self._snapshots: dict[tuple[str, int], Any] = {}

    # What a journey asks

    def next_due_at(self, now: datetime) -> datetime | None:
        """Return when the next row is due that is not so yet."""
        tables = self._travel
        while tables.waiting and not (
            tables.waiting[0][0] > now and tables.waits(*tables.waiting[0])
        ):
            self._overdue.add(heappop(tables.waiting))
        return tables.waiting[0][0] if tables.waiting else None

    def overdue(self, now: datetime) -> list[Execution]:
        """Return the rows that are due and have not been begun."""
        self.next_due_at(now)
        if self._overdue:
            self._overdue = {each for each in self._overdue if self._travel.waits(*each)}
        return [self._travel.executions[identity] for _, identity in self._overdue]

    def everything(self) -> Iterator[Execution]:
        """Go through all executions that ever were, purged or not, in no particular order."""
        yield from (unfiled(each) for each in self._file if id(each) not in self._taken_out)
        yield from map(self._travel.leased, list(self._travel.executions.values()))

    def switch_ends(self, now: datetime) -> list[datetime]:
        """Return when switches are on again by themselves."""
        switches = self._travel.switches.values()
        return [each.until for each in switches if each.until is not None and each.until > now]

    @property
    def pass_due_at(self) -> datetime:
        """When the next pass of the watchdog is due."""
        return history.maintenance(self._travel, self.clock.now()).due_at

    def call_pass(self, at: datetime) -> None:
        """Let the next pass be due no later than this."""
        known = history.maintenance(self._travel, at)
        self._travel.maintenance = copy_with(known, due_at=min(known.due_at, at))

    def file_away(self) -> None:
        """Take out of the way what has ended and matters to no plan any more."""
        ended, self._travel.ended = self._travel.ended, []
        self._kept += filter(self._keeps, ended)
        if len(self._kept) > self._most_kept:
            self._kept = list(filter(self._keeps, self._kept))
            self._most_kept = 2 * len(self._kept) + MOST_KEPT

    def _keeps(self, identity: str) -> bool:
        """File an ended row away, unless planning needs the row; return whether the row stays."""
        row = self._travel.executions.get(identity)
        if row is None or row.state in ACTIVE:
            return False
        if self._still_matters(row):
            return True
        self._file_row(row)
        return False

    def _still_matters(self, row: Execution) -> bool:
        """Return whether planning, or the uniqueness of keys, may still need an ended row."""
        tables, unique = self._travel, self._travel.unique_of.get(row.id)
        if unique is not None and tables.unique.get(unique.key) == row.id:
            return True
        schedule = tables.schedules.get(row.schedule_id or "")
        if schedule is None:
            return False
        if row.run_at > schedule.cursor and row.occupies_slot:
            return True
        ended = row.finished_at or row.run_at
        return any(each.is_live and each.due_at < ended for each in tables.rows_of(schedule.id))

    def _file_row(self, row: Execution) -> None:
        tables = self._travel
        if (unique := tables.unique_of.get(row.id)) is not None:
            self._keys[row.id] = unique
        forget_key(tables, row.id)
        del tables.executions[row.id]
        tables.cancelled.pop(row.id, None)
        if row.schedule_id is not None:
            tables.of_schedule[row.schedule_id].discard(row.id)
            key = row.schedule_id, row.snapshot.revision
            # One object for all rows of a schedule: a year of separate objects needs more memory.
            row = copy_with(row, snapshot=self._snapshots.setdefault(key, row.snapshot))
        filed = self._by_id[row.id] = filed_row(row)
        self._file.append(filed)
        self._filed_of[row.schedule_id] += 1

    def _take_out(self, identity: str) -> None:
        """Return a filed row to the tables: an operator retries or discards its execution."""
        filed = self._by_id.pop(identity)
        self._taken_out.add(id(filed))
        self._filed_of[filed[SCHEDULE]] -= 1
        if filed in (old := self._old[filed[SCHEDULE] or ""]):
            old.remove(filed)
        if (unique := self._keys.pop(identity, None)) is not None:
            self._travel.unique_of[identity] = unique
        self._travel.put(unfiled(filed))

    # What the engine asks

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out orders; an order may change an execution that is filed away."""
        with self._at_once():
            changed = [change.before.id for order in orders for change in order.plan.changes]
            for identity in filter(self._by_id.__contains__, changed):
                self._take_out(identity)
            return super().apply(orders)

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return rows of schedules that are due, of any queue, in a deterministic order."""
        reading = super().due(self._of_any_queue(wanted))
        return Reading(reading.now, sorted(reading.value, key=_turn))

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of rows of schedules that are due, or will be within a while."""
        reading = super().due_ids(self._of_any_queue(wanted), within=within)
        found = self.candidates(reading.value).value
        return Reading(reading.now, [each.execution.id for each in found])

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids in a deterministic order, filed away or not."""
        reading = super().candidates(ids)
        filed = (unfiled(self._by_id[each]) for each in ids if each in self._by_id)
        past = map(self._travel.candidate, filed)
        return Reading(reading.now, [*sorted(reading.value, key=_turn), *past])

    def enqueue_within(self, connection: object, works: Collection[Work]) -> list[Enqueued]:  # noqa: ARG002 - whatever it is
        """Put one-off work in, whether or not the caller's transaction is committed."""
        return self.enqueue(works)

    def effects(self, execution_id: str, fence: int) -> Effects:
        """Refuse: there is no database that a job could write to."""
        raise _no_database(f"current().tx of execution {execution_id} (fence {fence})")

    def connect(self) -> object:
        """Refuse, for the same reason."""
        raise _no_database("a connection to the store's own database")

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that is due, of any queue."""
        return super().claim_one_off(self._of_any_queue(wanted), session=session, ids=ids)

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew a session, which serves any queue."""
        return super().tick(session, self._of_any_queue(wanted), lease=lease)

    def executions(self, query: ExecutionQuery) -> Reading[Page[Execution]]:
        """Return a page of history, including rows that are filed away."""
        if query.states and query.states <= ACTIVE:
            return super().executions(query)
        with self._at_once() as (tables, now):
            known = {row.id: row for row in self._unpurged(query)} | tables.executions
            seen = Tables(executions=known, sessions=tables.sessions)
            return Reading(now, history.executions(seen, query))

    def latest(
        self, schedule_ids: Sequence[str], *, limit: int
    ) -> Reading[dict[str, tuple[Execution, ...]]]:
        """Return the newest executions of each schedule, including rows that are filed away."""
        with self._at_once() as (_, now):
            queries = {each: ExecutionQuery(schedule_id=each, limit=limit) for each in schedule_ids}
            return Reading(
                now, {each: self.executions(query).value.items for each, query in queries.items()}
            )

    def _rows(self, tables: Tables, schedule_id: str | None = None) -> Iterable[Execution]:
        """Return all executions, or those of a schedule, including rows that are filed away."""
        filed = self._unpurged(ExecutionQuery(schedule_id=schedule_id))
        rows = (*filed, *super()._rows(tables, schedule_id))
        return {row.id: row for row in rows}.values()

    def purge(self, purge: Purge) -> Purged:
        """Delete old rows that are not kept, including rows that are filed away."""
        with self._at_once() as (tables, now):
            done = super().purge(purge)
            gone, more = self._examine(purge, now)
            for filed in gone:
                roll_up(tables, unfiled(filed))
                tables.attempts.pop(filed[ID], None)
                tables.reports.pop(filed[ID], None)
                tables.run_logs.pop(filed[ID], None)
            return Purged(done.count + len(gone), done.after, done.more or more)

    def _examine(self, purge: Purge, now: datetime) -> tuple[list[Filed], bool]:
        """Examine the next filed rows; return those that go, and whether there may be more."""
        begin, gone = self._examined.get(purge.retention, 0), []
        some = self._file[begin : begin + purge.limit]
        old = list(takewhile(lambda each: (each[FINISHED] or each[RUN]) < purge.before, some))
        self._examined[purge.retention] = begin + len(old)
        for filed in old:
            schedule = self._travel.schedules.get(filed[SCHEDULE] or "")
            # A slot that was superseded long ago may still be to come: its row stays.
            is_kept = filed[RUN] > now or id(filed) in self._taken_out
            if is_kept or not is_concerned(schedule, purge):
                continue
            if schedule is None or schedule.deleted:
                gone.append(self._forget(filed))
            else:
                gone += self._pushed_out(schedule, filed)
        return gone, len(old) == purge.limit

    def _pushed_out(self, schedule: Schedule, filed: Filed) -> list[Filed]:
        """Return the rows that a schedule keeps no longer, after another row has become old."""
        old = self._old[schedule.id]
        old.append(filed)
        finished = sum(row.finished_at is not None for row in self._travel.rows_of(schedule.id))
        excess = self._filed_of[schedule.id] + finished - schedule.definition.keep
        return [self._forget(old.popleft()) for _ in range(min(max(excess, 0), len(old)))]

    def _forget(self, filed: Filed) -> Filed:
        self._filed_of[filed[SCHEDULE]] -= 1
        self._keys.pop(filed[ID], None)
        return self._by_id.pop(filed[ID])

    def _unpurged(self, query: ExecutionQuery) -> Iterator[Execution]:
        return (unfiled(each) for each in self._by_id.values() if is_asked(each, query))

    def _of_any_queue(self, wanted: Wanted) -> Wanted:
        return copy_with(wanted, queues=wanted.queues | self._travel.queues)


def _turn(candidate: Candidate) -> tuple[int, datetime, str]:
    """Return the sort key of executions; one-off work sorts in the order of enqueueing."""
    row = candidate.execution
    return row.snapshot.priority, row.due_at, row.snapshot.name if row.schedule_id else ""


def _no_database(what: str) -> TransactionError:
    message = f"{what} cannot be had on virtual time: the store is in memory"
    return TransactionError(f"{message}; give the code under test its connection in another way.")
