"""Words of statements that several forms share."""

from collections.abc import Mapping
from datetime import datetime

from sempre.app.statement.month import MonthStatement
from sempre.app.times import format_duration, format_instant
from sempre.domain.statement.account import ScheduleStatement, Totals
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.errors.wording import counted

__all__ = [
    "COLUMNS",
    "OTHER",
    "detail",
    "other_runs",
    "period_text",
    "revision_text",
    "slots_text",
    "unexplained_text",
]

COLUMNS: Mapping[str, Outcome] = {
    "ON TIME": Outcome.ON_TIME,
    "LATE": Outcome.LATE,
    "RETRIED": Outcome.RETRIED,
    "FAILED": Outcome.FAILED,
    "SKIPPED": Outcome.SKIPPED,
    "MISSED": Outcome.MISSED,
}
"""The outcomes with a column of their own, by heading; every other outcome is in OTHER."""
OTHER = tuple(each for each in Outcome if each not in COLUMNS.values())


def period_text(statement: MonthStatement) -> str:
    """Return the period of a statement, and that it ends early if the month is not over."""
    period = statement.period
    open_month = statement.made_at < period.end
    return f"{period.month} ({period.zone})" + (", up to now" if open_month else "")


def slots_text(entry: SlotEntry, zone: str, now: datetime) -> str:
    """Return the slot of an entry, or its first and last slot; years where they are not now's."""
    first = format_instant(entry.first, zone, now=now, labelled=False)
    if entry.first == entry.last:
        return first
    return f"{first} to {format_instant(entry.last, zone, now=now, labelled=False)}"


def detail(entry: SlotEntry) -> str:
    """Return why slots did not run on time, and what became of them later."""
    parts = [entry.reason]
    if entry.outcome is Outcome.LATE:
        parts = [_late_text(entry)]
    if entry.made_good:
        later = "" if entry.count == 1 else f"{entry.made_good:,} "
        parts.append(f"{later}run later by a backfill")
    return "; ".join(filter(None, parts))


def _late_text(entry: SlotEntry) -> str:
    """Return how late a run began."""
    return f"started {format_duration(entry.late_by)} late" if entry.late_by else entry.reason


def other_runs(totals: Totals) -> str:
    """Return the executions that are no slots: `2 manual (2 succeeded)`."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for (kind, state), count in totals.others.items():
        kinds.setdefault(kind, []).append((state, count))
    return ", ".join(
        f"{sum(count for _, count in states):,} {kind} "
        f"({', '.join(f'{count:,} {state}' for state, count in states)})"
        for kind, states in kinds.items()
    )


def revision_text(found: ScheduleStatement) -> str:
    """Return the revisions of a schedule in the month: `2 to 5`."""
    if found.revisions is None:
        return ""
    first, last = found.revisions
    return f"{first}" if first == last else f"{first} to {last}"


def unexplained_text(totals: Totals) -> str:
    """Return the sentence about slots that no record explains; empty if there are none."""
    count = totals.unexplained
    return f"{counted(count, 'slot')} unexplained: demanded, and without a record" if count else ""
