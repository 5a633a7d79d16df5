"""The states of an execution and the one table of ways between them.

Every change of state, also the watchdog's, goes through `check_transition`. The stores repeat
the same guard as a compare-and-set, so that of two parties who try, one wins.

    pending ──> scheduled ──> running ──> succeeded
       └────────────┬──────────┘  │ └───> failed
                    │  <──────────┘       cancelled, skipped
                    └──> skipped, missed ──> superseded
                         superseded, cancelled
"""

from enum import StrEnum
from types import MappingProxyType

from sempre.errors import IllegalTransition

__all__ = ["ENDS", "LIVE", "TRANSITIONS", "Kind", "Reason", "State", "check_transition"]


class State(StrEnum):
    """Where an execution is in its life."""

    PENDING = "pending"
    """Waiting; the broker has not been told."""
    SCHEDULED = "scheduled"
    """Waiting; the broker has been told."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Decided not to run, with a reason; of a future slot it can be taken back."""
    SUPERSEDED = "superseded"
    """Replaced by another row, or no longer wanted; its slot counts as having no row."""
    MISSED = "missed"
    """Not started by its deadline; of a slot that is still to come it can be taken back."""
    CANCELLED = "cancelled"


class Kind(StrEnum):
    """Why an execution exists."""

    SCHEDULED = "scheduled"
    """A slot of its schedule's grid came."""
    MANUAL = "manual"
    """A person or program triggered its schedule."""
    BACKFILL = "backfill"
    """A slot of the past is run again, or for the first time."""
    DERIVED = "derived"
    """A pair found it in the user's tables."""
    ENQUEUED = "enqueued"
    """The user's code asked for it."""


class Reason(StrEnum):
    """Why an execution or a range of slots was not run, or ended as it did."""

    MISSED = "missed"
    DISABLED = "disabled"
    PAUSED = "paused"
    EDITED = "edited"
    ENDED = "ended"
    DELETED = "deleted"
    BROKEN = "broken"
    OVERLAP = "overlap"
    REPLACED = "replaced"
    DEADLINE = "deadline"
    LIMIT = "limit"
    REQUESTED = "requested"
    DRIFT = "drift"
    ERROR = "error"
    RETRIES_EXHAUSTED = "retries exhausted"
    UNKNOWN_OUTCOME = "unknown outcome"
    QUARANTINED = "quarantined"
    RELEASED = "released"
    SWITCHED_OFF = "switched off"
    HELD = "held"
    COALESCED = "coalesced"
    NOT_NEEDED = "not needed"
    CLOCK = "clock"
    """It was decided while the store's clock was ahead; the slot is still to come."""


LIVE = frozenset({State.PENDING, State.SCHEDULED})
"""The states of an execution that waits to be run; a claim accepts them all."""

_GIVEN_UP = {State.SKIPPED, State.SUPERSEDED, State.MISSED, State.CANCELLED}

TRANSITIONS = MappingProxyType(
    {
        State.PENDING: frozenset({State.SCHEDULED, State.RUNNING, State.FAILED, *_GIVEN_UP}),
        State.SCHEDULED: frozenset({State.RUNNING, State.FAILED, *_GIVEN_UP}),
        State.RUNNING: frozenset(
            {State.SUCCEEDED, State.FAILED, State.SCHEDULED, State.SKIPPED, State.CANCELLED}
        ),
        State.SKIPPED: frozenset({State.SUPERSEDED}),
        State.SUCCEEDED: frozenset(),
        State.FAILED: frozenset(),
        State.SUPERSEDED: frozenset(),
        State.MISSED: frozenset({State.SUPERSEDED}),
        State.CANCELLED: frozenset(),
    }
)
"""From each state, the states that it leads to."""

ENDS = frozenset(set(State) - LIVE - {State.RUNNING})
"""The states that are an end for history, though of a future slot some can be taken back."""


def check_transition(before: State, after: State) -> None:
    """Raise IllegalTransition unless the table has a way from one state to the other."""
    if after not in TRANSITIONS[before]:
        ways = ", ".join(sorted(TRANSITIONS[before])) or "nowhere: it is final"
        message = f"an execution that is {before} cannot become {after}; it leads to {ways}."
        raise IllegalTransition(message)
