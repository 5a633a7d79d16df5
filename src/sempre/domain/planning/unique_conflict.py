"""Unique conflicts: a retry whose unique key another execution has taken meanwhile.

Only the store knows which keys are taken, at the instant when it writes. So the store itself
replaces the planned retry by a failure that names the other execution.
"""

from sempre.domain.planning.plan import Change
from sempre.domain.states import ENDS, Reason, State

__all__ = ["coalesce", "is_next_try", "is_revival"]


def is_next_try(change: Change) -> bool:
    """Whether a change makes a running execution wait again: a retry, a rerun or a release."""
    return change.before.state is State.RUNNING and change.after.is_live


def is_revival(change: Change) -> bool:
    """Whether a change makes an ended execution wait again: an operator retries it.

    A store refuses the change if another execution holds the unique key.
    """
    return change.before.state in ENDS and change.after.is_live


def coalesce(change: Change, into: str) -> Change:
    """Return the failure that replaces a next try; the execution `into` does the work."""
    after = change.after
    ended = change.before.to(
        State.FAILED,
        reason=f"{Reason.COALESCED} into {into}",
        actor=after.actor,
        attempt=after.attempt,
        failures=after.failures,
        crashes=after.crashes,
        finished_at=after.finished_at,
        leased_until=None,
    )
    return Change(change.before, ended)
