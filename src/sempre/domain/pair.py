"""Pairs: what one look at the user's tables found, and what is known of it afterwards."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from sempre.domain.arguments import Json
from sempre.domain.redaction import redacted_text
from sempre.errors import SempreError
from sempre.grids.grid import Grid

__all__ = ["PAIR", "POISON_AFTER", "Scan", "cadence_of", "is_pair", "pair_name"]

PAIR = "pair:"
TICK = timedelta(microseconds=1)
POISON_AFTER = 5
"""So many failures in a row make work poison."""
NAMED = 20
"""So many keys are named in a scan; the numbers count them all."""


def pair_name(job: str, shard: int | None = None) -> str:
    """Return the name of the schedule of a job's pair, or of one of its shards."""
    return f"{PAIR}{job}" if shard is None else f"{PAIR}{job}/{shard}"


def is_pair(schedule: str) -> bool:
    """Tell whether a schedule is that of a pair."""
    return schedule.startswith(PAIR)


def cadence_of(grid: Grid, at: datetime) -> timedelta:
    """Return the time from a slot to the next one; of another instant, between the next two.

    A grid that cannot be asked, or ends, counts as daily.
    """
    try:
        first, second = grid.times(at - TICK, 2)
    except (SempreError, ValueError):
        return timedelta(days=1)
    return second - first


@dataclass
class Scan:
    """What one run of a pair's query found; it is stored as the result of that run.

    Attributes:
        found: how many runs of the job should exist.
        enqueued: how many of them did not, and do now.
        already_live: how many waited or ran already.
        rejected: how many a switch or gate refused.
        backing_off: how many wait because the last try has failed.
        poisoned: how many have failed five times in a row or more.
        poison: the unique keys of some of those.
        uncovered: how many of what the contract returned the query did not.
        uncovered_work: the unique keys of some of those.
        full_scans: tables that the query reads as a whole, though they are big.
        oldest_s: how long ago the oldest of those that waited or ran was put in, in seconds.
        seconds: how long the run took.
        cadence_s: how long it may take: the time to the next run.
    """

    found: int = 0
    enqueued: int = 0
    already_live: int = 0
    rejected: int = 0
    backing_off: int = 0
    poisoned: int = 0
    poison: list[str] = field(default_factory=list)
    uncovered: int = 0
    uncovered_work: list[str] = field(default_factory=list)
    full_scans: list[str] = field(default_factory=list)
    oldest_s: float = 0.0
    seconds: float = 0.0
    cadence_s: float = 0.0

    @property
    def is_behind(self) -> bool:
        """Whether it took longer than the time to the next run."""
        return self.cadence_s > 0 and self.seconds > self.cadence_s

    def note_poison(self, key: str) -> None:
        """Count a key that fails again and again."""
        self.poisoned += 1
        if len(self.poison) < NAMED:
            self.poison.append(key)

    def note_uncovered(self, key: str) -> None:
        """Count what should have been found."""
        self.uncovered += 1
        if len(self.uncovered_work) < NAMED:
            self.uncovered_work.append(key)

    def to_json(self) -> dict[str, Json]:
        """Return it as the result of a run."""
        return asdict(self)

    def shown(self) -> dict[str, Json]:
        """Return it as it may be shown: unique keys are made of arguments."""
        poison, uncovered = (
            [redacted_text(key) for key in keys] for keys in (self.poison, self.uncovered_work)
        )
        return {**self.to_json(), "poison": [*poison], "uncovered_work": [*uncovered]}

    @classmethod
    def read(cls, result: object) -> "Scan | None":
        """Return what an earlier run has stored; None if it is no such result."""
        if not isinstance(result, Mapping) or "found" not in result:
            return None
        known = {each.name for each in fields(cls)}
        values: dict[str, Any] = {str(name): value for name, value in result.items()}
        return cls(**{name: value for name, value in values.items() if name in known})
