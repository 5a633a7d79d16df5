"""The report of a maintenance pass: what the pass did, and where the next pass goes on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sempre.domain.arguments import Json
from sempre.engine.reconciler import Reconciled

__all__ = ["PassReport"]

KEPT = (
    *("slice_after", "round_size", "last_round", "looked_after", "sentinels", "audits"),
    *("renewed_at", "purging_since", "purges"),
)


@dataclass
class PassReport:
    """What a pass did; kept in the store, where the next pass reads it.

    Attributes:
        interval: seconds until the next pass is due.
        lock_acquired: whether this pass was the one that was due.
        schedules_processed: schedules that were found by index, or checked in turn.
        schedules_failed: schedules that could not be repaired.
        executions_created: rows that were missing or had drifted.
        orphans_enqueued: rows that had no ticket on the broker.
        rung_again: rows that got another ticket, because the broker had lost its messages.
        purged: rows deleted because they ended longer ago than retention.
        switches_off: how many switches are off.
        schedules_unreadable: schedules that were left alone, since this process cannot read them.
        deaf: lanes whose tickets the broker takes and does not deliver to this process.
        seconds: how long the pass took.
        slice_after: the last id of the stretch that was checked.
        round_size: how many schedules the daily round has seen so far.
        last_round: how many schedules the round before saw in all.
        looked_after: the last id of the slice that was checked in full.
        sentinels: the message in each lane whose absence shows a loss.
        audits: which schedules were checked when, in stretches.
        purging_since: since when passes leave rows that are to be purged; a text, empty if not.
        purges: how far history was examined under each retention, and since when.
        renewed_at: when workers set the emptied store up again; as a text.
    """

    interval: int = 0
    lock_acquired: bool = True
    schedules_processed: int = 0
    schedules_failed: int = 0
    executions_created: int = 0
    orphans_enqueued: int = 0
    rung_again: int = 0
    purged: int = 0
    switches_off: int = 0
    schedules_unreadable: int = 0
    deaf: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slice_after: str = ""
    round_size: int = 0
    last_round: int = 0
    looked_after: str = ""
    sentinels: dict[str, Json] = field(default_factory=dict)
    audits: list[Json] = field(default_factory=list)
    purging_since: str = ""
    purges: dict[str, Json] = field(default_factory=dict)
    renewed_at: str = ""

    @classmethod
    def after(cls, last: Mapping[str, Json], *, interval: int) -> "PassReport":
        """Return an empty report that goes on where the last one ended, as far as that is known."""
        empty = cls(interval)
        known: dict[str, Any] = {
            name: last[name]
            for name in KEPT
            if name in last and type(last[name]) is type(getattr(empty, name))
        }
        return cls(interval, **known)

    @property
    def facts(self) -> dict[str, Any]:
        """What the pass did, without what only the next pass needs."""
        return {name: value for name, value in asdict(self).items() if name not in KEPT}

    def __post_init__(self) -> None:
        """Begin without a failing schedule; a pass may check a schedule more than once."""
        self._failing: set[str] = set()
        self._unreadable: set[str] = set()

    def add(self, done: Reconciled) -> None:
        """Count what was reconciled."""
        self._failing |= done.failing
        self.schedules_failed = len(self._failing)
        self._unreadable |= done.unreadable
        self.schedules_unreadable = len(self._unreadable)
        self.executions_created += done.created
