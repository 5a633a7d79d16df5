"""The SQL store: the operations of the port, each as one transaction of its dialect."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.domain.values import copy_with
from sempre.grids.instants import microseconds_of
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
)
from sempre.ports.transactional import Effects
from sempre.stores.exclusive_claims import Planner
from sempre.stores.sql import (
    announcements,
    maintenance,
    reading,
    records,
    writes,
)
from sempre.stores.sql.action_log import SqlActionLog, record
from sempre.stores.sql.callers_transaction import enqueue_within
from sempre.stores.sql.decoding import LeftOut, decoded, executions_of
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.effects import SqlEffects
from sempre.stores.sql.enqueued_work import enqueue
from sempre.stores.sql.fleet import SqlFleet
from sempre.stores.sql.health import SqlHealth
from sempre.stores.sql.heartbeat import tick
from sempre.stores.sql.history import SqlHistory
from sempre.stores.sql.limits import SqlLimits
from sempre.stores.sql.load import SqlLoad
from sempre.stores.sql.notifying import SqlNotifier
from sempre.stores.sql.one_off_claims import Asked, OneOffClaims
from sempre.stores.sql.purges import SqlPurges
from sempre.stores.sql.run_logs import SqlRunLogs
from sempre.stores.sql.settlements import settle
from sempre.stores.sql.switches import (
    ActiveSwitches,
    switches_in_force,
    switches_off,
    turn,
    with_switches,
)

__all__ = ["SqlStore"]


class SqlStore(
    SqlHistory, SqlHealth, SqlFleet, SqlLimits, SqlActionLog, SqlLoad, SqlPurges, SqlRunLogs
):
    """A store in an SQL database. Call `upgrade` once before any other method."""

    def __init__(self, dialect: Dialect) -> None:
        """Use a database; no connection is opened yet."""
        super().__init__(dialect)
        self._one_off_claims = OneOffClaims()

    def notifier(self, channel: str) -> SqlNotifier:
        """Return a notifier of the connections that listen to a channel; only in PostgreSQL."""
        return SqlNotifier(self._dialect, channel)

    # Schedules

    def create(self, births: Sequence[Birth]) -> list[bool]:
        """Create schedules with their first rows, each as a whole."""
        return self._write(lambda transaction: writes.create(transaction, births))

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        """Return the schedules of these names that exist, with the rows that planning needs."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[View]:
            found = transaction.rows("schedules_by_name", names=list(names))
            views = reading.readable_views(transaction, found, left_out)
            named = {view.schedule.name: view for view in views}
            return [named[name] for name in names if name in named]

        return self._read_rows(ask)

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out plans, each wholly or not at all."""
        return self._write_with_switches(lambda transaction: writes.apply(transaction, orders))

    # Work

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return rows of schedules that are due."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Candidate]:
            stops = switches_off(transaction, lock=False)
            return reading.due(transaction, wanted, stops, left_out)

        return with_switches(lambda: self._read_rows(ask), self._dialect)

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of rows of schedules that are due now or within a duration."""

        def ask(transaction: Transaction) -> list[str]:
            stops = switches_off(transaction, lock=False)
            return reading.due_ids(transaction, wanted, stops, within=within)

        return with_switches(lambda: self._read(ask), self._dialect)

    def next_due(self, wanted: Wanted) -> Reading[datetime | None]:
        """Return when the next row that is not due yet becomes due."""

        def ask(transaction: Transaction) -> datetime | None:
            return reading.next_due_at(transaction, wanted, after=transaction.now)

        return self._read(ask)

    def first_due(self, wanted: Wanted, *, after: datetime) -> datetime | None:
        """Return when the first wanted row is due after an instant."""
        return self._checked().autocommit(
            lambda transaction: reading.next_due_at(transaction, wanted, after=after)
        )

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids that exist."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Candidate]:
            stops = switches_off(transaction, lock=False)
            return reading.candidates(transaction, ids, stops, left_out)

        return with_switches(lambda: self._read_rows(ask), self._dialect)

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        """Start executions for a session, as planned."""
        return self._write_at_home(lambda transaction: writes.claim(transaction, orders, session))

    def claim_exclusively(
        self, ids: Sequence[str], plan: Planner, *, session: str
    ) -> list[Execution | bool]:
        """Read, plan and write in one transaction, which locks the schedules first."""
        return self._write_with_switches(
            lambda transaction: writes.claim_exclusively(transaction, ids, plan, session)
        )

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that is due."""
        asked = Asked(wanted, session, ids)
        return self._one_off_claims.claim_one_off(self._write_at_home, asked).reading()

    def running(self, session: str) -> Reading[list[Execution]]:
        """Return the running executions of a session, by fence."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Execution]:
            return executions_of(transaction.rows("rows_running", session=session), left_out)

        return self._read_rows(ask)

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        """Record how attempts ended."""
        return self._write(lambda transaction: settle(transaction, settlements, session))

    def enqueue(self, works: Collection[Work]) -> list[Enqueued]:
        """Enqueue one-off work."""
        return self._write_with_switches(lambda transaction: enqueue(transaction, works))

    def enqueue_within(self, connection: object, works: Collection[Work]) -> list[Enqueued]:
        """Enqueue one-off work in a transaction of the caller."""
        return enqueue_within(self._checked(), connection, works, self.uuid)

    def effects(self, execution_id: str, fence: int) -> Effects:
        """Begin the transaction of a run."""
        return SqlEffects(self._checked().callers.begin_for_job(), execution_id, fence)

    def connect(self) -> object:
        """Return a new connection to the database."""
        return self._dialect.callers.connect()

    def cancel(
        self, ids: Sequence[str], *, actor: str = "", actions: Sequence[Action] = ()
    ) -> list[Cancelled]:
        """Cancel waiting executions, and ask the sessions of running ones to end them."""
        return self._write(lambda transaction: writes.cancel(transaction, ids, actor, actions))

    # Sessions

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        """Begin a session."""

        def begin(transaction: Transaction) -> Reading[Session]:
            self._home.check_in(transaction.place)
            now = transaction.now
            begun = copy_with(session, started_at=now, leased_until=now + lease)
            transaction.run("register_session", **records.write_session(begun))
            return Reading(now, begun)

        return self._write(begin)

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew the lease of a session, and answer its heartbeat."""

        def renew(transaction: Transaction) -> Reading[Tick]:
            return tick(transaction, session, wanted, lease)

        return self._write_at_home(renew, by_heartbeat=True)

    def report(self, reports: Sequence[Report], *, session: str) -> None:
        """Store the progress reports of runs."""
        self._write(lambda transaction: writes.report(transaction, reports, session))

    def retire(self, session: str) -> None:
        """End a session."""
        self._write(lambda transaction: transaction.run("retire_session", id=session))

    def sessions(self) -> Reading[list[Session]]:
        """Return the sessions that have not been retired or purged."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Session]:
            found = transaction.rows("all_sessions")
            return decoded("sessions", found, records.read_session, left_out)

        return self._read_rows(ask)

    def shorten_leases(self, *, longest: timedelta) -> int:
        """Shorten every lease that ends later than `longest` from now."""

        def shorten(transaction: Transaction) -> int:
            until = microseconds_of(transaction.now + longest)
            return transaction.run("shorten_leases", until=until)

        return self._write(shorten)

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        """Return running executions whose session is deleted or expired."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[Candidate]:
            now = microseconds_of(transaction.now)
            found = transaction.rows("rows_expired", now=now, limit=limit)
            return reading.of_rows(transaction, found, ActiveSwitches(), left_out)

        return self._read_rows(ask)

    # The bell

    def unannounced(self, *, horizon: timedelta, limit: int) -> Reading[list[Waiting]]:
        """Return pending rows that are due within the horizon."""
        return self._read(
            lambda transaction: announcements.unannounced(transaction, horizon, limit)
        )

    def waiting(
        self, queues: frozenset[str] | None, *, horizon: timedelta, after: str, limit: int
    ) -> Reading[Page[Waiting]]:
        """Return a page of the rows that wait in these queues and are due within the horizon."""
        return self._read(lambda each: announcements.waiting(each, queues, horizon, after, limit))

    def mark_announced(self, ids: Sequence[str]) -> int:
        """Change pending rows to scheduled."""
        return self._write(lambda transaction: transaction.run("mark_announced", ids=list(ids)))

    # Maintenance

    def needing_repair(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        """Return schedules that may need repair."""
        stamp = sortable_tzdata(tzdata)

        def ask(transaction: Transaction, left_out: LeftOut) -> list[View]:
            found = {row[0]: row for row in maintenance.needing_repair(transaction, stamp, limit)}
            rows = list(found.values())[:limit]
            return reading.readable_views(transaction, rows, left_out)

        return self._read_rows(ask)

    def suspect(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check schedules in order of id."""
        return self._read(lambda each: maintenance.suspect(each, after, limit))

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        """Return schedules in order of id."""

        def ask(transaction: Transaction, left_out: LeftOut) -> list[View]:
            found = transaction.rows("schedules_slice", after=after, limit=limit)
            return reading.readable_views(transaction, found, left_out)

        return self._read_rows(ask)

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        """Begin the maintenance pass if the pass is due."""
        return self._write(lambda each: maintenance.begin_pass(each, holder, every))

    def finish_pass(
        self, *, holder: str, report: Mapping[str, Json], due_in: timedelta | None = None
    ) -> None:
        """Record the report of a pass."""
        self._write(lambda each: maintenance.finish_pass(each, holder, report, due_in))

    def last_pass(self) -> Reading[Pass]:
        """Return when the next pass is due, and the report of the last pass."""
        return self._read(maintenance.last_pass)

    # Switches

    def switch(
        self, switch: Switch, *, off: bool, action: Action | None = None
    ) -> Reading[list[Switch]]:
        """Turn a switch off, or on again; return the switches that are off."""

        def turn_and_record(transaction: Transaction) -> None:
            turn(transaction, switch, off=off)
            record(transaction, [action])

        self._write(turn_and_record)

        def ask(transaction: Transaction) -> list[Switch]:
            return list(switches_off(transaction, lock=False).switches)

        return with_switches(lambda: self._read(ask), self._dialect)

    def switches(self) -> Reading[list[Switch]]:
        """Return the switches that are off."""
        return self._read(switches_in_force)
