"""The catalog of metrics: the name, kind, labels and help of every metric that Sempre exports.

One table for all exporters. A test compares the table with docs/reference/metrics.md, with the
alert rules and with the dashboard.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["METRICS", "OF_STORE", "OF_WORKERS", "Metric", "Sample"]

LATENESS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
DURATION = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14400.0)
PASS = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0)
# Not `job`: Prometheus gives every series the name of its scrape job under that label.
WORK = ("queue", "job_name")
PROCESS = ("process",)
PAIR = ("pair",)


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: with the prefix `sempre_` and the base unit.
        help: one sentence.
        labels: the names of the labels, in order.
        kind: the type of Prometheus.
        buckets: the upper bounds of a histogram, without infinity.
        values: every value of the one label, if these are known: each begins at zero, so that its
            first increase is seen.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: Literal["counter", "gauge", "histogram"] = "gauge"
    buckets: tuple[float, ...] = ()
    values: tuple[str, ...] = ()


class Sample(NamedTuple):
    """The present value of a gauge."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


def _counter(name: str, text: str, *labels: str) -> Metric:
    return Metric(name, text, labels, "counter")


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name, text, labels, "histogram", buckets)


OF_WORKERS = (
    _counter(
        "sempre_executions_ended_total",
        "Attempts that ended and slots that did not run, by state.",
        *WORK,
        "state",
    ),
    _histogram(
        "sempre_execution_lateness_seconds", "Start of a run minus its due_at.", LATENESS, *WORK
    ),
    _histogram("sempre_execution_duration_seconds", "Duration of an attempt.", DURATION, *WORK),
    _counter("sempre_late_results_total", "Runs that ended after their claim was lost."),
    Metric(
        "sempre_healed_total",
        "Repairs of the watchdog and of rescues, by cause.",
        ("cause",),
        "counter",
        values=("announced", "created", "rescued", "rung_again"),
    ),
    _counter("sempre_watchdog_passes_total", "Watchdog passes that this command has finished."),
    _histogram("sempre_watchdog_pass_duration_seconds", "Duration of a watchdog pass.", PASS),
    _counter("sempre_executions_purged_total", "Executions deleted after their retention."),
    Metric(
        "sempre_store_errors_total",
        "Store operations of workers that failed.",
        ("kind",),
        "counter",
        values=("gone", "locked", "refused", "unavailable"),
    ),
    Metric(
        "sempre_broker_errors_total",
        "Broker operations of workers that failed.",
        ("kind",),
        "counter",
        values=("deaf", "unavailable"),
    ),
    _counter("sempre_sessions_lost_total", "Sessions that lost their lease."),
    _counter("sempre_internal_errors_total", "Errors of the engine itself: defects of Sempre."),
    Metric("sempre_worker_processes", "Worker processes of this command that report."),
    Metric("sempre_worker_in_flight_runs", "Runs in flight in a worker process.", PROCESS),
    Metric("sempre_worker_capacity_runs", "Most runs at once in a worker process.", PROCESS),
    Metric(
        "sempre_worker_heartbeat_age_seconds", "Time since the last renewed heartbeat.", PROCESS
    ),
    Metric("sempre_worker_store_up", "Whether the store answers a worker process.", PROCESS),
    Metric("sempre_worker_broker_up", "Whether the broker answers a worker process.", PROCESS),
    Metric("sempre_build_info", "Always 1; the labels are versions.", ("version", "tzdata")),
)
"""What worker processes count and report."""

OF_STORE = (
    Metric("sempre_store_up", "Whether the last reading of the store succeeded."),
    Metric("sempre_store_reading_age_seconds", "Age of a reading of the store.", ("reading",)),
    Metric(
        "sempre_store_reading_duration_seconds", "Duration of a reading of the store.", ("reading",)
    ),
    Metric("sempre_watchdog_age_seconds", "Time since the last watchdog pass finished."),
    Metric("sempre_watchdog_interval_seconds", "Interval of the watchdog."),
    Metric("sempre_retention_backlog_age_seconds", "How long passes have left rows to purge."),
    Metric("sempre_clock_skew_seconds", "Clock of this host minus the clock of the store."),
    Metric("sempre_workers", "Live worker processes of the whole fleet."),
    Metric("sempre_workers_draining", "Live worker processes that an operator drains."),
    Metric("sempre_executions", "Executions that are not over, by state.", ("state",)),
    Metric("sempre_executions_overdue", "Waiting executions that should have started."),
    Metric("sempre_executions_overdue_age_seconds", "Lateness of the most overdue execution."),
    Metric("sempre_executions_unserved", "Due executions that no live worker can run."),
    Metric("sempre_queue_depth", "Due executions of a queue.", ("queue",)),
    Metric("sempre_queue_oldest_age_seconds", "Wait of the oldest due execution.", ("queue",)),
    Metric("sempre_limits_full", "Limits for which executions wait."),
    Metric("sempre_switches_off", "Switches that are off."),
    Metric("sempre_schedules", "Schedules in all."),
    Metric("sempre_schedules_enabled", "Enabled schedules."),
    Metric("sempre_schedules_paused", "Paused schedules."),
    Metric("sempre_schedules_without_future", "Schedules that lack their next row."),
    Metric("sempre_schedules_broken", "Schedules whose grid is broken."),
    Metric("sempre_schedules_failing", "Schedules whose last executions all failed."),
    Metric("sempre_schedules_held", "Schedules held after an unknown outcome."),
    Metric("sempre_schedules_orphaned", "Schedules whose job no live worker knows."),
    Metric("sempre_schedules_overrunning", "Schedules that run for longer than their interval."),
    Metric("sempre_schedules_unreadable", "Schedules whose row this process cannot read."),
    Metric("sempre_jobs_failing", "One-off jobs whose last ten executions all failed."),
    Metric("sempre_executions_failed", "One-off executions that failed for good within a day."),
    Metric("sempre_executions_quarantined", "Executions quarantined within a day."),
    Metric("sempre_problem", "Whether `sempre status` reports a problem.", ("code",)),
    Metric("sempre_pair_found", "Rows that the last scan of a pair found.", PAIR),
    Metric("sempre_pair_enqueued", "Executions that the last scan of a pair enqueued.", PAIR),
    Metric("sempre_pair_live", "Rows of the last scan that waited or ran already.", PAIR),
    Metric("sempre_pair_oldest_age_seconds", "Age of the oldest live execution of a pair.", PAIR),
    Metric("sempre_pair_tick_age_seconds", "Time since the last scan of a pair.", PAIR),
    Metric("sempre_pair_cadence_seconds", "Time between two scans of a pair.", PAIR),
    Metric("sempre_pair_duration_seconds", "Duration of the last scan of a pair.", PAIR),
)
"""What is read from the store, for the whole fleet."""

METRICS = {each.name: each for each in (*OF_WORKERS, *OF_STORE)}
"""Every metric by name."""
