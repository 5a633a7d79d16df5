"""The statement of a month as one page to print, sign and hand on.

The page is self-contained: no script, no picture, no request to any server. The sums stand at the
top, so the parts of the page are collected in temporary files while the store is read.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from tempfile import TemporaryFile
from typing import IO

from sempre.app.statement.month import MonthStatement
from sempre.app.statement.page_style import STYLE
from sempre.app.statement.texts import (
    COLUMNS,
    OTHER,
    detail,
    other_runs,
    period_text,
    revision_text,
    slots_text,
    unexplained_text,
)
from sempre.app.times import format_instant, json_instant
from sempre.domain.execution import Execution
from sempre.domain.statement.account import Change, ScheduleStatement, Totals
from sempre.domain.statement.outcomes import Outcome, SlotEntry
from sempre.errors import printable

__all__ = ["MEANINGS", "page_parts"]

SECTIONS = "<h2>Slots that did not run on time, other runs, and changes</h2>\n"
CHUNK = 65_536
LONG_AGO = datetime(1970, 1, 2, tzinfo=UTC)
"""Not the year of any instant on the page: so each is written with its year."""
MEANINGS = {
    Outcome.ON_TIME: "succeeded at the first attempt, begun within the tolerance",
    Outcome.LATE: "succeeded at the first attempt, begun after the tolerance",
    Outcome.RETRIED: "succeeded after failures, or retried by an operator",
    Outcome.RAN: "succeeded; the execution is purged, so whether on time is not known",
    Outcome.FAILED: "ran, and failed for good",
    Outcome.SKIPPED: "not run, by a decision: overlap, pause, disable, switch, operator",
    Outcome.MISSED: "not run: no worker started it in time",
    Outcome.CANCELLED: "ended by an operator",
    Outcome.SUPERSEDED: "given up when the schedule was edited",
    Outcome.RUNNING: "running when the statement was made",
    Outcome.WAITING: "waiting when the statement was made",
    Outcome.PURGED: "known only as a part of a daily total",
    Outcome.UNEXPLAINED: "demanded, and without any record",
}


def page_parts(statement: MonthStatement) -> Iterator[str]:
    """Yield the page in parts; the first part follows the reading of the last schedule."""
    with (
        TemporaryFile("w+", encoding="utf-8") as rows,
        TemporaryFile("w+", encoding="utf-8") as sections,
    ):
        page = _Page(statement)
        for found in statement:
            rows.write(_row(found.name, found.totals, revision_text(found)))
            sections.writelines(page.section(found))
        yield page.head()
        yield page.totals()
        yield page.table_head()
        yield from _content(rows)
        yield page.table_end()
        yield SECTIONS
        yield from _content(sections)
        yield from page.end()


def _content(part: IO[str]) -> Iterator[str]:
    part.seek(0)
    while text := part.read(CHUNK):
        yield text


class _Page:
    """The parts of the page of one statement."""

    def __init__(self, statement: MonthStatement) -> None:
        self._statement = statement
        self._zone = statement.period.zone

    def head(self) -> str:
        statement, period = self._statement, self._statement.period
        late = "the tolerance of each schedule"
        if statement.late is not None:
            late = f"{statement.late.total_seconds():g} s"
        facts = {
            "Period": f"{self._instant(period.start)} to {self._instant(period.end)}",
            "Time zone": period.zone,
            "Made": f"{self._instant(statement.made_at)} ({json_instant(statement.made_at)})",
            "Store": statement.store,
            "Late": f"begun later than {late}; waiting for an earlier run is not lateness",
        }
        title = f"Statement of {period_text(statement)}"
        listed = "".join(f"<dt>{key}</dt><dd>{_text(value)}</dd>" for key, value in facts.items())
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>\n"
            f"<header><h1>{_text(title)}</h1>"
            '<p class="quiet">The slots that the schedules demanded, and what became of each.</p>'
            f"<dl>{listed}</dl></header>\n"
        )

    def totals(self) -> str:
        totals = self._statement.totals
        shown = [each for each in Outcome if totals.count(each) or each in (*COLUMNS.values(),)]
        rows = "".join(
            f"<tr><td>{each}</td>{_number(totals.count(each))}"
            f'<td class="quiet">{MEANINGS[each]}</td></tr>'
            for each in [*shown, *([] if totals.unexplained else [Outcome.UNEXPLAINED])]
        )
        missing = unexplained_text(totals)
        verdict = (
            f'<p class="bad">{missing}.</p>'
            if missing
            else ("<p>Every demanded slot is accounted for.</p>")
        )
        return (
            '<h2>Totals</h2><table><thead><tr><th>Outcome</th><th class="n">Slots</th><th></th>'
            f'</tr></thead><tbody>{rows}<tr class="total"><td>demanded</td>'
            f"{_number(totals.demanded)}<td></td></tr></tbody></table>{verdict}\n"
        )

    def table_head(self) -> str:
        names = "".join(
            f'<th class="n">{name.capitalize()}</th>' for name in ("DEMANDED", *COLUMNS, "OTHER")
        )
        return (
            '<h2>Schedules</h2><table class="dense"><thead><tr><th>Schedule</th><th>Revisions</th>'
            f"{names}</tr></thead><tbody>\n"
        )

    def table_end(self) -> str:
        total = _row("total", self._statement.totals, "", kind="total")
        other = ", ".join(map(str, OTHER))
        return f'{total}</tbody></table><p class="quiet">Other: {other}.</p>\n'

    def section(self, found: ScheduleStatement) -> Iterator[str]:
        """Yield what there is to say about one schedule, if anything."""
        runs = other_runs(found.totals)
        if not (found.exceptions or found.notes or found.changes or runs):
            return
        yield f"<h3>{_text(found.name)}</h3>\n"
        yield f'<p class="quiet">job {_text(found.job)}; {_text(found.when)}</p>\n'
        yield from (f"<p>{_text(note)}</p>\n" for note in found.notes)
        if found.exceptions:
            yield '<table><thead><tr><th>Slot</th><th class="n">Slots</th><th>Outcome</th>'
            yield "<th>Reason</th></tr></thead><tbody>\n"
            yield from map(self._exception, found.exceptions)
            yield "</tbody></table>\n"
        if found.exceptions_left_out:
            yield f"<p>{found.exceptions_left_out:,} further lines are left out.</p>\n"
        yield from self._runs(found, runs)
        yield from self._changes(found.changes)

    def _exception(self, entry: SlotEntry) -> str:
        is_bad = entry.outcome in (Outcome.FAILED, Outcome.MISSED, Outcome.UNEXPLAINED)
        outcome = f'<td class="bad">{entry.outcome}</td>' if is_bad else f"<td>{entry.outcome}</td>"
        slots = _text(slots_text(entry, self._zone, LONG_AGO))
        return (
            f'<tr><td class="slot">{slots}</td>{_number(entry.count)}{outcome}'
            f"<td>{_text(detail(entry))}</td></tr>\n"
        )

    def _runs(self, found: ScheduleStatement, runs: str) -> Iterator[str]:
        if runs:
            yield f"<p>Besides its slots: {_text(runs)}.</p>\n"
        if found.runs:
            yield "<table><thead><tr><th>Run</th><th>Kind</th><th>State</th><th>Execution</th>"
            yield "<th>By</th></tr></thead><tbody>\n"
            yield from map(self._run, found.runs)
            yield "</tbody></table>\n"

    def _run(self, row: Execution) -> str:
        cells = [str(row.kind), str(row.state), row.id, row.actor]
        shown = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        return f'<tr><td class="slot">{_text(self._instant(row.run_at))}</td>{shown}</tr>\n'

    def _changes(self, changes: tuple[Change, ...]) -> Iterator[str]:
        if not changes:
            return
        yield "<table><thead><tr><th>Changed</th><th>By</th><th>Verb</th><th>Fields</th>"
        yield "<th>Why</th></tr></thead><tbody>\n"
        for each in changes:
            cells = [each.actor, each.verb, ", ".join(each.fields), each.note]
            shown = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
            yield f'<tr><td class="slot">{_text(self._instant(each.at))}</td>{shown}</tr>\n'
        yield "</tbody></table>\n"

    def end(self) -> Iterator[str]:
        yield from (f"<p>{_text(note)}</p>\n" for note in self._statement.notes)
        yield '<div class="sign"><div>Place, date</div><div>Name, signature</div></div>\n'
        yield "</body></html>\n"

    def _instant(self, instant: datetime) -> str:
        return format_instant(instant, self._zone, now=LONG_AGO)


def _row(name: str, totals: Totals, revisions: str, *, kind: str = "") -> str:
    counts = [totals.demanded, *map(totals.count, COLUMNS.values()), totals.count(*OTHER)]
    opening = f'<tr class="{kind}">' if kind else "<tr>"
    cells = f'<td class="name">{_text(name)}</td><td class="slot">{revisions}</td>'
    return f"{opening}{cells}{''.join(map(_number, counts))}</tr>\n"


def _number(count: int) -> str:
    kind = "n" if count else "n zero"
    return f'<td class="{kind}">{count:,}</td>'


def _text(text: str) -> str:
    return escape(printable(text))
