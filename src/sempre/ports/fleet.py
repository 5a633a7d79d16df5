"""The part of a store's port that operators use for workers and queues."""

from collections.abc import Sequence
from typing import Protocol

from sempre.domain.action import Action
from sempre.ports.messages import Reading, Waiting

__all__ = ["Fleet"]


class Fleet(Protocol):
    """The operations of every store on the fleet of workers and its backlog."""

    def drain(self, session_ids: Sequence[str], *, actions: Sequence[Action] = ()) -> list[bool]:
        """Ask workers to finish their runs and to stop; True for each session that exists.

        Of `actions`, one for each session, those of existing sessions are added to the log.

        The worker learns it from its next tick, as `Tick.drain`, and from every tick after that.
        The request ends with the session: a session that is registered again is not draining.
        """
        ...

    def held(self, *, limit: int) -> Reading[list[Waiting]]:
        """Return live executions that `held_by` holds back, at most `limit`, in any order.

        Slots of schedules that a switch stops are not among them: these are due, and their claim
        waits for the switch.
        """
        ...
