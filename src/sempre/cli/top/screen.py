"""The live screen, drawn with rich: a frame as lines that fit the width of the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sempre.app.presentation.fleet import shown_count
from sempre.app.times import format_age, format_duration, format_instant
from sempre.cli.output import printable
from sempre.cli.top.frame import Frame, Run
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.errors.wording import counted

__all__ = ["Screen"]

BAR = 10
LONG_RUN = timedelta(hours=1)
WIDE = 130
RUNNING = {"NAME": "text", "ELAPSED": "number", "PROGRESS": "text", "WORKER": "word"}
NEXT = {"NAME": "text", "DUE": "number", "LEFT": "number"}
FAILED = {"NAME": "text", "WHEN": "number", "ERROR": "text"}
QUEUES = {
    "NAME": "text",
    **dict.fromkeys(("DUE", "OLDEST", "FUTURE", "HELD", "RUNNING", "WORKERS"), "number"),
}
WORKERS = {"NAME": "text", "STATE": "word", "RUNS": "number", "STARTED": "number", "QUEUES": "text"}
"""The columns of each part, with the kind of each."""


class Screen:
    """Draws frames.

    Args:
        zone: the time zone of all times.
        redact: names whose values are masked in errors.
        rows: the most rows of each part.
    """

    def __init__(self, zone: str, redact: Sequence[str], *, rows: int = 5) -> None:
        """Draw times in one zone."""
        self._zone = zone
        self._redact = redact
        self._rows = rows

    def draw(self, frame: Frame, width: int) -> RenderableType:
        """Return a frame for a terminal of this width; a wide one gets parts side by side."""
        head = [*self._health(frame, width), *self._running(frame)]
        left = [*self._upcoming(frame), *self._queues(frame)]
        right = [*self._failures(frame), *self._workers(frame)]
        if width < WIDE:
            rest = (self._upcoming, self._failures, self._queues, self._workers)
            return Group(*head, *(each for part in rest for each in part(frame)))
        grid = Table.grid(expand=True, padding=(0, 4, 0, 0), pad_edge=False)
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(Group(*left), Group(*right))
        return Group(*head, grid)

    def _health(self, frame: Frame, width: int) -> Iterator[RenderableType]:
        alive = sum(each.state != "expired" for each in frame.workers)
        line = Text()
        line.append("healthy" if frame.healthy else "unhealthy", style=_health_style(frame))
        line.append(
            f"  {counted(frame.schedules, 'schedule')}, {counted(alive, 'worker')}, "
            f"{len(frame.runs)} running"
        )
        clock = format_instant(frame.now.replace(microsecond=0), self._zone, now=frame.now)
        line.append(" " * max(2, width - line.cell_len - len(clock)) + clock, style="dim")
        yield line
        for each in frame.problems[:3]:
            style = "red" if each.severity == "error" else "yellow"
            text = Text(f"  {each.code} {printable(each.message)}", style=style)
            text.truncate(width, overflow="ellipsis")
            yield text

    def _running(self, frame: Frame) -> Iterator[RenderableType]:
        rows = [self._run(run, frame.now) for run in frame.runs[: self._rows]]
        more = len(frame.runs) - len(rows)
        yield from _part("RUNNING", RUNNING, rows, more)

    def _run(self, run: Run, now: datetime) -> list[Text]:
        row = run.execution
        elapsed = now - (row.started_at or now)
        style = "yellow" if elapsed > LONG_RUN else ""
        place = f"{run.worker.session.host} {run.worker.session.pid}"
        return [
            _name(row),
            Text(format_duration(elapsed), style=style),
            Text(_progress(run)),
            Text(printable(place), style="dim"),
        ]

    def _upcoming(self, frame: Frame) -> Iterator[RenderableType]:
        rows = [
            [_name(row), Text(self._at(row.due_at, frame.now)), Text(_left(row, frame.now))]
            for row in frame.upcoming[: self._rows]
        ]
        yield from _part("NEXT", NEXT, rows)

    def _failures(self, frame: Frame) -> Iterator[RenderableType]:
        rows = [
            [
                _name(row, "red"),
                Text(format_age(row.finished_at or row.run_at, frame.now)),
                Text(self._error(row)),
            ]
            for row in frame.failures[: self._rows]
        ]
        yield from _part("FAILED WITHIN A DAY", FAILED, rows)

    def _queues(self, frame: Frame) -> Iterator[RenderableType]:
        rows = []
        for each in frame.queues[: self._rows]:
            oldest = format_duration(frame.now - each.oldest_at) if each.oldest_at else ""
            style = "red" if each.is_unserved else "magenta" if each.stopped_by else ""
            counts = (each.due, each.upcoming, each.held, each.running, each.workers)
            texts = [shown_count(each.due), oldest, *map(shown_count, counts[1:])]
            rows.append([Text(printable(each.name), style=style), *map(Text, texts)])
        yield from _part("QUEUES", QUEUES, rows, len(frame.queues) - len(rows))

    def _workers(self, frame: Frame) -> Iterator[RenderableType]:
        styles = {"alive": "green", "draining": "magenta", "expired": "red"}
        rows = [
            [
                Text(printable(f"{each.session.host} {each.session.pid}")),
                Text(each.state, style=styles[each.state]),
                Text(str(len(each.runs))),
                Text(format_age(each.session.started_at or frame.now, frame.now)),
                Text(printable(", ".join(each.session.queues)), style="dim"),
            ]
            for each in frame.workers[: self._rows]
        ]
        yield from _part("WORKERS", WORKERS, rows, len(frame.workers) - len(rows))

    def _at(self, instant: datetime, now: datetime) -> str:
        text = format_instant(instant.replace(microsecond=0), self._zone, now=now, labelled=False)
        today = format_instant(now, self._zone, now=now, labelled=False).rsplit(" ", 1)[0]
        day, _, clock = text.rpartition(" ")
        return clock if day == today else text

    def _error(self, row: Execution) -> str:
        text = redacted_text(row.reason, (*self._redact, *row.snapshot.redact))
        return printable(text.removeprefix("error: ")).replace("\n", " ")


def _part(
    title: str, columns: Mapping[str, str], rows: Iterable[Sequence[Text]], more: int = 0
) -> Iterator[RenderableType]:
    """Yield a titled table over the whole width.

    A column is "text", which shares the width that is left, "word", or "number".
    """
    rows = list(rows)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    for place, (column, kind) in enumerate(columns.items()):
        heading = Text(column, style="dim") if place else Text(title, style="bold")
        table.add_column(
            heading,
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if kind == "text" else None,
            justify="right" if kind == "number" else "left",
        )
    for row in rows:
        table.add_row(*row)
    yield Text("")
    yield table
    if not rows:
        yield Text("none", style="dim")
    if more > 0:
        yield Text(f"and {more:,} more", style="dim")


def _health_style(frame: Frame) -> str:
    if not frame.healthy:
        return "bold red"
    return "bold yellow" if frame.problems else "bold green"


def _name(row: Execution, style: str = "") -> Text:
    return Text(printable(row.snapshot.name), style=style)


def _left(row: Execution, now: datetime) -> str:
    if row.due_at > now:
        return format_duration(row.due_at - now)
    return f"due {format_duration(now - row.due_at)}"


def _progress(run: Run) -> str:
    """Return a bar and a percentage, or the amount if the total is unknown; then the note."""
    report = run.report
    if report is None:
        return ""
    note = printable(report.note).replace("\n", " ")
    if not report.total:
        return f"{report.done:g} {note}".strip()
    part = min(1.0, max(0.0, report.done / report.total))
    full = round(part * BAR)
    return f"[{'#' * full}{'.' * (BAR - full)}] {part:4.0%} {note}".rstrip()
