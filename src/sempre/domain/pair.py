"""Pairs: the schedule that scans a user's tables for work, and the report of one scan."""

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
"""The number of failures in a row that makes work poison."""
NAMED = 20
"""The most keys that a scan names; its numbers count all keys."""


def pair_name(job: str, shard: int | None = None) -> str:
    """Return the name of the schedule of a job's pair, or of one of its shards."""
    return f"{PAIR}{job}" if shard is None else f"{PAIR}{job}/{shard}"


def is_pair(schedule: str) -> bool:
    """Whether a schedule, by its name, is the schedule of a pair."""
    return schedule.startswith(PAIR)


def cadence_of(grid: Grid, at: datetime) -> timedelta:
    """Return the time between the first two slots at or after an instant.

    A grid that is broken or has ended counts as daily.
    """
    try:
        first, second = grid.times(at - TICK, 2)
    except (SempreError, ValueError):
        return timedelta(days=1)
    return second - first


@dataclass
class Scan:
    """The report of one run of a pair's query, stored as the result of that run.

    Attributes:
        found: the number of rows that the query returned, each a piece of work.
        enqueued: the number that had no execution and were enqueued.
        already_live: the number that waited or ran already.
        rejected: the number that a switch or gate refused.
        backing_off: the number that wait because the last try has failed.
        poisoned: the number that have failed five times in a row or more.
        poison: the unique keys of some poisoned work.
        uncovered: the number that the contract returned and the query did not.
        uncovered_work: the unique keys of some uncovered work.
        full_scans: large tables that the query reads completely.
        oldest_s: the age in seconds of the oldest execution that waited or ran.
        seconds: how long the run took.
        cadence_s: the time to the next run, in which a run should end.
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
        """Whether the run took longer than the time to the next run."""
        return self.cadence_s > 0 and self.seconds > self.cadence_s

    def note_poison(self, key: str) -> None:
        """Count a poisoned key."""
        self.poisoned += 1
        if len(self.poison) < NAMED:
            self.poison.append(key)

    def note_uncovered(self, key: str) -> None:
        """Count a key that the query should have returned."""
        self.uncovered += 1
        if len(self.uncovered_work) < NAMED:
            self.uncovered_work.append(key)

    def to_json(self) -> dict[str, Json]:
        """Return the report as the result of a run."""
        return asdict(self)

    def shown(self) -> dict[str, Json]:
        """Return the report with masked keys: unique keys contain arguments."""
        poison, uncovered = (
            [redacted_text(key) for key in keys] for keys in (self.poison, self.uncovered_work)
        )
        return {**self.to_json(), "poison": [*poison], "uncovered_work": [*uncovered]}

    @classmethod
    def read(cls, result: object) -> "Scan | None":
        """Return the report that an earlier run has stored; None if the result is not a report."""
        if not isinstance(result, Mapping) or "found" not in result:
            return None
        known = {each.name for each in fields(cls)}
        values: dict[str, Any] = {str(name): value for name, value in result.items()}
        return cls(**{name: value for name, value in values.items() if name in known})
