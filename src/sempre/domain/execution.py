"""An execution: one intended run, from birth to end; and the slots that never became one."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, Unpack

from sempre.domain.snapshot import Snapshot
from sempre.domain.states import LIVE, Kind, Reason, State, check_transition
from sempre.domain.values import builder, copy_with

__all__ = [
    "Draft",
    "Execution",
    "ExecutionChanges",
    "SlotRange",
    "build_draft",
    "build_execution",
    "key_of",
]


def key_of(name: str, run_at: datetime, kind: Kind, identity: str) -> str:
    """Return the idempotency key: the same for every attempt at the same piece of work."""
    slot = f"{name}:{run_at.isoformat()}"
    return slot if kind in (Kind.SCHEDULED, Kind.BACKFILL) else f"{slot}:{kind}:{identity}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An execution that should exist; the caller gives it an id and the store its place.

    Attributes:
        kind: why it exists.
        run_at: its slot, which never moves.
        due_at: when it may start.
        snapshot: what it runs.
        schedule_id: the schedule it belongs to, or None for one-off work.
        state: pending, or skipped for a slot that was taken out in advance.
        reason: why it is in that state.
        actor: who caused it.
        tzdata: the version of the zones by which its slot was computed.
    """

    kind: Kind
    run_at: datetime
    due_at: datetime
    snapshot: Snapshot
    schedule_id: str | None = None
    state: State = State.PENDING
    reason: str = ""
    actor: str = ""
    tzdata: str = ""

    def born(self, identity: str, now: datetime) -> "Execution":
        """Return the execution with an id and a time of birth."""
        return build_execution(id=identity, created_at=now, **vars(self))


build_draft = builder(Draft)


class ExecutionChanges(TypedDict, total=False):
    """Fields of an execution that may change together with its state."""

    due_at: datetime
    reason: str
    actor: str
    attempt: int
    failures: int
    crashes: int
    first_started_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    fence: int
    session: str
    leased_until: datetime | None
    held_by: str


@dataclass(frozen=True, kw_only=True)
class Execution(Draft):
    """A durable row: one intended run.

    Attributes:
        id: made by the caller, so that a write can be repeated after a lost reply.
        created_at: when the row was written.
        attempt: how often it was started, releases not counted.
        failures: how many attempts ended in an error; `retry` bounds them.
        crashes: how many attempts ended with their lease expired.
        first_started_at: when it first started; None until then.
        started_at: when its latest attempt started.
        finished_at: when its latest attempt, or it as a whole, ended.
        fence: a number above that of every earlier claim of any execution.
        session: the worker process that holds it while it runs.
        leased_until: when that worker loses it, unless it renews.
        held_by: the switch that holds it back, if any.
    """

    id: str
    created_at: datetime
    attempt: int = 0
    failures: int = 0
    crashes: int = 0
    first_started_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    fence: int = 0
    session: str = ""
    leased_until: datetime | None = None
    held_by: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it waits to be run."""
        return self.state in LIVE

    @property
    def is_untried(self) -> bool:
        """Whether it waits for its very first start."""
        return self.is_live and self.first_started_at is None

    @property
    def occupies_slot(self) -> bool:
        """Whether its slot counts as having a row."""
        return self.kind is Kind.SCHEDULED and self.state is not State.SUPERSEDED

    @property
    def key(self) -> str:
        """The idempotency key: the same for every attempt at the same piece of work."""
        return key_of(self.snapshot.name, self.run_at, self.kind, self.id)

    def is_due(self, now: datetime) -> bool:
        """Tell whether it may start as far as time is concerned."""
        return self.due_at <= now

    def ran_at(self, instant: datetime) -> bool:
        """Tell whether an attempt of it was in progress at an instant, by what the row knows.

        An attempt whose lease has run out is over, though no worker has taken it back yet.
        """
        if self.started_at is None or self.started_at > instant:
            return False
        if self.state is not State.RUNNING:
            return self.finished_at is not None and self.finished_at > instant
        return self.lost_at is None or self.lost_at > instant

    @property
    def lost_at(self) -> datetime | None:
        """When the lease of a running attempt ends; None if the row does not know it."""
        until, started = self.leased_until, self.started_at
        return until if until and started and until > started else None

    def to(self, state: State, **changes: Unpack[ExecutionChanges]) -> "Execution":
        """Return it in another state; IllegalTransition if the table has no such way."""
        check_transition(self.state, state)
        return copy_with(self, state=state, **changes)


build_execution = builder(Execution)


@dataclass(frozen=True, kw_only=True)
class SlotRange:
    """An unbroken run of slots that passed without a row of their own, and why."""

    schedule_id: str
    first: datetime
    last: datetime
    count: int
    reason: str

    @property
    def state(self) -> State:
        """The state that an execution of these slots would have: skipped, superseded or missed."""
        return _STATES_OF_RANGES.get(self.reason, State.MISSED)


# By reason; every other one is a miss, such as "missed: held by" a switch.
_STATES_OF_RANGES: dict[str, State] = {
    Reason.DISABLED: State.SKIPPED,
    Reason.PAUSED: State.SKIPPED,
    Reason.EDITED: State.SUPERSEDED,
    Reason.ENDED: State.SUPERSEDED,
    Reason.DELETED: State.SUPERSEDED,
}
