"""Schedules: one row per schedule, with its definition and how far its slots are decided."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Literal

from sempre.domain.arguments import are_same_json
from sempre.domain.definition import Definition
from sempre.domain.snapshot import Snapshot, build_snapshot

__all__ = ["AHEAD", "Audit", "Pause", "Schedule"]

Audit = Literal["sound", "needs repair", "by next row"]
"""By its next row: a schedule needs repair if the row is missing or was computed by older zones."""

AHEAD = timedelta(seconds=2)
"""How far a cursor may lie after the store's now: the clocks of two servers differ a little."""

# Fields that a snapshot copies from a definition; arguments are compared with their types.
_shared = itemgetter(
    *("job", "grid", "queue", "priority", "retry", "timeout", "on_unknown"),
    *("overlap", "deadline", "jitter", "redact"),
)


@dataclass(frozen=True, kw_only=True)
class Pause:
    """An operator's pause, outside the definition, so that a deploy never ends it.

    Attributes:
        until: the first instant at which a slot may run again; None: until it is resumed.
        note: why the schedule is paused.
        actor: who paused the schedule.
    """

    until: datetime | None = None
    note: str = ""
    actor: str = ""

    def holds(self, now: datetime) -> bool:
        """Whether the pause is in force at an instant."""
        return self.until is None or now < self.until


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A durable row: a definition, and which slots of its grid are decided.

    Attributes:
        id: made by the caller, never used again.
        name: unique among schedules that are not deleted.
        definition: what the user declared or edited.
        created_at: when the schedule was created; the cursor starts here.
        cursor: every slot up to here is decided. The cursor never passes now, and moves back only
            if the store's clock was set back.
        revision: rises by 1 at every change by a person or deploy, and at every start of a retry,
            backfill or manual run that must not overlap: an older claim is then refused.
        starts: the number of first starts of kind scheduled, which `limit` bounds.
        started: whether the schedule has begun to have a next row.
        pause: the operator's pause, if any.
        broken: what is wrong with the grid, or an empty text.
        ended: whether no slot is left: past `until`, at the `limit`, or the grid has ended.
        deleted: whether the schedule is deleted; its due rows still run from their snapshot.
        next_run_at: the slot of the next row; an index on it finds a missing row.
        declared: what code last declared, as JSON; empty if no code declares the schedule.
    """

    id: str
    name: str
    definition: Definition
    created_at: datetime
    cursor: datetime
    revision: int = 1
    starts: int = 0
    started: bool = False
    pause: Pause | None = None
    broken: str = ""
    ended: bool = False
    deleted: bool = False
    next_run_at: datetime | None = None
    declared: str = ""

    @property
    def has_reached_limit(self) -> bool:
        """Whether no further first start is allowed."""
        limit = self.definition.limit
        return limit is not None and self.starts >= limit

    @property
    def wants_next_row(self) -> bool:
        """Whether the schedule must have a next row, if its grid has another slot."""
        paused_for_good = self.pause is not None and self.pause.until is None
        stopped = self.deleted or self.has_reached_limit or paused_for_good
        return self.started and self.definition.enabled and not stopped

    @property
    def audit(self) -> Audit:
        """Whether maintenance has to repair the schedule, as far as the schedule itself tells."""
        if self.deleted or self.ended:
            return "sound"
        if not self.started:
            return "needs repair" if self.definition.enabled else "sound"
        if not self.wants_next_row:
            return "sound"
        return "needs repair" if self.broken or self.next_run_at is None else "by next row"

    def is_ahead(self, now: datetime) -> bool:
        """Whether the cursor lies in the future, where a jump of the store's clock left it."""
        return self.cursor > now + AHEAD

    def allows_start(self, now: datetime) -> bool:
        """Whether executions other than manual ones may start at an instant."""
        return self.definition.enabled and not (self.pause is not None and self.pause.holds(now))

    def snapshot(self, *, known: Snapshot | None = None) -> Snapshot:
        """Return the snapshot with which an execution runs, even if the schedule is deleted.

        If `known` is equal and of this revision, that object itself is returned: a store then sees
        by identity that the snapshot is stored already.
        """
        declared = self.definition
        if known is not None and self._equals(known):
            return known
        return build_snapshot(
            name=self.name,
            revision=self.revision,
            job=declared.job,
            args=declared.args,
            grid=declared.grid,
            queue=declared.queue,
            priority=declared.priority,
            retry=declared.retry,
            timeout=declared.timeout,
            on_unknown=declared.on_unknown,
            overlap=declared.overlap,
            deadline=declared.deadline,
            jitter=declared.jitter,
            tags=(),
            redact=declared.redact,
            limits=declared.limits,
        )

    def _equals(self, known: Snapshot) -> bool:
        if known.revision != self.revision or known.name != self.name or known.tags:
            return False
        same = _shared(vars(known)) == _shared(vars(self.definition))
        return same and are_same_json(known.args, self.definition.args)
