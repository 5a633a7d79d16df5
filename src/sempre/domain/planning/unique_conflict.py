"""Coalescing: the end of an execution whose unique key another one has taken meanwhile.

Which keys are taken only the store knows, at the very moment when it writes; so it is the store
that asks for this, in place of the next try that was planned.
"""

from sempre.domain.planning.plan import Change
from sempre.domain.states import Reason, State

__all__ = ["coalesce", "is_next_try"]


def is_next_try(change: Change) -> bool:
    """Tell whether a change lets an execution that has run wait again: retry, rerun or release."""
    return change.before.state is State.RUNNING and change.after.is_live


def coalesce(change: Change, into: str) -> Change:
    """Return the failure that takes the place of a next try; the other execution does the work."""
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
