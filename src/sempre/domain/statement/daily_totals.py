"""Daily totals: what the counts of purged executions show about slots without a row.

Counts are kept by UTC day. A day that lies partly in the month of another zone has a total that
does not show which part is the month's: its slots are `purged`, and a note says so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time

from sempre.domain.statement.account import Totals
from sempre.domain.statement.outcomes import Outcome, SlotEntry, outcome_of_state
from sempre.domain.statement.period import Period
from sempre.domain.states import Kind, State
from sempre.grids.grid import Passed

__all__ = ["DailyTotals", "DayTotal", "daily_total_notes"]

EDGE = "purged: a part of the daily total of"
DayTotal = tuple[date, State, Kind | None, int]
"""The UTC day, state, kind and number of purged executions; the kind is None if it is unknown."""


class DailyTotals:
    """The counts of purged executions of one schedule, used up slot by slot."""

    def __init__(self, totals: Iterable[DayTotal], period: Period) -> None:
        """Take the counts of any day; days outside of the period are left out."""
        self._period = period
        self._slots: dict[date, Counter[State]] = {}
        self._any_kind: Counter[date] = Counter()
        self._edges: Counter[date] = Counter()
        self.others: Counter[tuple[Kind, State]] = Counter()
        for day, state, kind, count in totals:
            if self._touches(day):
                self._add(day, state, kind, count)

    def _touches(self, day: date) -> bool:
        first, last = self._period.start.date(), self._period.end.date()
        return first <= day <= last and datetime.combine(day, time(0), UTC) < self._period.end

    def _add(self, day: date, state: State, kind: Kind | None, count: int) -> None:
        if kind is None and state is not State.SUPERSEDED:
            self._any_kind[day] += count
        elif kind is Kind.SCHEDULED and state is not State.SUPERSEDED:
            if self._period.has_whole(day):
                self._slots.setdefault(day, Counter())[state] += count
            else:
                self._edges[day] += count
        elif kind not in (None, Kind.SCHEDULED) and self._period.has_whole(day):
            self.others[kind, state] += count

    @property
    def is_empty(self) -> bool:
        """Whether no execution of the period is purged."""
        return not (self._slots or self._any_kind or self._edges)

    def explain(self, missing: Passed) -> Iterator[SlotEntry]:
        """Yield the outcomes of slots of one UTC day that have no record of their own."""
        day, left = missing.first.date(), missing.count
        for state, count in sorted(self._slots.get(day, Counter()).items()):
            taken = min(left, count)
            left -= taken
            self._slots[day][state] -= taken
            why = "purged: known by its daily total"
            yield from _some(missing, taken, outcome_of_state(state), why)
        for totals, why in (
            (
                self._edges,
                f"{EDGE} {day.isoformat()} (UTC)",
            ),
            (self._any_kind, "purged: a daily total of executions of any kind"),
        ):
            taken = min(left, totals[day])
            left -= taken
            totals[day] -= taken
            yield from _some(missing, taken, Outcome.PURGED, why)
        yield from _some(missing, left, Outcome.UNEXPLAINED, "no record")

    def rest(self) -> Iterator[SlotEntry]:
        """Yield the totals of whole days that no known grid demanded: the counts are the slots."""
        for day, states in sorted(self._slots.items()):
            start = datetime.combine(day, time(0), UTC)
            for state, count in sorted(states.items()):
                whole = Passed(start, start, count)
                yield from _some(whole, count, outcome_of_state(state), "purged: a daily total")


def daily_total_notes(totals: Totals, period: Period) -> Iterator[str]:
    """Yield what daily totals cannot show, one sentence each."""
    ran = totals.count(Outcome.RAN)
    if ran:
        what = "slot the execution is" if ran == 1 else "slots the executions are"
        yield f"Of {ran:,} {what} purged: they ran, and whether on time is not known."
    purged = {why: count for (what, why), count in totals.reasons.items() if what is Outcome.PURGED}
    edge = sum(count for why, count in purged.items() if why.startswith(EDGE))
    if edge:
        first, last = period.start.date(), period.end.date()
        what = "slot is" if edge == 1 else "slots are"
        yield f"{edge:,} {what} known only as part of the UTC daily totals of {first} and {last}."
    unknown = sum(purged.values()) - edge
    if unknown:
        what = "slot is" if unknown == 1 else "slots are"
        yield f"{unknown:,} {what} known only as daily totals of executions of any kind."


def _some(among: Passed, count: int, outcome: Outcome, reason: str) -> Iterator[SlotEntry]:
    """Yield the outcome of some slots of a day, if there are any."""
    if count > 0:
        yield SlotEntry(
            first=among.first, last=among.last, count=count, outcome=outcome, reason=reason
        )
