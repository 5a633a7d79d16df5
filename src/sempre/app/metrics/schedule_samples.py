"""Gauges of schedules, failures and pairs, and the problems that `sempre status` reports.

The reading visits every schedule, as `sempre status` does: it is made seldom.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from sempre.app.health.checks import CODES, problems_of
from sempre.app.health.facts import Facts
from sempre.app.health.pairs import PairHealth, pairs_of
from sempre.app.health.reader import Reader
from sempre.app.health.reading import read_facts
from sempre.app.metrics.label_bounds import in_groups
from sempre.domain.pair import PAIR, Scan, is_pair
from sempre.engine.core import Engine
from sempre.telemetry.metric_catalog import Sample

__all__ = ["read_schedules"]


def read_schedules(engine: Engine) -> list[Sample]:
    """Read the gauges from the store of an engine."""
    facts, reader = read_facts(engine), Reader(engine)
    schedules = [each for each in reader.schedules(text=PAIR) if is_pair(each.name)]
    return [
        *_of_schedules(facts),
        *_of_problems(facts),
        *_of_pairs(list(pairs_of(reader, schedules))),
    ]


def _of_schedules(facts: Facts) -> Iterator[Sample]:
    counts = {
        "sempre_schedules": facts.total,
        "sempre_schedules_enabled": facts.active,
        "sempre_schedules_paused": facts.paused,
        "sempre_schedules_without_future": len(facts.needing_repair),
        "sempre_schedules_broken": len(facts.broken),
        "sempre_schedules_failing": len(facts.failing),
        "sempre_schedules_held": len(facts.held),
        "sempre_schedules_orphaned": len(facts.orphaned),
        "sempre_schedules_overrunning": len(facts.overrunning),
        "sempre_schedules_unreadable": len(facts.unread),
        "sempre_jobs_failing": len(facts.hopeless_jobs),
        "sempre_executions_failed": sum(each.count for each in facts.failed_jobs),
        "sempre_executions_quarantined": len(facts.quarantined),
    }
    yield from (Sample(name, count) for name, count in counts.items())


def _of_problems(facts: Facts) -> Iterator[Sample]:
    """Yield 1 for each problem, by its code, and 0 for every other code."""
    found = {each.code for each in problems_of(facts)}
    yield from (Sample("sempre_problem", code in found, (code,)) for code in CODES)


def _of_pairs(pairs: Sequence[PairHealth]) -> Iterator[Sample]:
    for pair, shards in in_groups(pairs, lambda each: each.name.removeprefix(PAIR)).items():
        scans = [each.scan or Scan() for each in shards]
        values = {
            "sempre_pair_found": sum(each.found for each in scans),
            "sempre_pair_enqueued": sum(each.enqueued for each in scans),
            "sempre_pair_live": sum(each.already_live for each in scans),
            "sempre_pair_oldest_age_seconds": max(each.oldest_s for each in scans),
            "sempre_pair_duration_seconds": max(each.seconds for each in scans),
            "sempre_pair_cadence_seconds": _seconds(max(each.cadence for each in shards)),
            "sempre_pair_tick_age_seconds": _seconds(max(each.age for each in shards)),
        }
        yield from (Sample(name, value, (pair,)) for name, value in values.items())


def _seconds(duration: timedelta) -> float:
    return max(0.0, duration.total_seconds())
