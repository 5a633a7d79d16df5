"""Executions: one row per intended run, and ranges of slots that passed without a row."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict, Unpack

from sempre.domain.snapshot import Snapshot
from sempre.domain.states import ENDS, LIVE, Kind, Reason, State, check_transition
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
    """Return the idempotency key of a piece of work: equal for each of its attempts."""
    slot = f"{name}:{run_at.isoformat()}"
    return slot if kind in (Kind.SCHEDULED, Kind.BACKFILL) else f"{slot}:{kind}:{identity}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An execution to create, still without an id.

    Attributes:
        kind: why the execution exists.
        run_at: the slot, which never moves.
        due_at: when the execution may start.
        snapshot: the job, arguments and policies to run with.
        schedule_id: the schedule of the execution; None for one-off work.
        state: pending, or skipped for a slot that was skipped in advance.
        reason: why the execution is in that state.
        actor: who caused the execution.
        tzdata: the version of the time zones by which the slot was computed.
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
        """Return the execution with an id and its time of creation."""
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
    retried_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Execution(Draft):
    """A durable row: one intended run.

    Attributes:
        id: made by the caller, so that a write can be repeated after a lost reply.
        created_at: when the row was created.
        attempt: the number of starts, without released ones.
        failures: the number of attempts that ended in an error; `retry` limits them.
        crashes: the number of attempts whose lease expired.
        first_started_at: when the first attempt started; None until then.
        started_at: when the latest attempt started.
        finished_at: when the latest attempt, or the whole execution, ended.
        fence: a number above that of every earlier claim of any execution.
        session: the worker process that holds the running execution.
        leased_until: when the worker loses the execution, unless it renews the lease.
        held_by: the switch or limit that holds the execution back, if any.
        retried_at: when an operator last retried the execution after it had ended.
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
    retried_at: datetime | None = None

    @property
    def is_live(self) -> bool:
        """Whether the execution waits to be run."""
        return self.state in LIVE

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in LIVE or self.state is State.RUNNING

    @property
    def ended_at(self) -> datetime | None:
        """When it ended, for history and retention; None while it waits or runs.

        A slot that was decided without a run ends when it was due to run.
        """
        return (self.finished_at or self.run_at) if self.state in ENDS else None

    @property
    def took(self) -> timedelta | None:
        """How long the latest attempt took; None before the execution has run and ended."""
        if self.started_at is None or self.finished_at is None or self.state not in ENDS:
            return None
        return max(timedelta(0), self.finished_at - self.started_at)

    @property
    def is_untried(self) -> bool:
        """Whether the execution waits for its first start, as its schedule planned it.

        A slot that was missed or skipped and that an operator retries was decided before.
        """
        return self.is_live and self.first_started_at is None and self.retried_at is None

    @property
    def occupies_slot(self) -> bool:
        """Whether the slot of the execution counts as having a row."""
        return self.kind is Kind.SCHEDULED and self.state is not State.SUPERSEDED

    @property
    def holds_slot(self) -> bool:
        """Whether no other row of its kind may be created for its slot.

        A slot has one row of kind scheduled that is not superseded, and one active backfill.
        """
        return self.is_active if self.kind is Kind.BACKFILL else self.occupies_slot

    @property
    def waits_for_slot(self) -> bool:
        """Whether it is a slot that waits for its very first start, as a next row does."""
        return self.occupies_slot and self.is_untried

    @property
    def key(self) -> str:
        """The idempotency key: equal for every attempt at this piece of work."""
        return key_of(self.snapshot.name, self.run_at, self.kind, self.id)

    def is_due(self, now: datetime) -> bool:
        """Whether the due time has come."""
        return self.due_at <= now

    def ran_at(self, instant: datetime) -> bool:
        """Whether the latest attempt was running at an instant.

        An attempt whose lease has expired is over, even if no worker has rescued it yet.
        """
        if self.started_at is None or self.started_at > instant:
            return False
        if self.state is not State.RUNNING:
            return self.finished_at is not None and self.finished_at > instant
        return self.lost_at is None or self.lost_at > instant

    @property
    def lost_at(self) -> datetime | None:
        """When the lease of a running attempt expires; None if the row has no lease."""
        until, started = self.leased_until, self.started_at
        return until if until and started and until > started else None

    def to(self, state: State, **changes: Unpack[ExecutionChanges]) -> "Execution":
        """Return the execution in another state; IllegalTransition if the table forbids it."""
        check_transition(self.state, state)
        return copy_with(self, state=state, **changes)


build_execution = builder(Execution)


@dataclass(frozen=True, kw_only=True)
class SlotRange:
    """Consecutive slots that passed without a row, and the reason."""

    schedule_id: str
    first: datetime
    last: datetime
    count: int
    reason: str

    @property
    def state(self) -> State:
        """The state that executions of these slots would have: skipped, superseded or missed."""
        return _STATES_OF_RANGES.get(self.reason, State.MISSED)


# By reason; every other reason is a miss, such as "missed: held by" a switch.
_STATES_OF_RANGES: dict[str, State] = {
    Reason.DISABLED: State.SKIPPED,
    Reason.PAUSED: State.SKIPPED,
    Reason.EDITED: State.SUPERSEDED,
    Reason.ENDED: State.SUPERSEDED,
    Reason.DELETED: State.SUPERSEDED,
}
