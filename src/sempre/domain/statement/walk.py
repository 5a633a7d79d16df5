"""The walk through the records of a schedule in a month: every demanded slot, once, in order.

Rows and ranges come in the order of their slots. Between two of them lie no slots, by the rule that
every slot up to the cursor has one row or lies in one range. Slots that do lie there are purged, or
unexplained. Slots after the cursor are not decided yet: they wait, or will be recorded under the
reason that is in force.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import merge

from sempre.domain.definition_history import PastDefinition
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.planning.plan import TICK, PlanBuilder, PlanningTime
from sempre.domain.planning.slots import advance
from sempre.domain.schedule import Schedule
from sempre.domain.statement.daily_totals import DailyTotals
from sempre.domain.statement.demand import Demand, SlotGrid
from sempre.domain.statement.outcomes import Outcome, SlotEntry, entry_of_range, entry_of_row
from sempre.domain.statement.period import Period
from sempre.domain.states import Kind, Reason, State
from sempre.domain.values import copy_with

__all__ = ["Records", "Walk"]

WAITS = "waits for an earlier slot"
MOST_LISTED = 1000
Record = Execution | SlotRange


@dataclass(frozen=True, kw_only=True)
class Records:
    """What a store has on record about one schedule in a month.

    Attributes:
        schedule: as it is now.
        definitions: what it was defined as, oldest first.
        rows: its executions of every kind, in parts, each sorted by slot; the parts in order.
        ranges: its ranges of slots that touch the month, in order.
        totals: the counts of its purged executions.
        before: its executions just before the month, for those that waited for one.
    """

    schedule: Schedule
    definitions: Sequence[PastDefinition]
    rows: Iterable[Sequence[Execution]]
    ranges: Sequence[SlotRange]
    totals: DailyTotals
    before: Sequence[Execution] = ()


class Walk:
    """One walk through the records of a schedule.

    Attributes:
        replaced: how many executions of kind scheduled were superseded; other records have their
            slots.
        other_counts: executions of other kinds, such as manual ones, by kind and state.
        other_runs: the first of these executions.
        revisions: the first and the last revision among the executions; None without any.
    """

    def __init__(
        self, records: Records, period: Period, *, now: datetime, late: timedelta | None = None
    ) -> None:
        """Take the records; `late` replaces the tolerance of the schedule."""
        self._records, self._period = records, period
        self._schedule = records.schedule
        self._demand = Demand(records.definitions)
        self._until = min(period.end - TICK, now)
        self._tolerance = records.schedule.definition.tolerance
        self._late = self._tolerance if late is None else late
        self._near: Sequence[Execution] = records.before
        self._position = max(period.start - TICK, records.schedule.created_at)
        self._left: SlotGrid | None = None
        self.replaced = 0
        self.other_counts: Counter[tuple[Kind, State]] = Counter(records.totals.others)
        self.other_runs: list[Execution] = []
        self.revisions: tuple[int, int] | None = None

    @property
    def is_known(self) -> bool:
        """Whether the grid was known in the whole period, so far."""
        return self._demand.is_known

    def entries(self) -> Iterator[SlotEntry]:
        """Yield the outcome of every slot that was demanded in the period, in order."""
        held: SlotEntry | None = None
        for record in self._in_order():
            if isinstance(record, Execution):
                self._note_revision(record)
                if record.kind is not Kind.SCHEDULED:
                    held = self._made_good(held, record)
                    continue
                if record.state is State.SUPERSEDED:
                    self.replaced += 1
                    continue
            if held is not None:
                yield held
            yield from self._missing_before(record)
            held = self._entry(record)
        if held is not None:
            yield held
        yield from self._missing(self._decided_until, None)
        yield from self._records.totals.rest()

    @property
    def _decided_until(self) -> datetime:
        return min(self._until, self._schedule.cursor)

    def _in_order(self) -> Iterator[Record]:
        """Yield rows and ranges by their first slot; a backfill comes after the row of its slot."""
        ranges = self._cut(self._records.ranges)
        decided = max([self._schedule.cursor, *(each.last for each in self._records.ranges)])
        undecided: list[Execution] = []
        recorded: Iterator[Record] = iter(ranges)
        for record in merge(self._rows(), recorded, key=_place):
            if isinstance(record, Execution) and record.run_at > decided:
                undecided.append(record)
            else:
                yield record
        passing: list[Record] = [*undecided, *self._passing(undecided, decided)]
        yield from sorted(passing, key=_place)

    def _cut(self, ranges: Iterable[SlotRange]) -> list[SlotRange]:
        cut = (self._demand.cut(each, self._period.start, self._until) for each in ranges)
        return [each for each in cut if each is not None]

    def _rows(self) -> Iterator[Record]:
        before = self._records.before
        for part in self._records.rows:
            self._near, before = [*before, *part], part
            ordered = sorted(part, key=_place)
            yield from (row for row in ordered if self._period.start <= row.run_at <= self._until)

    def _passing(self, rows: Sequence[Execution], decided: datetime) -> list[SlotRange]:
        """Return the slots after the last decided one that have passed without a row."""
        schedule = copy_with(self._schedule, cursor=decided)
        if schedule.deleted or schedule.broken or self._until <= decided:
            return []
        builder = PlanBuilder(schedule, rows, PlanningTime(self._until))
        advance(builder, self._until, WAITS)
        return self._cut(builder.plan().ranges)

    def _missing_before(self, record: Record) -> Iterator[SlotEntry]:
        """Yield slots without a record between the record before and this one."""
        first, last = _slots_of(record)
        grid = record.snapshot.grid if isinstance(record, Execution) else None
        right = SlotGrid(first, grid) if grid else None
        yield from self._missing(min(first - TICK, self._decided_until), right)
        self._position = max(self._position, last)
        self._left = right or self._left

    def _missing(self, until: datetime, right: SlotGrid | None) -> Iterator[SlotEntry]:
        totals = self._records.totals
        ends = {"left": self._left, "right": right}
        found = self._demand.slots(self._position, until, **ends, by_day=not totals.is_empty)
        for passed in found:
            yield from totals.explain(passed)

    def _entry(self, record: Record) -> SlotEntry | None:
        """Return the outcome of a record; None for slots after the end of the schedule."""
        if isinstance(record, Execution):
            limits = {"tolerance": self._tolerance, "late": self._late}
            return entry_of_row(record, self._near, **limits)
        if record.reason == Reason.ENDED:
            return None
        entry = entry_of_range(record)
        return replace(entry, outcome=Outcome.WAITING) if record.reason == WAITS else entry

    def _note_revision(self, row: Execution) -> None:
        number = row.snapshot.revision
        first, last = self.revisions or (number, number)
        self.revisions = min(first, number), max(last, number)

    def _made_good(self, held: SlotEntry | None, row: Execution) -> SlotEntry | None:
        """Note an execution of another kind; a backfill that succeeded makes its slot good."""
        self.other_counts[row.kind, row.state] += 1
        if len(self.other_runs) < MOST_LISTED:
            self.other_runs.append(row)
        is_done = row.kind is Kind.BACKFILL and row.state is State.SUCCEEDED
        if held is None or not is_done or not held.first <= row.run_at <= held.last:
            return held
        return replace(held, made_good=min(held.made_good + 1, held.count))


def _slots_of(record: Record) -> tuple[datetime, datetime]:
    if isinstance(record, SlotRange):
        return record.first, record.last
    return record.run_at, record.run_at


def _place(record: Record) -> tuple[datetime, int]:
    """Return the order of records: a slot's own record comes before its backfills."""
    if isinstance(record, SlotRange):
        return record.first, 0
    return record.run_at, 0 if record.kind is Kind.SCHEDULED else 1
