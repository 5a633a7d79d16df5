"""The port of a store: the authority that decides safety.

Every operation is atomic, takes a batch where work comes in batches, and may be repeated after
an unknown outcome. Reads change nothing and return the store's now, by which planning goes on;
the server's clock decides what is due and what has expired. Nothing depends on a connection
staying the same between two operations.

Failures: `StoreUnavailable` if the store cannot be reached or did not answer in time (what was
asked may or may not have happened), `StoreRefused` if it must not be used as it is set up,
`StoreGone` if it is not set up, or somebody has emptied it since.

A store is used from many threads at once. An order that is repeated while the first one is still
under way gets the same answer. Unique keys may be of any length.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.ports.capabilities import Capabilities
from sempre.ports.history import History
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

__all__ = ["Capabilities", "Store"]


class Store(History, Protocol):
    """What every store promises. The memory store is its shortest statement as code."""

    capabilities: Capabilities

    @property
    def uuid(self) -> str:
        """The store's own identity, made once when it is set up; tickets carry it."""
        ...

    @property
    def weaker_promises(self) -> tuple[str, ...]:
        """What this store, as it is set up, promises less than others: a sentence each."""
        ...

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Set the store up, or bring its schema to this version; nothing if it is current.

        As the copy of another store it gets an identity of its own; nobody may work on it then.
        With a fence it is made whole again, whatever somebody has left of it, and fences go on
        above the given one: whoever does that has seen fences of the store before. A schema that
        is newer than this code knows is refused, by StoreRefused.
        """
        ...

    def close(self) -> None:
        """Give back every connection. Closing twice is fine; any later use is an error."""
        ...

    # Schedules

    def create(self, births: Sequence[Birth]) -> list[bool]:
        """Create schedules with their first rows, each as a whole, in one round trip.

        False where a schedule of that name exists that is not deleted, unless it is this very
        one by id: an order repeated is an order done.
        """
        ...

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        """Return the schedules of these names that exist, with the rows that planning needs."""
        ...

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out plans, each wholly or not at all; True where it was, or already had been.

        An attempt that a plan ends, as a rescue does, is on record as lost.

        What was done before is known by the rows it created; an order that creates nothing is
        refused when it is repeated, and its maker reads and plans again.

        A plan is refused, False, if the revision of its base has changed, or, where it changes
        the schedule, the starts or cursor; or if an execution it changes is not in the state,
        attempt and fence it was planned from; or if it starts something, which only `claim` does;
        or if it decides about an execution and the switch that stops that is not the one it was
        planned with; or if it rescues an execution whose session has not expired, or not any
        more. Created rows get the store's now as their birth.
        """
        ...

    # Work

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return rows of schedules that are due, by priority and then due_at, not held.

        At most `limit`; only of the queues and jobs wanted. Where what is overdue is wanted, it
        comes by due_at alone. What a switch holds is left out; what one rejects is there with that
        switch, so that its slot is skipped. Others may read the same ones: the claim decides.
        """
        ...

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of what `due` returns, or will return within a while, in its order."""
        ...

    def next_due(self, wanted: Wanted) -> Reading[datetime | None]:
        """Return when the next live row that is not yet due will be, of those that are wanted.

        Whether a switch will stop it then does not matter.
        """
        ...

    def first_due(self, wanted: Wanted, *, after: datetime) -> datetime | None:
        """Return when the first wanted live row is due, after an instant: by now, or later.

        Asked by idle workers several times a second where no wake-up reaches them, so it is the
        cheapest of all questions; it tells no now.
        """
        ...

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids that exist, in any state, with what they depend on."""
        ...

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        """Carry out plans that start one execution each, as `apply` does, for a session.

        The started execution is returned with its session and with a fence above every fence
        given before, by this store, to anyone. None where the plan was refused, a switch is off
        for the execution, or the session has lost its lease. Never early: a row whose due_at is
        after the store's now is refused.
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

    def take(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that is due, in one round trip, past rows that others hold.

        Where ids are given, of those only. It goes by priority and then due_at; where what is
        overdue is wanted, by due_at alone. Not safe to repeat, for it would take more: after a
        lost reply ask `running` what was started for this session.
        """
        ...

    def running(self, session: str) -> Reading[list[Execution]]:
        """Return what runs under a session, by fence: what it holds, whatever replies were lost.

        Of a session that has expired it is what nobody has taken back yet; `leased_until` tells.
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

    def cancel(self, ids: Sequence[str], *, actor: str = "") -> list[Cancelled]:
        """End live executions, and ask the holders of running ones to end them.

        The next row of a schedule is left alone: only a plan can put another one in its place.
        What is asked for is the end of the attempt under way: it is forgotten with that attempt.
        """
        ...

    # Sessions

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        """Begin a session, leased from the store's now on."""
        ...

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew a session that was not retired or purged; tell it what it has to know, in one trip.

        Also one that has expired: by a clock that has jumped all of them have. What others took
        from it meanwhile it is told by what it holds.
        """
        ...

    def report(self, reports: Sequence[Report], *, session: str) -> None:
        """Keep how far runs have come, in one round trip: the last report of each execution.

        One of a claim that the session does not hold any more is dropped without a word.
        """
        ...

    def retire(self, session: str) -> None:
        """End a session; whatever it still runs counts as expired at once."""
        ...

    def shorten_leases(self, *, longest: timedelta) -> int:
        """Let no lease last longer than so long from the store's now; return how many did.

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

    def unrung(self, *, horizon: timedelta, limit: int) -> Reading[list[Waiting]]:
        """Return pending rows that are due within the horizon, earliest first: orphans."""
        ...

    def waiting(
        self, queues: frozenset[str] | None, *, horizon: timedelta, after: str, limit: int
    ) -> Reading[Page[Waiting]]:
        """Return a page of what waits in these queues, or in any, due within the horizon, not held.

        In an order of the store's own, by key: whatever waits unchanged from the first page to
        the last is on one of them, once. The cost grows with what waits, not with what has ended.
        """
        ...

    def mark_rung(self, ids: Sequence[str]) -> int:
        """Turn pending rows to scheduled, after the broker was told; return how many."""
        ...

    # Maintenance

    def astray(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        """Return schedules that may be wrong, found by index and not by looking at all.

        Those are never started, or want a next row and have none, or have one that was stamped
        by older zones, or are broken: a grid may work again. What has ended or is stopped is not
        among them. Besides, those whose cursor is ahead of now and which gave up slots by a clock
        that was ahead too.
        """
        ...

    def doubtful(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id, and tell which are not plainly in order.

        In order is one that wants a next row and has just one, at its `next_run_at` and of its
        revision; and one that wants none, has none, and is neither broken nor yet to be started.
        None whose cursor is ahead of now is in order.
        It is checked by the rows that there are, not by an index of what was wrong before. Grids
        are not asked: whether a row is at the right slot only planning can tell.
        """
        ...

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        """Return schedules in order of id, for the slow round that looks at every one."""
        ...

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        """Take the maintenance pass if it is due and set when the next one is; None otherwise.

        Due by `Pass.is_due`, for one who wants a pass `every` so often, by the store's clock.
        """
        ...

    def finish_pass(
        self, *, holder: str, report: Mapping[str, Json], due_in: timedelta | None = None
    ) -> None:
        """Record what a pass did, if this holder was the last to begin one.

        The next one is due after `due_in`, where that is given, or else when `begin_pass` said.
        """
        ...

    def last_pass(self) -> Reading[Pass]:
        """Return when the next pass is due and what the last finished one reported."""
        ...

    def purge(self, *, before: datetime, limit: int) -> int:
        """Delete executions that ended before an instant, in a small transaction; return how many.

        Their counts go into the daily roll-ups in the same one. A skipped slot that is still to
        come, and everything after a cursor, stays. Besides, as many of each at most: stretches of
        slots that ended before it, sessions that lost their lease before it, and results that came
        before it for executions that were gone. So does whatever only those had needed.
        """
        ...

    # Switches

    def switch(self, switch: Switch, *, off: bool) -> Reading[list[Switch]]:
        """Turn a switch off, so that it stops its target, or on again; return those that are off.

        Once it has returned, no claim of what it stops commits, but of kind manual. On again, held
        rows are free; where it goes on by itself they are so by the next tick of any session.
        Switches come by name.
        """
        ...

    def switches(self) -> Reading[list[Switch]]:
        """Return the switches that are off, by name, with how much each has rejected.

        One whose time is over is not among them, though what it held may wait for the next tick.
        """
        ...
