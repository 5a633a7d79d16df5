"""Messages about runs: start, success and fail of each run of a schedule, for pings and monitors.

An event enqueues a message at once. The scan enqueues what was lost with its process, for the
schedules that a rule names; a service that misses a message raises the alarm, which is safe.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sempre.app.alerts.names import is_own
from sempre.app.enqueue.enqueuer import Enqueuer
from sempre.app.health.failures import one_line
from sempre.app.health.reader import Reader
from sempre.app.jobs import Call
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.monitors import monitor_of
from sempre.domain.alerts.rules import Rule
from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.engine.events import Event, Happened

if TYPE_CHECKING:
    from sempre.app.alerts.book import AlertBook
    from sempre.app.application import Sempre

__all__ = ["RunMessages"]

RECENT = timedelta(minutes=10)
PHASES = {
    Happened.STARTED: Phase.START,
    Happened.SUCCEEDED: Phase.SUCCESS,
    Happened.FAILED: Phase.FAIL,
}
KINDS = frozenset({Kind.SCHEDULED, Kind.MANUAL})
WILD = frozenset("*?[")


class RunMessages:
    """Enqueues messages about runs."""

    def __init__(self, app: "Sempre", book: "AlertBook") -> None:
        """Take the channels and rules of a book."""
        self._app = app
        self._book = book

    def hear(self, event: Event) -> None:
        """Enqueue the messages about an event of a run."""
        row: Execution = event.facts["execution"]
        if event.facts.get("retry_at") is not None:
            return
        error = str(event.facts.get("error") or "")
        seconds = event.facts.get("seconds")
        self._enqueue(list(self._calls(row, PHASES[event.name], error, seconds)))

    def heal(self, reader: Reader) -> None:
        """Enqueue the messages about the last runs of named schedules, as far as missing."""
        names = {
            name
            for rule in self._book.run_rules
            for name in rule.schedules
            if WILD.isdisjoint(name)
        }
        if not names:
            return
        views = reader.read(reader.store.views(sorted(names)))
        ids = [each.schedule.id for each in views]
        outcomes = reader.read(reader.store.outcomes(ids, limit=1)) if ids else {}
        calls: list[Call[Any]] = []
        for row in (row for rows in outcomes.values() for row in rows):
            if row.finished_at is not None and reader.now - row.finished_at < RECENT:
                phase = Phase.SUCCESS if row.state is State.SUCCEEDED else Phase.FAIL
                begun = row.started_at or row.finished_at
                took = (row.finished_at - begun).total_seconds()
                calls += self._calls(row, phase, row.reason, took)
        self._enqueue(calls)

    def _enqueue(self, calls: list[Call[Any]]) -> None:
        for _ in Enqueuer(self._app, kind=Kind.DERIVED).enqueue_many(calls):
            pass

    def _calls(
        self, row: Execution, phase: Phase, error: str, seconds: float | None
    ) -> Iterator[Call[Any]]:
        name, job = row.snapshot.name, row.snapshot.job
        if row.schedule_id is None or row.kind not in KINDS or is_own(job):
            return
        declared = self._app.declarations.schedules.get(name)
        tags = declared.definition.tags if declared else row.snapshot.tags
        redact = (*self._app.settings.redact, *row.snapshot.redact)
        alert = Alert(
            id=row.id,
            phase=phase,
            name=name,
            job=job,
            tags=tuple(tags),
            since=row.started_at,
            error=one_line(error, redact) if phase is Phase.FAIL else "",
            execution=row.id,
            seconds=seconds,
            monitor=monitor_of(declared.definition) if declared else None,
        )
        for rule in self._rules(name, job, tags):
            if self._book.channels[rule.channel].needs_monitor and alert.monitor is None:
                continue
            key = f"run:{row.id}:{row.attempt}:{phase}"
            yield self._book.jobs[rule.channel].bind(key=key, alert=alert.to_json())

    def _rules(self, name: str, job: str, tags: tuple[str, ...]) -> Iterator[Rule]:
        seen = set()
        for rule in self._book.run_rules:
            if rule.channel not in seen and rule.includes(name, job, tags):
                seen.add(rule.channel)
                yield rule
