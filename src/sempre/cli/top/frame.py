"""One frame of the live screen: the facts that it shows, read from the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nsmallest

from sempre.app.health.checks import problems_of
from sempre.app.health.problems import Problem
from sempre.app.health.reading import read_facts
from sempre.app.presentation.fleet import QueueBacklog, WorkerState, read_queues, read_workers
from sempre.cli.context import CommandContext
from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.ports.messages import ExecutionQuery, Report, Waiting

__all__ = ["Frame", "FrameReader", "Run"]

SLOW = 10.0
"""Seconds between two readings of what changes slowly: health, failures and queues."""
NEXT, PAGE, PAGES = 10, 1_000, 3
AHEAD, RECENTLY = timedelta(hours=24), timedelta(hours=24)
FAILURES = 10


@dataclass(frozen=True)
class Run:
    """A running execution, with the progress that its job reported."""

    execution: Execution
    worker: WorkerState
    report: Report | None = None


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The facts of one frame.

    Attributes:
        now: the present by the store's clock.
        healthy: whether no problem is an error.
        problems: what `sempre status` reports.
        runs: running executions, the longest run first.
        upcoming: executions in the future, the next one first.
        failures: executions that failed within a day, the latest first.
    """

    now: datetime
    healthy: bool
    problems: Sequence[Problem]
    schedules: int
    runs: Sequence[Run]
    upcoming: Sequence[Execution]
    failures: Sequence[Execution]
    queues: Sequence[QueueBacklog]
    workers: Sequence[WorkerState]


class FrameReader:
    """Reads frames; what changes slowly is read every ten seconds."""

    def __init__(self, context: CommandContext) -> None:
        """Read the store of a command."""
        self._context = context
        self._read_at: float | None = None
        self._slow: tuple[int, list[Problem], list[Execution], list[QueueBacklog]]

    def read(self) -> Frame:
        """Return the present frame."""
        context = self._context
        context.read(context.store.last_pass())
        workers = read_workers(context)
        schedules, problems, failures, queues = self._slowly(workers)
        return Frame(
            now=context.now,
            healthy=not any(each.severity == "error" for each in problems),
            problems=problems,
            schedules=schedules,
            runs=self._runs(workers),
            upcoming=self._upcoming(),
            failures=failures,
            queues=queues,
            workers=workers,
        )

    def _slowly(
        self, workers: Sequence[WorkerState]
    ) -> tuple[int, list[Problem], list[Execution], list[QueueBacklog]]:
        now = self._context.app.clock.elapsed()
        if self._read_at is None or now - self._read_at >= SLOW:
            self._read_at = now
            facts = read_facts(self._context.app.engine)
            queues = read_queues(self._context, workers)
            self._slow = facts.total, problems_of(facts), self._failures(), queues
        return self._slow

    def _failures(self) -> list[Execution]:
        now = self._context.now
        query = ExecutionQuery(
            states=frozenset({State.FAILED}), since=now - RECENTLY, until=now, limit=FAILURES
        )
        return list(self._context.read(self._context.store.executions(query)).items)

    def _runs(self, workers: Sequence[WorkerState]) -> list[Run]:
        store = self._context.store
        pairs = [(row, worker) for worker in workers for row in worker.runs]
        reports = self._context.read(store.reports([row.id for row, _ in pairs])) if pairs else []
        known = {(each.execution_id, each.fence): each for each in reports}
        runs = [Run(row, worker, known.get((row.id, row.fence))) for row, worker in pairs]
        return sorted(runs, key=lambda run: run.execution.started_at or run.execution.due_at)

    def _upcoming(self) -> list[Execution]:
        """Return the next executions in the future, of the first thousands that wait."""
        context, after = self._context, ""
        future: list[Waiting] = []
        for _ in range(PAGES):
            reading = context.store.waiting(None, horizon=AHEAD, after=after, limit=PAGE)
            page = context.read(reading)
            future += [each for each in page.items if each.due_at > reading.now]
            after = page.after
            if not after:
                break
        first = nsmallest(NEXT, future, key=lambda each: (each.due_at, each.id))
        found = context.read(context.store.candidates([each.id for each in first]))
        rows = [each.execution for each in found if each.execution.is_live]
        return sorted(rows, key=lambda row: (row.due_at, row.id))
