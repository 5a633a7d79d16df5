"""The Redis store: each operation of the port runs one script."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.execution import Execution
from sempre.domain.schedule import AHEAD
from sempre.domain.tzdata_order import sortable_tzdata
from sempre.errors import NOT_SET_UP, StoreGone, StoreRefused
from sempre.errors.schemas import OutdatedSchema
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
from sempre.ports.store import Capabilities
from sempre.redis_server import PREFIX_FORM, is_prefix
from sempre.stores.exclusive_claims import Planner, carry_out
from sempre.stores.limit_room import BULK
from sempre.stores.redis import arguments, decoding, pages, records
from sempre.stores.redis.action_log import RedisActionLog
from sempre.stores.redis.encoding import (
    MICROSECOND,
    instant,
    json_text,
    read_execution,
    stamp,
)
from sempre.stores.redis.fleet import RedisFleet
from sempre.stores.redis.health import RedisHealth
from sempre.stores.redis.limits import RedisLimits
from sempre.stores.redis.load import RedisLoad
from sempre.stores.redis.locks import Locks
from sempre.stores.redis.notifying import RedisNotifier
from sempre.stores.redis.one_off_claims import Asked, OneOffClaims
from sempre.stores.redis.probe import Allowance, examine
from sempre.stores.redis.purges import RedisPurges
from sempre.stores.redis.server import StoreServer

__all__ = ["RedisStore"]

T = TypeVar("T")
LEEWAY = int(AHEAD / MICROSECOND)
VERSION = 3
"""The version of the schema that this code reads and writes."""


class RedisStore(RedisActionLog, RedisHealth, RedisFleet, RedisLimits, RedisLoad, RedisPurges):
    """A store on one Redis or Valkey server. Call `upgrade` once before anything else.

    Args:
        url: the URL of the server: `redis://`, `rediss://` or `unix://`.
        prefix: the text in braces with which all keys begin.
        timeout: seconds within which the server has to accept a connection, and to answer.
        allow_eviction: accept a server that may drop keys when its memory is full.
        allow_no_aof: accept a server that keeps no append-only file.
        allow_replica: accept a server that follows another server.

    Raises:
        StoreRefused: the URL or prefix cannot be used.
        MissingExtra: the driver is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "sempre",
        timeout: float = 5.0,
        allow_eviction: bool = False,
        allow_no_aof: bool = False,
        allow_replica: bool = False,
    ) -> None:
        """Check the URL and the prefix, without connecting."""
        if not is_prefix(prefix):
            raise StoreRefused(f"the prefix {prefix!r} is not accepted; allowed: {PREFIX_FORM}.")
        self.capabilities = Capabilities(
            durable=not allow_no_aof, shared=True, remote=True, transactional=False
        )
        self._allowed = Allowance(allow_eviction, allow_no_aof, allow_replica)
        self._server = StoreServer(url, root=f"{{{prefix}}}:", answer_after=timeout)
        self._uuid = ""
        self._weaker: tuple[str, ...] | None = None
        self._one_off_claims = OneOffClaims(self._run)
        self._locks = Locks(self._run)

    @property
    def uuid(self) -> str:
        """The identity of the store, made once when the store is set up."""
        if not self._uuid:
            version, identity = self._server.run("identity")
            if version is None:
                raise StoreGone(f"{self._server.address}: {NOT_SET_UP}")
            _check_version(int(version))
            self._uuid = identity
        return self._uuid

    def notifier(self, channel: str) -> RedisNotifier:
        """Return a notifier of the connections that are subscribed to a channel."""
        return RedisNotifier(self._server, channel)

    @property
    def weaker_promises(self) -> tuple[str, ...]:
        """Promises that this server, as it is configured, does not keep: a sentence each."""
        if self._weaker is None:
            self._weaker = examine(self._server.info(), self._server.setting, self._allowed)
        return self._weaker

    def upgrade(self, *, as_copy: bool = False, fence: int | None = None) -> None:
        """Examine the server, and set the store up unless it is set up already.

        A server with unsafe settings is refused, and so is a schema newer than this code.
        """
        self._weaker = examine(self._server.info(), self._server.setting, self._allowed)
        wanted = (VERSION, str(uuid4()), int(as_copy), fence or 0)
        version, identity = self._server.run("upgrade", wanted)
        _check_version(int(version))
        self._uuid = identity

    def close(self) -> None:
        """Close every connection."""
        self._server.close()

    # Schedules

    def create(self, births: Sequence[Birth]) -> list[bool]:
        """Create schedules with their first rows, each as a whole."""
        return [done == 1 for done in self._run("create", arguments.births(births))]

    def views(self, names: Sequence[str]) -> Reading[list[View]]:
        """Return the schedules of these names that exist, with the rows that planning needs."""
        return self._read_rows("views", arguments.listed(names), decoding.views_of)

    def apply(self, orders: Sequence[Order]) -> list[bool]:
        """Carry out plans, each wholly or not at all."""
        return self._locks.apply(orders)

    # Work

    def due(self, wanted: Wanted) -> Reading[list[Candidate]]:
        """Return due rows of schedules."""
        return self._read_rows("due", arguments.wanted_work(wanted), decoding.candidates_of)

    def due_ids(self, wanted: Wanted, *, within: timedelta) -> Reading[list[str]]:
        """Return the ids of rows of schedules that are due, or become due within a time."""
        return self._read_each("due_ids", arguments.wanted_work(wanted, within=within), str)

    def next_due(self, wanted: Wanted) -> Reading[datetime | None]:
        """Return when the next wanted row is due, of those that are not due yet."""
        return self._read("next_due", arguments.wanted_work(wanted), records.read_instant)

    def first_due(self, wanted: Wanted, *, after: datetime) -> datetime | None:
        """Return when the first wanted row is due after an instant."""
        values = [*arguments.wanted_work(wanted), stamp(after)]
        return self._read("first_due", values, records.read_instant).value

    def candidates(self, ids: Sequence[str]) -> Reading[list[Candidate]]:
        """Return the executions of these ids that exist."""
        return self._read_rows("candidates", arguments.listed(ids), decoding.candidates_of)

    def claim(self, orders: Sequence[Order], *, session: str) -> list[Execution | None]:
        """Start executions for a session, as planned."""
        found = self._run("claim", [session, BULK, *arguments.claims(orders)])
        return [read_execution(row) if row else None for row in found]

    def claim_exclusively(
        self, ids: Sequence[str], plan: Planner, *, session: str
    ) -> list[Execution | bool]:
        """Read, plan and carry out while this worker has the schedules locked."""
        with self._locks.locked(ids) as token:
            orders = plan(self.candidates(ids))
            return carry_out(
                orders,
                claim=lambda starts: self.claim(starts, session=session),
                apply=lambda others: self._locks.apply(others, token),
            )

    def claim_one_off(
        self, wanted: Wanted, *, session: str, ids: Sequence[str] | None = None
    ) -> Reading[list[Execution]]:
        """Start one-off work that is due."""
        return self._one_off_claims.claim_one_off(Asked(wanted, session, ids))

    def running(self, session: str) -> Reading[list[Execution]]:
        """Return the running executions of a session, by fence."""
        found = self._read_rows("running", [session], decoding.executions_of)
        rows = sorted(found.value, key=lambda row: row.fence)
        return Reading(found.now, rows, found.unreadable)

    def settle(self, settlements: Sequence[Settlement], *, session: str) -> list[Settled]:
        """Record how attempts ended."""
        return list(
            map(Settled, self._run("settle", [session, *arguments.settlements(settlements)]))
        )

    def enqueue(self, works: Collection[Work]) -> list[Enqueued]:
        """Enqueue one-off work."""
        found = self._run("enqueue", arguments.works(works))
        return list(map(records.read_receipt, found))

    def cancel(
        self, ids: Sequence[str], *, actor: str = "", actions: Sequence[Action] = ()
    ) -> list[Cancelled]:
        """End live executions, and ask the workers of running ones to cancel them."""
        values = [actor, *arguments.listed(ids), *arguments.actions(actions)]
        return list(map(Cancelled, self._run("cancel", values)))

    # Sessions

    def register(self, session: Session, *, lease: timedelta) -> Reading[Session]:
        """Begin a session."""
        description = records.write_session(session)
        return self._read(
            "register", [session.id, lease // MICROSECOND, description], records.read_session
        )

    def tick(self, session: str, wanted: Wanted, *, lease: timedelta) -> Reading[Tick]:
        """Renew a session, and return what its worker has to know."""
        values = [session, lease // MICROSECOND, *arguments.wanted_work(wanted)]
        return self._read("tick", values, records.read_tick)

    def report(self, reports: Sequence[Report], *, session: str) -> None:
        """Store the last progress report of each execution."""
        self._run("report", [session, *arguments.reports(reports)])

    def retire(self, session: str) -> None:
        """End a session."""
        self._run("retire", [session])

    def shorten_leases(self, *, longest: timedelta) -> int:
        """Cut leases that last longer than this from now; return how many did."""
        return int(self._run("shorten_leases", [longest // MICROSECOND]))

    def sessions(self) -> Reading[list[Session]]:
        """Return the sessions that have not been retired or purged."""
        found = self._read_rows("sessions", (), decoding.sessions_of)
        sessions = sorted(found.value, key=lambda each: each.id)
        return Reading(found.now, sessions, found.unreadable)

    def expired(self, limit: int) -> Reading[list[Candidate]]:
        """Return running executions whose session is gone or expired."""
        return self._read_rows("expired", [limit], decoding.candidates_of)

    # The bell

    def unannounced(self, *, horizon: timedelta, limit: int) -> Reading[list[Waiting]]:
        """Return pending rows that are due within the horizon."""
        return self._read_each("unannounced", [horizon // MICROSECOND, limit], pages.read_waiting)

    def waiting(
        self, queues: frozenset[str] | None, *, horizon: timedelta, after: str, limit: int
    ) -> Reading[Page[Waiting]]:
        """Return a page of waiting rows of these queues, due within the horizon."""
        return pages.waiting(self._run, queues, horizon, after, limit)

    def mark_announced(self, ids: Sequence[str]) -> int:
        """Turn pending rows to scheduled."""
        return int(self._run("mark_announced", arguments.listed(ids)))

    # Maintenance

    def needing_repair(self, *, tzdata: str, limit: int) -> Reading[list[View]]:
        """Return schedules that may be wrong."""
        return self._read_rows(
            "needing_repair", [sortable_tzdata(tzdata), limit, LEEWAY], decoding.views_of
        )

    def suspect(self, *, after: str, limit: int) -> Reading[Stretch]:
        """Check the next schedules in order of id, and return the names of suspect ones."""
        return self._read("suspect", [after, limit, LEEWAY], records.read_stretch)

    def slice(self, *, after: str, limit: int) -> Reading[list[View]]:
        """Return schedules in order of id."""
        return self._read_rows("slice", [after, limit], decoding.views_of)

    def begin_pass(self, *, holder: str, every: timedelta) -> Pass | None:
        """Begin the maintenance pass if it is due."""
        found = self._run("begin_pass", [holder, *arguments.pass_intervals(every)])
        return records.read_pass(found) if found else None

    def finish_pass(
        self, *, holder: str, report: Mapping[str, Json], due_in: timedelta | None = None
    ) -> None:
        """Record what a pass did."""
        soon = "" if due_in is None else due_in // MICROSECOND
        self._run("finish_pass", [holder, json_text(report), soon])

    def last_pass(self) -> Reading[Pass]:
        """Return when the next pass is due, and the report of the last pass."""
        now, found = self._run("last_pass")
        return Reading(instant(now), records.read_pass(found, instant(now)))

    # Switches

    def switch(
        self, switch: Switch, *, off: bool, action: Action | None = None
    ) -> Reading[list[Switch]]:
        """Turn a switch off or on again; return the switches that are off."""
        fields = arguments.pairs(records.write_switch(switch))
        values = [switch.name, int(off), *fields, *arguments.action(action)]
        return self._read_each("switch", values, records.read_switch)

    def switches(self) -> Reading[list[Switch]]:
        """Return the switches that are off, with how many enqueues each has rejected."""
        return self._read_each("switches", (), records.read_switch)

    # Scripts

    def _run(self, script: str, told: Iterable[str | int] = ()) -> Any:  # noqa: ANN401
        """Run a script; before the first script, check the version of the schema."""
        if not self._uuid:
            _ = self.uuid
        try:
            return self._server.run(script, told)
        except StoreGone:
            # The next `upgrade` gives the store another identity.
            self._uuid = ""
            raise


def _check_version(version: int) -> None:
    if version > VERSION:
        raise StoreRefused(
            f"the store has version {version} of the schema, and this code knows only "
            f"{VERSION}: a newer Sempre has upgraded it. Upgrade this process too: "
            "pip install --upgrade sempre"
        )
    if version < VERSION:
        raise OutdatedSchema(version, VERSION)
