"""Readiness: whether the workers of a command can work; pure."""

from collections.abc import Iterable

from sempre.app.metrics.process_reports import ProcessReport

__all__ = ["unready_reason"]


def unready_reason(
    reports: Iterable[tuple[ProcessReport, float]], *, lease: float, store_up: bool
) -> str:
    """Return in one line why the workers are not ready; empty if they are.

    Args:
        reports: of worker processes, each with its age in seconds.
        lease: in seconds, after which a silent worker has lost its executions.
        store_up: whether the store answers this process.
    """
    found = list(reports)
    if not found:
        return "no worker process has reported yet"
    for report, age in found:
        if reason := _reason(report, age, lease):
            return f"worker process {report.pid} {reason}"
    return "" if store_up else "the store does not answer"


def _reason(report: ProcessReport, age: float, lease: float) -> str:
    if age > lease:
        return f"has been silent for {age:.0f} s: it hangs, or a job holds its interpreter"
    if not report.has_session:
        return "has no session in the store: it starts, stops, or waits for the store"
    if report.heartbeat_age is None or report.heartbeat_age > lease:
        return f"had no heartbeat within its lease of {lease:.0f} s"
    return "" if report.store_up else "gets errors from the store; see its log"
