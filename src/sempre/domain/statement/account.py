"""Accounts: the sums of a statement, for one schedule and in total."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.domain.states import Kind, State

__all__ = ["Account", "Change", "ScheduleStatement", "Totals"]

MOST_REASONS = 40
OTHER_REASONS = "other reasons"


@dataclass(frozen=True)
class Change:
    """A logged change of a schedule within the month."""

    at: datetime
    verb: str
    actor: str
    note: str
    fields: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Totals:
    """How many slots were demanded, and what became of them.

    Attributes:
        outcomes: the number of slots, by outcome; their sum is the number of demanded slots.
        reasons: the number of slots that did not run on time, by outcome and reason.
        made_good: slots that did not run, and that a backfill ran later.
        replaced: executions that were superseded; their slots are counted by other records.
        others: executions of other kinds, by kind and state.
    """

    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    reasons: Mapping[tuple[Outcome, str], int] = field(default_factory=dict)
    made_good: int = 0
    replaced: int = 0
    others: Mapping[tuple[Kind, State], int] = field(default_factory=dict)

    @property
    def demanded(self) -> int:
        """The number of slots that were demanded up to now."""
        return sum(self.outcomes.values())

    @property
    def unexplained(self) -> int:
        """The number of demanded slots that no record explains."""
        return self.outcomes.get(Outcome.UNEXPLAINED, 0)

    def count(self, *outcomes: Outcome) -> int:
        """Return the number of slots with any of these outcomes."""
        return sum(self.outcomes.get(each, 0) for each in outcomes)


@dataclass(frozen=True, kw_only=True)
class ScheduleStatement:
    """What became of the slots of one schedule in a month.

    Attributes:
        name: of the schedule.
        job: of the schedule, as it is now.
        when: its grid in words, as it is now.
        totals: the sums.
        exceptions: the slots that did not run on time, in order; at most as many as were asked for.
        exceptions_left_out: further records of slots that did not run on time.
        runs: manual, backfill and other executions that are no slots.
        revisions: the first and last revision of its executions; None without executions.
        changes: the logged changes in the month.
        notes: what the records cannot show, one sentence each.
        deleted: whether the schedule is deleted now.
    """

    name: str
    job: str
    when: str
    totals: Totals
    exceptions: tuple[SlotEntry, ...] = ()
    exceptions_left_out: int = 0
    runs: tuple[Execution, ...] = ()
    revisions: tuple[int, int] | None = None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    deleted: bool = False


class Account:
    """Sums up entries. An account never holds more than a bounded number of reasons."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._outcomes: Counter[Outcome] = Counter()
        self._reasons: Counter[tuple[Outcome, str]] = Counter()
        self._others: Counter[tuple[Kind, State]] = Counter()
        self._made_good = 0
        self._replaced = 0

    def add(self, entry: SlotEntry) -> None:
        """Count one entry."""
        self._outcomes[entry.outcome] += entry.count
        self._made_good += entry.made_good
        if entry.outcome is not Outcome.ON_TIME:
            self._add_reason(entry.outcome, _short(entry.reason), entry.count)

    def add_runs(self, replaced: int, others: Mapping[tuple[Kind, State], int]) -> None:
        """Count executions that are no slots."""
        self._replaced += replaced
        self._others.update(others)

    def add_totals(self, totals: Totals) -> None:
        """Count the sums of a schedule."""
        self._outcomes.update(totals.outcomes)
        for (outcome, reason), count in totals.reasons.items():
            self._add_reason(outcome, reason, count)
        self._made_good += totals.made_good
        self.add_runs(totals.replaced, totals.others)

    def _add_reason(self, outcome: Outcome, reason: str, count: int) -> None:
        known = (outcome, reason) in self._reasons or len(self._reasons) < MOST_REASONS
        self._reasons[outcome, reason if known else OTHER_REASONS] += count

    def totals(self) -> Totals:
        """Return the sums so far."""
        return Totals(
            outcomes={each: self._outcomes[each] for each in Outcome if self._outcomes[each]},
            reasons=dict(_by_outcome(self._reasons)),
            made_good=self._made_good,
            replaced=self._replaced,
            others=dict(sorted(self._others.items())),
        )


def _by_outcome(
    reasons: Counter[tuple[Outcome, str]],
) -> Iterator[tuple[tuple[Outcome, str], int]]:
    """Yield reasons in the order of outcomes, the most frequent first."""
    order = list(Outcome)
    yield from sorted(reasons.items(), key=lambda each: (order.index(each[0][0]), -each[1]))


def _short(reason: str) -> str:
    """Return a reason without the text of one execution, such as its error."""
    word, _, rest = reason.partition(": ")
    return reason if word in ("missed", "purged") else word if rest else reason
