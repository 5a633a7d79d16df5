"""The memory store: one lock, plain tables, every operation a few lines.

The memory store is the reference in tests of the other stores, and the store of the simulator.
It also runs jobs whose schedules and executions need not outlive the process.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import uuid4

from sempre.clock import Clock, SystemClock
from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.domain.values import copy_with
from sempre.ports.messages import (
    Birth,
    Cancelled,
    Candidate,
    Enqueued,
    Order,
    Page,
    Pass,
    Reading,
    Report,
    Session,
    Settled,
    Settlement,
    Stretch,
    Switch,
    Tick,
    View,
    Waiting,
    Wanted,
    Work,
    effective,
)
from sempre.ports.retention import Purge, Purged
from sempre.ports.store import Capabilities
from sempre.stores.exclusive_claims import Planner, carry_out
from sempre.stores.memory import history, purges, sessions, switches, work
from sempre.stores.memory.action_log import MemoryActionLog, record
from sempre.stores.memory.fleet import MemoryFleet
from sempre.stores.memory.health_queries import MemoryHealth
from sempre.stores.memory.history_queries import MemoryHistory
from sempre.stores.memory.limits import MemoryLimits
from sempre.stores.memory.load import MemoryLoad
from sempre.stores.memory.operation import Operation
from sempre.stores.memory.run_logs import MemoryRunLogs
from sempre.stores.memory.tables import Tables

__all__ = ["MemoryStore"]


class MemoryStore(
    MemoryHistory,
    MemoryHealth,
    MemoryFleet,
    MemoryLimits,
    MemoryActionLog,
    MemoryLoad,
    MemoryRunLogs,
):
    """A store for one process: only operations write `tables`; other code may read `tables`."""

    capabilities = Capabilities(durable=False, shared=False, remote=False, transactional=False)
    weaker_promises: tuple[str, ...] = ()

    def __init__(self, clock: Clock | None = None, *, tables: Tables | None = None) -> None:
        """Begin empty, on the host's clock or a given one; given `tables` may observe writes."""
        self.uuid = str(uuid4())
        self.clock = clock or SystemClock()
        self.tables = tables or Tables()
        self._operation = Operation(self.tables, self.clock)

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Continue fences above the given one; there is no schema to set up."""
        self.uuid = str(uuid4()) if as_copy else self.uuid
        with self._at_once() as (tables, _):
            tables.fence = max(tables.fence, fence or 0)

    def close(self) -> None:
        """Close the store; any later use is an error."""
        self._operation.is_closed = True

    def _at_once(self) -> Operation:
        """Return the context of one operation."""
        return self._operation

    # Schedules

    def create(self, births: Sequence[Birth]) -> list[bool]:
        """Create schedules with their first rows, each as a whole."""
        with self._at_once() as (tables, now):
            return [work.create(tables, birth, now) for birth in births]

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        """Return the schedules of these names that exist, with the rows that planning needs."""
        with self._at_once() as (tables, now):
            found = (tables.named(name) for name in names)
            return Reading(now, [tables.view(schedule) for schedule in found if schedule])

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out plans, each wholly or not at all."""
        with self._at_once() as (tables, now):
            return [work.apply(tables, order, now) for order in orders]

    # Work

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return due rows of schedules."""
        with self._at_once() as (tables, now):
            rows = work.due_rows(tables, wanted, now, planned=True)
            return Reading(now, [switches.candidate(tables, row.id, now) for row in rows])

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of rows of schedules that are due, or become due within a time."""
        with self._at_once() as (tables, now):
            rows = work.due_rows(tables, wanted, now, planned=True, within=within)
            return Reading(now, [row.id for row in rows])

    def next_due(self, wanted: Wanted) -> Reading[datetime | None]:
        """Return when the next wanted row is due, of those that are not due yet."""
        with self._at_once() as (tables, now):
            return Reading(now, work.next_due_at(tables, wanted, after=now))

    def first_due(self, wanted: Wanted, *, after: datetime) -> datetime | None:
        """Return when the first wanted row is due after an instant."""
        with self._at_once() as (tables, _):
            return work.next_due_at(tables, wanted, after=after)

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids that exist."""
        with self._at_once() as (tables, now):
            found = [each for each in ids if each in tables.executions]
            return Reading(now, [switches.candidate(tables, each, now) for each in found])

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        """Start executions for a session, as planned."""
        with self._at_once() as (tables, now):
            return work.claim_all(tables, orders, session, now)

    def claim_exclusively(
        self, ids: Sequence[str], plan: Planner, *, session: str
    ) -> list[Execution | bool]:
        """Read, plan and carry out under the lock, so that no other thread writes."""
        with self._at_once():
            orders, claim = plan(self.candidates(ids)), partial(self.claim, session=session)
            return carry_out(orders, claim=claim, apply=self.apply)

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that is due."""
        with self._at_once() as (tables, now):
            return Reading(now, work.claim_one_off(tables, wanted, session, now, ids))

    def running(self, session: str) -> Reading[list[Execution]]:
        """Return the running executions of a session, by fence."""
        with self._at_once() as (tables, now):
            return Reading(now, list(map(tables.leased, work.running_under(tables, session))))

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        """Record how attempts ended."""
        with self._at_once() as (tables, now):
            return [work.settle(tables, each, session, now) for each in settlements]

    def enqueue(self, works: Collection[Work]) -> list[Enqueued]:
        """Enqueue one-off work."""
        with self._at_once() as (tables, now):
            return [work.enqueue(tables, each, now) for each in works]

    def cancel(
        self, ids: Sequence[str], *, actor: str = "", actions: Sequence[Action] = ()
    ) -> list[Cancelled]:
        """End live executions, and ask the workers of running ones to cancel them."""
        with self._at_once() as (tables, now):
            answers = [work.cancel(tables, each, actor, now) for each in ids]
            record(tables, effective(actions, answers), now)
            return answers

    # Sessions

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        """Begin a session."""
        with self._at_once() as (tables, now):
            begun = copy_with(session, started_at=now, leased_until=now + lease)
            tables.sessions[session.id] = begun
            return Reading(now, begun)

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew a session, and return what its worker has to know."""
        with self._at_once() as (tables, now):
            renewed = sessions.tick(tables, session, wanted, now + lease, now)
            return Reading(now, copy_with(renewed, store=self.uuid))

    def report(self, reports: Sequence[Report], *, session: str) -> None:
        """Store the last progress report of each execution."""
        with self._at_once() as (tables, now):
            work.report(tables, reports, session, now)

    def retire(self, session: str) -> None:
        """End a session."""
        with self._at_once() as (tables, _):
            tables.sessions.pop(session, None)

    def shorten_leases(self, *, longest: timedelta) -> int:
        """Cut leases that last longer than this from now; return how many did."""
        with self._at_once() as (tables, now):
            return sessions.shorten(tables, now + longest)

    def sessions(self) -> Reading[list[Session]]:
        """Return the sessions that have not been retired or purged."""
        with self._at_once() as (tables, now):
            return Reading(now, sorted(tables.sessions.values(), key=lambda each: each.id))

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        """Return running executions whose session is gone or expired."""
        with self._at_once() as (tables, now):
            lost = sessions.expired(tables, now)
            return Reading(now, [tables.candidate(row) for row in lost[:limit]])

    # The bell

    def unannounced(self, *, horizon: timedelta, limit: int) -> Reading[list[Waiting]]:
        """Return pending rows that are due within the horizon."""
        with self._at_once() as (tables, now):
            rows = (row for row in tables.unended.values() if row.state is State.PENDING)
            near = [row for row in rows if row.due_at <= now + horizon and not row.held_by]
            first = sorted(near, key=lambda row: (row.due_at, row.id))[:limit]
            return Reading(now, list(map(Waiting.of, first)))

    def waiting(
        self, queues: frozenset[str] | None, *, horizon: timedelta, after: str, limit: int
    ) -> Reading[Page[Waiting]]:
        """Return a page of waiting rows of these queues, due within the horizon."""
        with self._at_once() as (tables, now):
            return Reading(now, history.waiting(tables, queues, now + horizon, after, limit))

    def mark_announced(self, ids: Sequence[str]) -> int:
        """Turn pending rows to scheduled."""
        with self._at_once() as (tables, _):
            rows = [tables.executions[each] for each in ids if each in tables.executions]
            pending = [row for row in rows if row.state is State.PENDING]
            for row in pending:
                tables.put(row.to(State.SCHEDULED))
            return len(pending)

    # Maintenance

    def needing_repair(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        """Return schedules that may be wrong."""
        with self._at_once() as (tables, now):
            found = (each for each in tables.schedules.values() if not each.deleted)
            wrong = [each for each in found if history.needs_repair(tables, each, tzdata, now)]
            return Reading(now, [tables.view(schedule) for schedule in wrong[:limit]])

    def suspect(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id, and return the names of suspect ones."""
        with self._at_once() as (tables, now):
            found = history.following(tables, after)[:limit]
            suspect = (each.name for each in found if history.is_suspect(tables, each, now))
            last = found[-1].id if found else ""
            return Reading(now, Stretch(len(found), last, tuple(suspect)))

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        """Return schedules in order of id."""
        with self._at_once() as (tables, now):
            found = history.following(tables, after)[:limit]
            return Reading(now, [tables.view(schedule) for schedule in found])

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        """Begin the maintenance pass if it is due."""
        with self._at_once() as (tables, now):
            known = history.maintenance(tables, now)
            if not known.is_due(now, every):
                return None
            tables.maintenance = copy_with(known, due_at=now + every, holder=holder)
            return tables.maintenance

    def finish_pass(
        self, *, holder: str, report: Mapping[str, Json], due_in: timedelta | None = None
    ) -> None:
        """Record what a pass did."""
        with self._at_once() as (tables, now):
            history.finish_pass(tables, holder, report, due_in, now)

    def last_pass(self) -> Reading[Pass]:
        """Return when the next pass is due, and the report of the last pass."""
        with self._at_once() as (tables, now):
            return Reading(now, history.maintenance(tables, now))

    def purge(self, purge: Purge) -> Purged:
        """Examine ended executions, and delete those that are not kept."""
        with self._at_once() as (tables, now):
            return purges.purge(tables, purge, now)

    def purge_ranges(self, *, before: datetime, limit: int) -> int:
        """Delete the oldest ranges of slots before an instant."""
        with self._at_once() as (tables, _):
            return purges.purge_ranges(tables, before, limit)

    def retentions(self) -> list[timedelta]:
        """Return the retentions that schedules have of their own."""
        with self._at_once() as (tables, _):
            own = {each.definition.retention for each in tables.schedules.values()}
            return sorted(each for each in own if each is not None)

    # Switches

    def switch(
        self, switch: Switch, *, off: bool, action: Action | None = None
    ) -> Reading[list[Switch]]:
        """Turn a switch off or on again; return the switches that are off."""
        with self._at_once() as (tables, now):
            switches.turn(tables, switch, now, off=off)
            record(tables, [action], now)
            return Reading(now, list(switches.active_switches(tables, now)))

    def switches(self) -> Reading[list[Switch]]:
        """Return the switches that are off, with how many enqueues each has rejected."""
        with self._at_once() as (tables, now):
            found = switches.in_force(tables, now)
            return Reading(
                now, [copy_with(each, rejected=tables.rejections[each.name]) for each in found]
            )
