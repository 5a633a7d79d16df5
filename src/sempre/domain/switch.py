"""Switches that are off, and which executions they stop."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sempre.domain.execution import Draft, Execution
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason

__all__ = ["Switch", "held_by", "stopping", "stopping_schedule"]

DIGITS = "0123456789"


@dataclass(frozen=True)
class Switch:
    """A switch that is off: its target, its mode, the reason and the end.

    Manual executions pass every switch: a person requested them. Where several switches stop an
    execution, a switch that holds goes before one that rejects: held work is not lost.

    Attributes:
        name: the name of the switch.
        target: `job:name`, `queue:name`, `tag:name`, `pair:job` or `all`. A pair is the schedule
            `pair:job`, with its shards `pair:job/1` and so on.
        mode: "reject" refuses new work and skips slots when they are due; "hold" keeps it waiting.
            A mode of a newer release, which this one does not know, counts as "hold".
        until: when the switch is on again by itself; None: when a person turns it on.
        rejected: the number of one-off executions refused since, where the caller asked for it.
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
        """Whether stopped work waits instead of being rejected."""
        return self.mode != "reject"

    def stops(self, row: Draft, tags: Collection[str] = ()) -> bool:
        """Whether the switch stops an execution, given the tags of the schedule.

        One-off work has the tags of its job, in its snapshot.
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
        """Whether the switch holds a slot beyond the due time of the slot.

        A slot that waits for a limit is held by the limit.
        """
        waits = row.kind is Kind.SCHEDULED and row.is_untried and row.is_due(now)
        return waits and not row.held_by and self.holds and self.stops(row, tags)

    def is_same_stop(self, other: "Switch | None") -> bool:
        """Whether another switch has this name, target and mode, whatever its reason."""
        if other is None:
            return False
        return (self.name, self.target, self.mode) == (other.name, other.target, other.mode)

    def _is_for_pair(self, name: str) -> bool:
        return name == self.target or name.rstrip(DIGITS) == f"{self.target}/"


def held_by(name: str) -> str:
    """Return the reason of an execution that a switch holds."""
    return f"{Reason.HELD} by {name}"


def stopping(switches: Iterable[Switch], row: Draft, tags: Collection[str] = ()) -> Switch | None:
    """Return the switch that stops an execution, of those that are off; None if none does.

    Of two switches with the same mode the first by name is returned.
    """
    found = [switch for switch in switches if switch.stops(row, tags)]
    return min(found, key=lambda switch: (not switch.holds, switch.name), default=None)


def stopping_schedule(switches: Iterable[Switch], schedule: Schedule) -> Switch | None:
    """Return the switch that stops the next slot of a schedule; None if none does."""
    known = list(switches)
    if not known:
        return None
    run_at = schedule.next_run_at or schedule.cursor
    row = Draft(
        kind=Kind.SCHEDULED,
        run_at=run_at,
        due_at=run_at,
        snapshot=schedule.snapshot(),
        schedule_id=schedule.id,
    )
    return stopping(known, row, schedule.definition.tags)
