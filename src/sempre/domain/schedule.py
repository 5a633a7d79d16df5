"""A schedule: what was declared, and how far it has got."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from sempre.domain.arguments import are_same_json
from sempre.domain.definition import Definition
from sempre.domain.snapshot import Snapshot, build_snapshot
from sempre.domain.values import builder

__all__ = ["AHEAD", "Pause", "Schedule", "build_schedule"]

AHEAD = timedelta(seconds=2)
"""So far may a cursor lie after the store's now: the clocks of two servers differ a little."""

# What a snapshot takes over from a definition as it is; of arguments, types count as well.
_shared = itemgetter(
    *("job", "grid", "queue", "priority", "retry", "timeout", "on_unknown"),
    *("overlap", "deadline", "jitter", "redact"),
)


@dataclass(frozen=True, kw_only=True)
class Pause:
    """An operator's stop, apart from the definition, so that a deploy never ends it.

    Attributes:
        until: the first instant at which a slot may run again; None is until it is resumed.
        note: why.
        actor: who.
    """

    until: datetime | None = None
    note: str = ""
    actor: str = ""

    def holds(self, now: datetime) -> bool:
        """Tell whether the pause is in force at an instant."""
        return self.until is None or now < self.until


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A durable row: a definition, and what has been decided of its grid.

    Attributes:
        id: given by the caller, never used again.
        name: unique among schedules that are not deleted.
        definition: what the user declared or edited.
        created_at: when; the cursor starts here.
        cursor: every slot up to here is decided; it never passes now, and goes back only to a
            now that was set back before it.
        revision: +1 at every change that a person or deploy makes, and at every start of what must
            not overlap and is no slot's first: so a claim planned from before is refused.
        starts: first starts of kind scheduled so far, which `limit` bounds.
        started: whether it has begun to have a next row.
        pause: the operator's stop, if any.
        broken: what is wrong with the grid, or an empty text.
        ended: whether no slot is left: past `until`, at its `limit`, or the grid has no more.
        deleted: whether it is gone; its due rows still run from their snapshot.
        next_run_at: the slot of its next row, so that a missing one is found by an index.
        declared: what the code last declared, as JSON; empty for one that no code declares.
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
        """Whether it must have a next row, if its grid has another slot."""
        paused_for_good = self.pause is not None and self.pause.until is None
        stopped = self.deleted or self.has_reached_limit or paused_for_good
        return self.started and self.definition.enabled and not stopped

    def is_ahead(self, now: datetime) -> bool:
        """Tell whether the cursor lies in the future: the store's clock had jumped there."""
        return self.cursor > now + AHEAD

    def allows_start(self, now: datetime) -> bool:
        """Tell whether anything but a manual execution may start at an instant."""
        return self.definition.enabled and not (self.pause is not None and self.pause.holds(now))

    def snapshot(self, *, known: Snapshot | None = None) -> Snapshot:
        """Return what an execution needs to know to run without this schedule.

        A known one that says the same, and is of the same revision, is returned as it is: whoever
        stores it then sees without comparing that it is stored already.
        """
        declared = self.definition
        if known is not None and self._is_told_by(known):
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
        )

    def _is_told_by(self, known: Snapshot) -> bool:
        if known.revision != self.revision or known.name != self.name or known.tags:
            return False
        same = _shared(vars(known)) == _shared(vars(self.definition))
        return same and are_same_json(known.args, self.definition.args)


build_schedule = builder(Schedule)
