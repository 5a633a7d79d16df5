"""The states of an execution and the one table of transitions.

Every change of state, also by the watchdog, goes through `check_transition`. Stores repeat the
check as a compare-and-set, so that one of two concurrent writers wins.

    pending ──> scheduled ──> running ──> succeeded
       └────────────┬──────────┘  │ └───> failed
                    │  <──────────┘       cancelled, skipped
                    └──> skipped, missed ──> superseded
                         superseded, cancelled

An operator who retries an execution turns failed, missed, skipped or cancelled back to pending, and
who discards one turns failed to cancelled.
"""

from enum import StrEnum
from types import MappingProxyType

from sempre.errors import IllegalTransition

__all__ = [
    "ENDS",
    "LIVE",
    "OUTCOMES",
    "RETRIABLE",
    "TRANSITIONS",
    "Kind",
    "Reason",
    "State",
    "check_transition",
]


class State(StrEnum):
    """The state of an execution."""

    PENDING = "pending"
    """Waiting; not announced to the broker yet."""
    SCHEDULED = "scheduled"
    """Waiting; announced to the broker."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Decided not to run, with a reason; the skip of a future slot can be taken back."""
    SUPERSEDED = "superseded"
    """Replaced by another row, or no longer needed; its slot counts as having no row."""
    MISSED = "missed"
    """Not started by its deadline; taken back if a clock jump put its slot in the future."""
    CANCELLED = "cancelled"


class Kind(StrEnum):
    """Why an execution exists."""

    SCHEDULED = "scheduled"
    """A slot of the schedule's grid."""
    MANUAL = "manual"
    """A person or program triggered the schedule."""
    BACKFILL = "backfill"
    """A past slot is run, again or for the first time."""
    DERIVED = "derived"
    """A pair found the work in the user's tables."""
    ENQUEUED = "enqueued"
    """The user's code enqueued the work."""


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
    NOT_RETRIED = "not retried"
    """The policy of the execution does not retry failures of this exception type."""
    RETRY_LATER = "retry later"
    """The job raised RetryLater."""
    UNKNOWN_OUTCOME = "unknown outcome"
    QUARANTINED = "quarantined"
    RELEASED = "released"
    SWITCHED_OFF = "switched off"
    HELD = "held"
    COALESCED = "coalesced"
    NOT_NEEDED = "not needed"
    RETRIED = "retried"
    DISCARDED = "discarded"
    GAVE_UP = "gave up"
    CLOCK = "clock"
    """Decided while the store's clock was ahead; the slot is still to come."""


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
        State.SKIPPED: frozenset({State.SUPERSEDED, *LIVE}),
        State.SUCCEEDED: frozenset(),
        State.FAILED: frozenset({State.CANCELLED, *LIVE}),
        State.SUPERSEDED: frozenset(),
        State.MISSED: frozenset({State.SUPERSEDED, *LIVE}),
        State.CANCELLED: frozenset(LIVE),
    }
)
"""For each state, the states that may follow."""

ENDS = frozenset(set(State) - LIVE - {State.RUNNING})
"""Final states, unless an operator retries the execution or takes back a skip; and a miss of a
future slot is taken back after a jump of the clock."""
OUTCOMES = frozenset({State.SUCCEEDED, State.FAILED})
"""The final states of an execution that ran: they decide whether a schedule is failing."""
RETRIABLE = frozenset({State.FAILED, State.MISSED, State.SKIPPED, State.CANCELLED})
"""The final states from which an operator may retry an execution."""


def check_transition(before: State, after: State) -> None:
    """Raise IllegalTransition unless the table allows the change of state."""
    if after not in TRANSITIONS[before]:
        ways = ", ".join(sorted(TRANSITIONS[before])) or "nowhere: it is final"
        message = f"an execution that is {before} cannot become {after}; it leads to {ways}."
        raise IllegalTransition(message)
