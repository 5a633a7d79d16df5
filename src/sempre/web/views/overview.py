"""The overview: one sentence of health, what needs attention, and what happens now and next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.app.health.facts import Facts
from sempre.app.health.problems import Problem
from sempre.app.times import format_duration
from sempre.domain.execution import Execution
from sempre.domain.percentiles import percentile
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.errors.wording import counted
from sempre.ports.messages import ExecutionQuery, Report
from sempre.web.answers import PageAnswer
from sempre.web.store_health import DAY, health_of, soonest
from sempre.web.visit import Visit

__all__ = ["Figures", "Overview", "figures_of", "overview_page", "read_overview", "sentence_of"]

SHOWN = 8
RUNNING = 20
BINS = 30
TALLEST = 20


@dataclass(frozen=True)
class Figures:
    """Figures about the newest executions, of the last 24 hours at most.

    Attributes:
        since: the slot of the oldest execution that was counted.
        is_all: whether these are all executions of the last 24 hours.
        bins: for each of 30 parts of the time, the executions that succeeded and failed.
    """

    since: datetime
    is_all: bool
    count: int
    failed: int
    late_p95: timedelta | None
    took_p95: timedelta | None
    bins: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Overview:
    """What the overview shows.

    Attributes:
        age: how old the health and the figures are; None if they are of this moment.
    """

    facts: Facts
    problems: list[Problem]
    sentence: str
    figures: Figures
    upcoming: list[Schedule]
    running: list[tuple[Execution, Report | None]]
    failures: list[Execution]
    age: timedelta | None = None

    @property
    def light(self) -> str:
        """The light of the whole store."""
        if any(each.severity == "error" for each in self.problems):
            return "failing"
        return "late" if self.problems else "ok"

    def columns(self) -> list[list[tuple[int, str]]]:
        """Return the executions over time as columns: failed ones below, of heights in pixels."""
        most = max((1, *(ok + failed for ok, failed in self.figures.bins)))
        return [
            [(_height(failed, most), "failed"), (_height(ok, most), "ok")]
            for ok, failed in self.figures.bins
        ]


def read_overview(visit: Visit) -> Overview:
    """Read what the overview shows: the kept health of the store, and what runs now."""
    reader, store = visit.reader, visit.store
    kept = health_of(visit)
    health, now = kept.value, reader.engine.present()
    query = ExecutionQuery(states=frozenset({State.RUNNING}), limit=RUNNING)
    running = reader.read(store.executions(query)).items
    reports = reader.read(store.reports([row.id for row in running])) if running else []
    by_run = {(each.execution_id, each.fence): each for each in reports}
    views = reader.read(store.views(health.soonest)) if health.soonest else []
    return Overview(
        facts=health.facts,
        problems=list(health.problems),
        sentence=sentence_of(health.facts, health.problems),
        figures=figures_of(health.sample, health.facts.now, is_all=health.is_all),
        upcoming=soonest([each.schedule for each in views], now, count=SHOWN),
        running=[(row, by_run.get((row.id, row.fence))) for row in running],
        failures=list(health.failures),
        age=timedelta(seconds=kept.age) if kept.is_old else None,
    )


def overview_page(visit: Visit) -> PageAnswer:
    """Return the overview."""
    topics = ("runs", "schedules", "workers", "switches")
    view = visit.shared.value("overview", lambda: read_overview(visit))
    return PageAnswer("overview.html", "Overview", {"view": view}, topics)


def sentence_of(facts: Facts, problems: Sequence[Problem]) -> str:
    """Return the health of a store in one sentence."""
    lacking = len(facts.needing_repair) + len(facts.broken)
    have = (
        f"All {facts.active} enabled schedules have their next execution."
        if facts.active and not lacking
        else f"{lacking} of {facts.active} enabled schedules have no next execution."
        if lacking
        else "There is no enabled schedule."
    )
    age = facts.watchdog_age
    seen = (
        "has not run yet" if age is None else f"ran {format_duration(max(age, timedelta(0)))} ago"
    )
    watchdog = f"The watchdog {seen} (every {format_duration(facts.interval)})."
    workers = f"{counted(facts.alive, 'worker')} alive." if facts.alive else "No worker is alive."
    errors = sum(each.severity == "error" for each in problems)
    others = len(problems) - errors
    parts = [counted(errors, "problem")] if errors else []
    parts += [counted(others, "warning")] if others else []
    return f"{have} {watchdog} {workers} {' and '.join(parts) or 'Nothing'} to look at."


def figures_of(rows: Sequence[Execution], now: datetime, *, is_all: bool) -> Figures:
    """Return figures of executions, the newest slot first."""
    since = rows[-1].run_at if rows else now - DAY
    ended = [row for row in rows if row.state in (State.SUCCEEDED, State.FAILED)]
    late = [
        row.first_started_at - row.due_at
        for row in rows
        if row.first_started_at and not row.failures and row.first_started_at >= row.due_at
    ]
    took = [time for row in ended if (time := row.took) is not None]
    bins = [[0, 0] for _ in range(BINS)]
    length = max(now - since, timedelta(seconds=1))
    for row in ended:
        place = min(BINS - 1, int((row.run_at - since) / length * BINS))
        bins[max(0, place)][row.state is State.FAILED] += 1
    return Figures(
        since,
        is_all,
        len(ended),
        sum(row.state is State.FAILED for row in ended),
        percentile(late, 95),
        percentile(took, 95),
        [(ok, failed) for ok, failed in bins],
    )


def _height(count: int, most: int) -> int:
    return max(TALLEST * count // most, 2) if count else 0
