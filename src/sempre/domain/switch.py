"""Switches: what somebody has turned off for now, and which executions that stops."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sempre.domain.execution import Draft, Execution
from sempre.domain.states import Kind, Reason

__all__ = ["Switch", "held_by", "stopping"]

DIGITS = "0123456789"


@dataclass(frozen=True)
class Switch:
    """A kill switch: what it stops, how, why and until when.

    Executions of kind manual pass every switch: a person asked for them. Where several are off for
    the same execution, one that holds goes before one that rejects: what is held is not lost.

    Attributes:
        name: of the switch.
        target: `job:name`, `queue:name`, `tag:name`, `pair:job` or `all`. A pair is the schedule
            `pair:job`, with its shards `pair:job/1` and so on.
        mode: "reject" refuses new work and skips slots when they are due; "hold" keeps it waiting.
            A mode of a newer release, which this one does not know, counts as "hold".
        until: when it goes on again by itself; None is when somebody does it.
        rejected: how much one-off work it has refused since it went off, as far as was asked for.
    """

    name: str
    target: str
    mode: Literal["reject", "hold"] = "reject"
    reason: str = ""
    actor: str = ""
    until: datetime | None = None
    rejected: int = 0

    @property
    def holds(self) -> bool:
        """Whether it keeps what it stops waiting."""
        return self.mode != "reject"

    def stops(self, row: Draft, tags: Collection[str] = ()) -> bool:
        """Tell whether it is meant for an execution, given the tags of its schedule.

        One-off work has those of its job.
        """
        if row.kind is Kind.MANUAL:
            return False
        if self.target == "all":
            return True
        what, _, name = self.target.partition(":")
        snapshot = row.snapshot
        if what == "pair":
            return row.schedule_id is not None and self._is_for_pair(snapshot.name)
        if what == "tag":
            return name in tags or name in snapshot.tags
        return name == {"job": snapshot.job, "queue": snapshot.queue}.get(what)

    def has_held(self, row: Execution, now: datetime, tags: Collection[str] = ()) -> bool:
        """Tell whether it has kept a slot waiting past the time at which the slot was due."""
        waits = row.kind is Kind.SCHEDULED and row.is_untried and row.is_due(now)
        return waits and self.holds and self.stops(row, tags)

    def is_same_stop(self, other: "Switch | None") -> bool:
        """Tell whether another switch stops the same in the same way, whatever its reason."""
        if other is None:
            return False
        return (self.name, self.target, self.mode) == (other.name, other.target, other.mode)

    def _is_for_pair(self, name: str) -> bool:
        return name == self.target or name.rstrip(DIGITS) == f"{self.target}/"


def held_by(name: str) -> str:
    """Return the reason for which an execution waits, or a slot that was due has waited."""
    return f"{Reason.HELD} by {name}"


def stopping(switches: Iterable[Switch], row: Draft, tags: Collection[str] = ()) -> Switch | None:
    """Return the switch that decides about an execution, of those that are off; None if it is free.

    Of two in the same mode it is the first by name.
    """
    found = [switch for switch in switches if switch.stops(row, tags)]
    return min(found, key=lambda switch: (not switch.holds, switch.name), default=None)
