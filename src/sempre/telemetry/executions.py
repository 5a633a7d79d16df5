"""Sentences about executions: how a run ended, or why it did not begin."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.results import NotJson, TooLarge

__all__ = [
    "cancelled",
    "failed",
    "late_result",
    "length",
    "released",
    "rescued",
    "result_not_stored",
    "retry_later",
    "skipped",
    "started",
    "succeeded",
    "unroutable",
]

MINUTE, HOUR = 60, 3600


def _name(facts: Mapping[str, Any]) -> str:
    execution = facts.get("execution")
    return execution.snapshot.name if isinstance(execution, Execution) else "?"


def _more(facts: Mapping[str, Any]) -> str:
    """Name the command that shows all about an execution."""
    execution = facts.get("execution")
    return f"; see: sempre execution {execution.id}" if isinstance(execution, Execution) else ""


def started(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run began."""
    late = float(facts.get("late") or 0.0)
    return f"{_name(facts)} started" + (f", {length(late)} late" if late >= 1 else "")


def succeeded(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run succeeded, and how long it took."""
    return f"{_name(facts)} succeeded in {length(facts.get('seconds'))}"


def failed(facts: Mapping[str, Any], now: datetime) -> str:
    """Say why a run failed, when it is tried again, and where to read more."""
    line = f"{_name(facts)} failed after {length(facts.get('seconds'))}: {facts.get('error')}"
    return f"{line}; {_next_try(facts, now) or 'no retry follows'}{_more(facts)}"


def retry_later(facts: Mapping[str, Any], now: datetime) -> str:
    """Say that a job asked for a retry, why, and when it comes."""
    why = f" ({facts.get('reason')})" if facts.get("reason") else ""
    return f"{_name(facts)} asked for a later try{why}; {_next_try(facts, now)}"


def _next_try(facts: Mapping[str, Any], now: datetime) -> str:
    """Say when a run is tried again; empty if it is not."""
    retry_at = facts.get("retry_at")
    if not isinstance(retry_at, datetime):
        return ""
    return f"retry in {length(max(0.0, (retry_at - now).total_seconds()))}"


def cancelled(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run was cancelled."""
    return f"{_name(facts)} cancelled ({facts.get('reason')})"


def skipped(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a slot did not run."""
    verdict = facts.get("verdict")
    word = "missed" if verdict == "miss" else "skipped"
    return f"{_name(facts)} {word} ({facts.get('reason')})"


def late_result(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run ended after it was taken away."""
    late = f"{_name(facts)} ended after its lease was taken away; its result is kept beside it"
    return f"{late}{_more(facts)}"


def result_not_stored(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say what of a result is not stored."""
    job, found = facts.get("job"), facts.get("found")
    if isinstance(found, TooLarge):
        size = f"{job} returned {found.size:,} bytes of JSON, which are not stored"
        return f"{size}: the limit is {found.limit:,}; raise result_limit, or return an id"
    if isinstance(found, NotJson):
        what = f"{job} returned a {found.type_name}, which is not JSON: its repr is stored"
        never_ran = found.type_name in ("generator", "async_generator", "coroutine")
        return f"{what}; its body never ran" if never_ran else f"{what}; return plain JSON"
    return f"a result of {job} is not stored"


def rescued(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run was taken back from a worker that is gone."""
    return f"{_name(facts)} taken back: its worker {facts.get('session')} is gone{_more(facts)}"


def released(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a run was given back."""
    return f"{_name(facts)} given back unfinished"


def unroutable(facts: Mapping[str, Any], _now: datetime) -> str:
    """Say that a job is unknown here."""
    execution = facts.get("execution")
    job = execution.snapshot.job if isinstance(execution, Execution) else "?"
    return f"{_name(facts)} left alone: this worker has no job {job}"


def length(seconds: object) -> str:
    """Write a number of seconds in a short unit."""
    number = float(seconds) if isinstance(seconds, int | float) else 0.0
    if number < 1:
        return f"{number * 1000:.0f} ms"
    if number < 2 * MINUTE:
        return f"{number:.1f}s".replace(".0s", "s")
    return f"{number / MINUTE:.0f}m" if number < 2 * HOUR else f"{number / HOUR:.1f}h"
