"""The statement of a month: totals, a row for each schedule, exceptions, and files to download.

A page states few schedules, for each costs several queries; a file states the whole month and is
written while the store is read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sempre.app.statement import MonthStatement
from sempre.app.statement.files import csv_lines, json_parts
from sempre.app.statement.page import MEANINGS, page_parts
from sempre.app.statement.texts import COLUMNS, OTHER, detail, slots_text
from sempre.domain.statement.account import ScheduleStatement, Totals
from sempre.domain.statement.outcomes import Outcome
from sempre.domain.statement.period import Period
from sempre.errors import NotFound
from sempre.grids.instants import seconds_of
from sempre.grids.zones import zone
from sempre.web.answers import FileAnswer, PageAnswer
from sempre.web.visit import Visit

__all__ = ["StatementView", "month_after", "read_statement", "statement_file", "statement_page"]

PAGE = 20
EXCEPTIONS = 200
KEPT = 60.0
"""Seconds for which visits share a statement."""
DECEMBER = 12
BAD = (Outcome.FAILED, Outcome.MISSED, Outcome.UNEXPLAINED)
Maker = Callable[[MonthStatement], Iterator[str]]
FORMS: dict[str, tuple[str, Maker]] = {
    "csv": ("text/csv; charset=utf-8", lambda found: csv_lines(found, slots=False)),
    "json": ("application/json", lambda found: json_parts(found, slots=False)),
    "html": ("text/html; charset=utf-8", page_parts),
}


@dataclass(frozen=True, kw_only=True)
class StatementView:
    """A page of a statement.

    Attributes:
        items: the statements of schedules, by name.
        totals: the sums of the items.
        is_all: whether the items are all schedules of the month that are not deleted.
        after: where the next page begins; empty at the end.
        made_at: when the statement was made.
        notes: what the statement leaves out.
    """

    period: Period
    items: tuple[ScheduleStatement, ...]
    totals: Totals
    is_all: bool
    after: str
    made_at: datetime
    notes: tuple[str, ...]

    @property
    def problems(self) -> int:
        """The number of slots that failed, were missed, or have no record."""
        return self.totals.count(*BAD)

    def outcomes(self) -> list[tuple[Outcome, int, str]]:
        """Return the outcomes that occur, with the number of slots and the meaning."""
        counts = self.totals.outcomes
        return [(each, counts[each], MEANINGS[each]) for each in Outcome if counts.get(each)]


def statement_page(visit: Visit) -> PageAnswer:
    """Return the statement of the month that the URL asks for."""
    present = _month_of(visit.reader.engine.present(), visit.zone)
    month = visit.asked("month", present)
    filters = {name: visit.asked(name) for name in ("q", "job", "tag", "schedule")}
    key = ("statement", month, visit.zone, visit.asked("after"), *filters.values())
    view = visit.shared.value(repr(key), lambda: read_statement(visit, month), seconds=KEPT)
    values = {
        "view": view,
        "month": month,
        "before": month_after(month, -1),
        "following": month_after(month, 1) if month < present else "",
        "filters": filters,
        "columns": {name.capitalize(): each for name, each in COLUMNS.items()},
        "other": OTHER,
        "bad": BAD,
        "detail": detail,
        "slots_text": slots_text,
        "most": EXCEPTIONS,
        "forms": tuple(FORMS),
        "chosen": {name: filters[name] for name in ("job", "tag", "schedule")},
    }
    return PageAnswer("statement.html", f"Statement of {month}", values)


def statement_file(visit: Visit) -> FileAnswer:
    """Return the statement of a month as a file to download.

    Raises:
        NotFound: there is no such form, or no such schedule.
    """
    form = visit.params["form"]
    if form not in FORMS:
        raise NotFound("form of a statement", form)
    month = visit.asked("month", _month_of(visit.reader.engine.present(), visit.zone))
    found = _statement(visit, month)
    # An unknown schedule is refused here: later the head of the file is sent already.
    found.page(limit=1)
    media_type, make = FORMS[form]
    return FileAnswer(f"statement-{found.period.month}.{form}", media_type, make(found))


def read_statement(visit: Visit, month: str) -> StatementView:
    """Read a page of the statement of a month."""
    found = _statement(visit, month)
    after = visit.asked("after")
    page = found.page(limit=PAGE, after=after, text=visit.asked("q"))
    return StatementView(
        period=found.period,
        items=page.items,
        totals=found.totals,
        is_all=not after and not page.after,
        after=page.after,
        made_at=found.made_at,
        notes=tuple(found.notes),
    )


def month_after(month: str, count: int) -> str:
    """Return the month so many months after another: `2026-12` and 1 give `2027-01`."""
    year, number = map(int, month.split("-"))
    years, rest = divmod(number - 1 + count, DECEMBER)
    return f"{year + years:04}-{rest + 1:02}"


def _statement(visit: Visit, month: str) -> MonthStatement:
    return visit.operator.statement(
        month=month,
        zone=visit.zone,
        schedule=visit.asked("schedule") or None,
        job=visit.asked("job") or None,
        tag=visit.asked("tag") or None,
    )


def _month_of(instant: datetime, timezone: str) -> str:
    offset = zone(timezone).offset_at(seconds_of(instant))
    return f"{instant.astimezone(UTC) + timedelta(seconds=offset):%Y-%m}"
