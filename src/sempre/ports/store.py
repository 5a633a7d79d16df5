"""The port of a store: the authority that decides safety.

Every operation is atomic, takes a batch where work comes in batches, and may be repeated after
an unknown outcome. Reads change nothing and return the store's now, with which planning works; the
server's clock decides what is due and what has expired. Two operations need not use one connection.

Failures: `StoreUnavailable` if the store cannot be reached or did not answer in time (whether the
operation was carried out is unknown), `StoreRefused` if the store must not be used as it is set up,
`StoreGone` if the store is not set up, or was emptied since.

A store is used from many threads at once. An order that is repeated while the first one is still
under way gets an equal answer. Unique keys may be of any length.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.ports.action_log import ActionLog
from sempre.ports.capabilities import Capabilities
from sempre.ports.fleet import Fleet
from sempre.ports.health import Health
from sempre.ports.history import History
from sempre.ports.limits import Limits
from sempre.ports.load import Load
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
    Tick,
    View,
    Waiting,
    Wanted,
    Work,
)
from sempre.ports.retention import Purges
from sempre.ports.run_logs import RunLogs
from sempre.ports.switches import Switches
from sempre.ports.volume import Measures

__all__ = ["Capabilities", "Store"]


class Store(
    History, Health, ActionLog, Fleet, Limits, Load, Purges, Measures, RunLogs, Switches, Protocol
):
    """What every store promises. The memory store is its shortest implementation."""

    capabilities: Capabilities

    @property
    def uuid(self) -> str:
        """The identity of the store, made once when the store is set up; tickets contain it."""
        ...

    @property
    def weaker_promises(self) -> tuple[str, ...]:
        """Promises that this store, as it is set up, does not keep: a sentence each."""
        ...

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Set the store up, or bring its schema to this version; nothing if it is current.

        As the copy of another store it gets an identity of its own; no worker may use it meanwhile.
        With a fence, the highest that the caller has seen, a store that was emptied in part is
        repaired, and fences go on above that one. StoreRefused for a schema of a newer release.
        """
        ...

    def close(self) -> None:
        """Close every connection. Closing twice is fine; any later use is an error."""
        ...

    # Schedules

    def create(self, births: Sequence[Birth]) -> list[bool]:
        """Create schedules with their first rows, each as a whole, in one round trip.

        False where another schedule of that name exists that is not deleted; True for the schedule
        of that very id: the creation was repeated.
        """
        ...

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        """Return the schedules of these names that exist, with the rows that planning needs."""
        ...

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out plans, each wholly or not at all; True where a plan was, or already had been.

        An attempt that a plan ends, as a rescue does, is recorded as lost.

        A repeated order is known by the rows it created; an order that creates nothing is refused
        when it is repeated, and its caller reads and plans again.

        A plan is refused, False, if the revision of its base has changed, or, where the plan
        changes the schedule, the starts or cursor; if an execution that it changes is not in the
        state, attempt and fence of the reading; if it starts an execution, which only `claim` does;
        if it decides about an execution that another switch stops now; or if it rescues an
        execution whose session has not expired. Created rows get the store's now as `created_at`.
        """
        ...

    # Work

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return due rows of schedules and rows with limits, by priority and then due_at, not held.

        At most `limit`; only of the queues and jobs wanted. If overdue rows are wanted, they come
        by due_at alone. Rows that a switch holds are left out; a row that a switch rejects comes
        with that switch, so that its slot is skipped. Other workers may read the same rows: the
        claim decides.
        """
        ...

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of rows that `due` returns, or will return within a time, in its order."""
        ...

    def next_due(self, wanted: Wanted) -> Reading[datetime | None]:
        """Return when the next wanted live row is due, of those that are not due yet.

        Rows that a switch stops count too.
        """
        ...

    def first_due(self, wanted: Wanted, *, after: datetime) -> datetime | None:
        """Return when the first wanted live row is due, after an instant in the past.

        Idle workers ask several times a second where no wake-up reaches them, so this is the
        cheapest query of all; it returns no now.
        """
        ...

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids that exist, in any state, as candidates."""
        ...

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        """Carry out plans that start one execution each, as `apply` does, for a session.

        The started execution is returned with its session and with a fence above every fence
        given before, by this store, to anyone. None where the plan was refused, a switch is off
        for the execution, the session has lost its lease, or a limit is full (see ports.limits).
        Never early: a row whose due_at is after the store's now is refused.
        """
        ...

    def claim_exclusively(
        self,
        ids: Sequence[str],
        plan: Callable[[Reading[list[Candidate]]], Sequence[Order]],
        *,
        session: str,
    ) -> list[Execution | bool]:
        """Read executions, plan, and carry the plans out before anyone edits their schedules.

        For claims that edits have refused before: an edit that comes meanwhile waits, for a second
        at most, and is then refused by what the claim has changed. `plan` is given what
        `candidates` returns; it may be called again, and must not use the store. Answers for each
        order what `claim` or `apply` would, by whether the plan starts something: the execution
        that was started, True for any other plan that was carried out, False where it was refused.
        """
        ...

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work without limits that is due, in one round trip, past locked rows.

        Where ids are given, of those only. It goes by priority and then due_at; where what is
        overdue is wanted, by due_at alone. Not safe to repeat, for it would take more: after a
        lost reply ask `running` what was started for this session.
        """
        ...

    def running(self, session: str) -> Reading[list[Execution]]:
        """Return the running executions of a session, by fence, also those whose reply was lost.

        If the session has expired, those that were not rescued yet; `leased_until` says so.
        """
        ...

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        """Record how attempts ended, each if its claim still holds.

        A result that comes when the execution is no longer this claim's changes nothing but is
        kept as a late attempt. An execution that would wait again, while another one stands in
        the way by its own unique mode, fails instead as coalesced into that one; so it is with
        a rerun that is applied.
        """
        ...

    def enqueue(self, works: Collection[Work]) -> list[Enqueued]:
        """Put one-off work in, in one round trip. A duplicate is a receipt, not an error.

        Uniqueness holds under races, by the mode that the newcomer asks for. A switch that rejects
        gives a receipt that names it, and is counted; one that holds lets the row be born held.
        Each receipt of unique work tells how many of its key have failed in a row, of those that
        are not purged; work with a backoff is refused until the time after the last one is over.
        """
        ...

    def cancel(
        self, ids: Sequence[str], *, actor: str = "", actions: Sequence[Action] = ()
    ) -> list[Cancelled]:
        """End live executions, and ask the workers of running ones to cancel them.

        The next row of a schedule is left alone: only a plan can put another one in its place. The
        request is for the attempt under way, and ends with that attempt. Of `actions`, one for each
        id, those are logged whose execution was ended or asked to end.
        """
        ...

    # Sessions

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        """Begin a session, leased from the store's now on."""
        ...

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew a session that was not retired or purged; return what its worker has to know.

        An expired session is renewed too: after a jump of the clock every session has expired. Its
        worker learns from `held` which executions other workers have claimed meanwhile. A switch
        whose time is over goes on first, and frees the rows that it held.
        """
        ...

    def report(self, reports: Sequence[Report], *, session: str) -> None:
        """Store the last progress report of each execution, in one round trip.

        A report about a claim that the session does not hold any more is dropped.
        """
        ...

    def retire(self, session: str) -> None:
        """End a session; its running executions count as expired at once."""
        ...

    def shorten_leases(self, *, longest: timedelta) -> int:
        """Cut leases that last longer than this from the store's now; return how many did.

        Leases that were given by a clock that was ahead would outlive their workers by as much.
        """
        ...

    def sessions(self) -> Reading[list[Session]]:
        """Return the sessions that have not been retired or purged, expired ones included."""
        ...

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        """Return running executions whose session is gone or expired, with `leased_until` set."""
        ...

    # The bell

    def unannounced(self, *, horizon: timedelta, limit: int) -> Reading[list[Waiting]]:
        """Return pending rows that are due within the horizon, earliest first: orphans."""
        ...

    def waiting(
        self, queues: frozenset[str] | None, *, horizon: timedelta, after: str, limit: int
    ) -> Reading[Page[Waiting]]:
        """Return a page of waiting rows of these queues, or of all, due within the horizon.

        Held rows are left out. The order is the store's own, by key: a row that waits unchanged
        from the first page to the last is on one page, once. The cost grows with the rows that
        wait, not with history.
        """
        ...

    def mark_announced(self, ids: Sequence[str]) -> int:
        """Turn pending rows to scheduled, after the broker took their tickets; return how many."""
        ...

    # Maintenance

    def needing_repair(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        """Return schedules that may be wrong, found by index and not by reading every schedule.

        Such a schedule was never started, or needs a next row and has none, or has one that was
        computed with older time zone data, or is broken: its grid may work again. Schedules that
        have ended or are stopped are left out. Besides, schedules whose cursor is ahead of now, and
        whose slots were given up by a clock that was ahead too.
        """
        ...

    def suspect(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id; return the names of those not plainly in order.

        A schedule is in order if it needs a next row and has just one, at its `next_run_at` and of
        its revision; or if it needs none, has none, and is neither broken nor yet to be started. A
        schedule whose cursor is ahead of now is not in order. The check reads the rows themselves,
        not an index of earlier faults. Grids are not asked: only planning knows whether a row is at
        the right slot.
        """
        ...

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        """Return schedules in order of id, for the slow round that checks every schedule."""
        ...

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        """Begin the maintenance pass if it is due, and set when the next one is; None otherwise.

        A pass is due by `Pass.is_due`, for a worker that wants one `every` interval, by the store's
        clock.
        """
        ...

    def finish_pass(
        self, *, holder: str, report: Mapping[str, Json], due_in: timedelta | None = None
    ) -> None:
        """Record what a pass did, if this holder was the last to begin one.

        The next pass is due after `due_in`, if that is given, or else when `begin_pass` said.
        """
        ...

    def last_pass(self) -> Reading[Pass]:
        """Return when the next pass is due and what the last finished one reported."""
        ...
