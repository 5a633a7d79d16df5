"""Counts events of the engine as metrics; a listener for `Events.listen`."""

from collections.abc import Callable, Mapping
from typing import Any

from sempre.domain.execution import Execution
from sempre.telemetry.logs import LoggedEvent
from sempre.telemetry.tally import Tally

__all__ = ["COUNTED", "Recorder"]

ENDED = "sempre_executions_ended_total"
LATENESS = "sempre_execution_lateness_seconds"
DURATION = "sempre_execution_duration_seconds"
HEALED = "sempre_healed_total"
HEALED_BY_PASS = {
    "executions_created": "created",
    "orphans_enqueued": "announced",
    "rung_again": "rung_again",
}


class Recorder:
    """Counts each event in a tally. Errors of the store are counted by `engine.outage`."""

    def __init__(self, tally: Tally) -> None:
        """Count in a tally."""
        self._tally = tally

    def __call__(self, event: LoggedEvent) -> None:
        """Count one event."""
        count = COUNTED.get(str(event.name))
        if count is not None:
            count(self._tally, event.facts)


def _work(facts: Mapping[str, Any]) -> tuple[str, str]:
    execution = facts.get("execution")
    if not isinstance(execution, Execution):
        return "", ""
    return execution.snapshot.queue, execution.snapshot.job


def _started(tally: Tally, facts: Mapping[str, Any]) -> None:
    tally.observe(LATENESS, float(facts.get("late") or 0.0), *_work(facts))


def _ended(state: str) -> "Count":
    def count(tally: Tally, facts: Mapping[str, Any]) -> None:
        tally.count(ENDED, *_work(facts), state)
        if "seconds" in facts:
            tally.observe(DURATION, float(facts["seconds"] or 0.0), *_work(facts))

    return count


def _failed(tally: Tally, facts: Mapping[str, Any]) -> None:
    _ended("retried" if facts.get("retry_at") else "failed")(tally, facts)


def _skipped(tally: Tally, facts: Mapping[str, Any]) -> None:
    _ended("missed" if facts.get("verdict") == "miss" else "skipped")(tally, facts)


def _performed(tally: Tally, facts: Mapping[str, Any]) -> None:
    if not facts.get("lock_acquired"):
        return
    tally.count("sempre_watchdog_passes_total")
    tally.observe("sempre_watchdog_pass_duration_seconds", float(facts.get("seconds") or 0.0))
    for fact, cause in HEALED_BY_PASS.items():
        tally.count(HEALED, cause, by=float(facts.get(fact) or 0))
    tally.count("sempre_executions_purged_total", by=float(facts.get("purged") or 0))


def _counted(name: str, *labels: str) -> "Count":
    return lambda tally, _facts: tally.count(name, *labels)


Count = Callable[[Tally, Mapping[str, Any]], None]
"""Counts the facts of an event."""

COUNTED: dict[str, Count] = {
    "execution.started": _started,
    "execution.succeeded": _ended("succeeded"),
    "execution.failed": _failed,
    "execution.retry_later": _ended("retried"),
    "execution.cancelled": _ended("cancelled"),
    "execution.skipped": _skipped,
    "execution.released": _ended("released"),
    "execution.late_result": _counted("sempre_late_results_total"),
    "execution.rescued": _counted(HEALED, "rescued"),
    "perform": _performed,
    "broker.unavailable": _counted("sempre_broker_errors_total", "unavailable"),
    "broker.deaf": _counted("sempre_broker_errors_total", "deaf"),
    "session.lost": _counted("sempre_sessions_lost_total"),
    "engine.error": _counted("sempre_internal_errors_total"),
}
"""Which events are counted, and how."""
