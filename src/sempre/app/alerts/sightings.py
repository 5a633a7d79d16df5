"""Reads what the rows of a store say about failures and overdue work, by bounded queries.

The cost grows with what is wrong: failures since the last scan, incidents that are open, and work
that is overdue. All schedules are probed only at the first scan, and when a job failed so often
that the query of its failures is cut off.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar

from sempre.app.alerts.failing import sighting_of_job, sighting_of_schedule
from sempre.app.alerts.names import is_own
from sempre.app.health.failing_work import ONE_OFF, failed_last
from sempre.app.health.failures import outcomes_to_read
from sempre.app.health.reader import Reader
from sempre.app.health.waiting_work import overdue_work
from sempre.domain.alerts.incidents import Incident, Sighting, Trouble
from sempre.domain.execution import Execution
from sempre.domain.job_policy import JobPolicy
from sempre.domain.schedule import Schedule
from sempre.domain.states import State
from sempre.ports.messages import Candidate, ExecutionQuery

__all__ = ["Sightings"]

T = TypeVar("T")
MOST = 100
FAILURES = 200
"""The most failures of one job that a scan reads."""
OUTCOMES = 100
"""How many more outcomes are read than `status` reads: the first failure names the incident."""
OVERLAP = timedelta(days=1)
"""How far before the last scan failures are read."""
SUCCESSES = 20


@dataclass(frozen=True)
class Sightings:
    """Reads the sightings of one scan.

    Attributes:
        known: the incidents of the last scan.
        scanned_at: when the last scan was; None before the first.
        policies: of the jobs that this code declares.
    """

    reader: Reader
    known: Mapping[tuple[Trouble, str], Incident]
    scanned_at: datetime | None
    policies: Mapping[str, JobPolicy]

    def failures(self) -> Iterator[Sighting]:
        """Yield the sightings of failures."""
        begin = (self.scanned_at or self.reader.now) - OVERLAP
        read = self.reader.read
        rows = read(self.reader.store.failures(since=begin, limit=FAILURES))
        rows = [row for row in rows if not is_own(row.snapshot.job)]
        yield from self._of_schedules(rows)
        yield from self._of_jobs([row for row in rows if row.schedule_id is None])

    def overdue(self, late: timedelta) -> Iterator[Sighting]:
        """Yield the sightings of work that has been due for longer than `late`."""
        now, found = self.reader.now, dict[str, list[Candidate]]()
        count = 0
        for each in overdue_work(self.reader, late):
            count += 1
            if not is_own(each.execution.snapshot.job) and not _is_blocked(each):
                found.setdefault(_subject(each.execution), []).append(each)
        for subject, waiting in found.items():
            yield _overdue(subject, waiting)
        if count < MOST:
            # The answer is whole: what is not in it is not overdue.
            for incident in self._open(Trouble.OVERDUE):
                if incident.subject not in found:
                    fields = {"trouble": Trouble.OVERDUE, "subject": incident.subject}
                    yield Sighting(**fields, recovered_at=now)  # type: ignore[arg-type]  # as named

    # Schedules

    def _of_schedules(self, rows: Sequence[Execution]) -> Iterator[Sighting]:
        redact = self.reader.settings.redact
        gone = set(self._names_of_incidents)
        for some in _batches(self._suspects(rows), MOST):
            ids = [each.id for each in some]
            limit = outcomes_to_read(some) + OUTCOMES
            outcomes = self.reader.read(self.reader.store.outcomes(ids, limit=limit))
            gone -= {each.name for each in some}
            for schedule in some:
                rows_of = outcomes.get(schedule.id, ())
                now, scanned = self.reader.now, self.scanned_at
                found = sighting_of_schedule(
                    schedule, rows_of, now, scanned_at=scanned, redact=redact
                )
                if found:
                    yield found
        for name in sorted(gone):
            yield Sighting(trouble=Trouble.FAILURE, subject=f"schedule:{name}", is_gone=True)

    def _suspects(self, rows: Sequence[Execution]) -> Iterator[Schedule]:
        """Yield the schedules to judge: those that failed, and those with an open incident."""
        names = {row.snapshot.name for row in rows if row.schedule_id is not None}
        names |= self._names_of_incidents
        if self._needs_all(rows):
            names |= set(failed_last(self.reader))
        for some in _batches(sorted(names), MOST):
            for view in self.reader.read(self.reader.store.views(some)):
                if not is_own(view.schedule.definition.job):
                    yield view.schedule

    @property
    def _names_of_incidents(self) -> frozenset[str]:
        incidents = self._open(Trouble.FAILURE)
        return frozenset(each.name for each in incidents if each.is_of_schedule)

    def _needs_all(self, rows: Sequence[Execution]) -> bool:
        """Whether the failures that were read may leave a failing schedule out."""
        counts = Counter(row.snapshot.job for row in rows)
        return self.scanned_at is None or any(each >= FAILURES for each in counts.values())

    # One-off jobs

    def _of_jobs(self, rows: Sequence[Execution]) -> Iterator[Sighting]:
        failed: dict[str, list[Execution]] = {}
        for row in rows:
            failed.setdefault(row.snapshot.job, []).append(row)
        known = {each.job: each for each in self._open(Trouble.FAILURE) if not each.is_of_schedule}
        for job in sorted({*failed, *known}):
            found = self._of_job(job, failed.get(job, []), known.get(job))
            if found:
                yield found

    def _of_job(
        self, job: str, rows: Sequence[Execution], known: Incident | None
    ) -> Sighting | None:
        starts = [row.run_at for row in rows] + ([known.since - OVERLAP] if known else [])
        found = sighting_of_job(
            job,
            rows,
            self._last_success(job, min(starts)),
            alert_after=self.policies.get(job, JobPolicy()).alert_after,
            scanned_at=self.scanned_at,
            redact=self.reader.settings.redact,
        )
        if found is None and known is not None and not self._has_failed(known.execution):
            # Retried or discarded by an operator, or purged.
            subject, now = known.subject, self.reader.now
            return Sighting(trouble=Trouble.FAILURE, subject=subject, recovered_at=now)
        return found

    def _last_success(self, job: str, since: datetime) -> datetime | None:
        query = ExecutionQuery(
            job=job,
            states=frozenset({State.SUCCEEDED}),
            kinds=ONE_OFF,
            since=since,
            limit=SUCCESSES,
        )
        rows = self.reader.read(self.reader.store.executions(query)).items
        return max((row.finished_at for row in rows if row.finished_at), default=None)

    def _has_failed(self, identity: str) -> bool:
        found = self.reader.read(self.reader.store.candidates([identity]))
        return any(each.execution.state is State.FAILED for each in found)

    def _open(self, trouble: Trouble) -> Iterable[Incident]:
        found = [each for each in self.known.values() if each.trouble is trouble]
        return [each for each in found if each.recovered_at is None]


def _subject(row: Execution) -> str:
    is_one_off = row.schedule_id is None
    return f"job:{row.snapshot.job}" if is_one_off else f"schedule:{row.snapshot.name}"


def _is_blocked(waiting: Candidate) -> bool:
    """Whether an execution waits for an earlier run of its schedule, which is no lateness."""
    rows = waiting.view.rows if waiting.view else ()
    return any(row.state is State.RUNNING for row in rows)


def _overdue(subject: str, waiting: Sequence[Candidate]) -> Sighting:
    first = min(waiting, key=lambda each: (each.execution.due_at, each.execution.id))
    row = first.execution
    tags = first.view.schedule.definition.tags if first.view else row.snapshot.tags
    return Sighting(
        trouble=Trouble.OVERDUE,
        subject=subject,
        first=row.due_at.isoformat(),
        job=row.snapshot.job,
        tags=tuple(tags),
        since=row.due_at,
        count=len(waiting),
        execution=row.id,
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
