"""What became of each slot, recomputed from the test's own record of a year.

The slots come from `grid.between` with the definitions that the test set. The fates come from the
acts of the test and from the calls that jobs saw. No record of the store is read.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sempre.domain.explanation import Code, Verdict
from sempre.domain.statement.outcomes import Outcome
from sempre.domain.states import Kind
from tests.integration.answers.year import TOLERANCE, Call, Schedule, Stop, Year

__all__ = ["Fate", "fates"]

SECOND = timedelta(seconds=1)


class Fate(NamedTuple):
    """What became of a slot, and what an explanation of the slot must, and must not, name."""

    outcome: Outcome
    reason: str
    verdict: Verdict
    must: frozenset[Code]
    failures: int = 0
    may: frozenset[Outcome] = frozenset()


STOPS = {
    "paused": Fate(Outcome.SKIPPED, "paused", Verdict.SKIPPED, frozenset({Code.PAUSED})),
    "disabled": Fate(Outcome.SKIPPED, "disabled", Verdict.SKIPPED, frozenset({Code.DISABLED})),
    "deploy": Fate(
        Outcome.SKIPPED, "disabled", Verdict.SKIPPED, frozenset({Code.DISABLED_BY_DEPLOY})
    ),
}
SKIPPED = Fate(Outcome.SKIPPED, "requested", Verdict.SKIPPED, frozenset({Code.SKIPPED_BY_OPERATOR}))


def fates(
    year: Year, schedule: Schedule, after: datetime, until: datetime
) -> Iterator[tuple[datetime, Fate]]:
    """Yield each slot of a schedule in a time, with its fate; check that the calls agree."""
    calls: dict[datetime, list[Call]] = defaultdict(list)
    for call in year.calls:
        if call.name == schedule.name and call.kind is Kind.SCHEDULED:
            calls[call.slot].append(call)
    for slot in schedule.slots(after, until):
        fate = _without_run(schedule, slot)
        if fate is None:
            assert calls[slot], f"{schedule.name} {slot}: nothing stopped the slot, and no run"
            fate = _of_run(year, schedule, slot, calls[slot])
        else:
            assert not calls[slot], f"{schedule.name} {slot}: ran, although {fate.reason}"
        yield slot, fate


def _without_run(schedule: Schedule, slot: datetime) -> Fate | None:
    """Return the fate of a slot that did not run; None if the slot ran."""
    if slot in schedule.skipped:
        return SKIPPED
    stop = next((each for each in schedule.stops if each.covers(slot)), None)
    if stop is None:
        return None
    if stop.why in STOPS:
        return STOPS[stop.why]
    if stop.why == "reject":
        reason = f"switched off by job:{schedule.name}"
        must = frozenset({Code.REJECTED_BY_SWITCH})
        return Fate(Outcome.SKIPPED, reason, Verdict.SKIPPED, must)
    return None if _runs_after(schedule, stop, slot) else _missed(schedule, stop)


def _runs_after(schedule: Schedule, stop: Stop, slot: datetime) -> bool:
    """Return whether a slot without a worker runs afterwards: the first one does, and new ones."""
    inside = [each for each in schedule.slots(stop.since, stop.until) if stop.covers(each)]
    inside = [each for each in inside if each not in schedule.skipped]
    return schedule.catch_up or slot == inside[0] or slot >= stop.until - TOLERANCE


def _missed(schedule: Schedule, stop: Stop) -> Fate:
    if stop.why == "hold":
        reason = f"missed: held by job:{schedule.name}"
        return Fate(Outcome.MISSED, reason, Verdict.MISSED, frozenset({Code.HELD_IN_RANGE}))
    must = frozenset({Code.MISSED_IN_RANGE, Code.DOWNTIME})
    return Fate(Outcome.MISSED, "missed", Verdict.MISSED, must)


def _of_run(year: Year, schedule: Schedule, slot: datetime, calls: list[Call]) -> Fate:
    lost = [each for each in calls if _is_lost(year, each)]
    failed = [each for each in calls if each.failed and each not in lost]
    assert [each.attempt for each in calls] == list(range(1, len(calls) + 1)), calls
    must = {Code.ATTEMPT_LOST, Code.RERUN_BY_POLICY} if lost else set()
    must |= {Code.ATTEMPT_FAILED} if failed else set()
    must |= {Code.RETRIED_BY_OPERATOR} if slot in schedule.retried else set()
    if calls[-1].failed:
        assert len(calls) == schedule.retries + 1
        if slot in schedule.discarded:
            must |= {Code.DISCARDED}
            told = Outcome.CANCELLED, "discarded", Verdict.CANCELLED
        else:
            must |= {Code.RETRIES_EXHAUSTED}
            told = Outcome.FAILED, "retries exhausted", Verdict.FAILED
        return Fate(*told, frozenset(must), len(failed))
    must |= {Code.ATTEMPT_SUCCEEDED}
    number = len(failed) + len(lost)
    if slot in schedule.retried:
        outcome, reason = Outcome.RETRIED, "retried by an operator"
    elif number:
        outcome = Outcome.RETRIED
        reason = f"after {number} failure{'s' * (number > 1)}"
    else:
        return _punctual(year, schedule, slot, calls[0], must)
    return Fate(outcome, reason, Verdict.SUCCEEDED, frozenset(must), len(failed))


def _punctual(year: Year, schedule: Schedule, slot: datetime, call: Call, must: set[Code]) -> Fate:
    """Return the fate of a slot that succeeded at once: on time, late, or after another run."""
    wait = call.at - slot
    assert wait >= timedelta(0), f"{schedule.name} {slot} ran early, at {call.at}"
    stop = next((each for each in schedule.stops if each.covers(slot)), None)
    may = {Outcome.ON_TIME}
    if stop is not None and wait > TOLERANCE + schedule.jitter:
        may = {Outcome.LATE}
        must |= _why_late(schedule, stop, slot)
    elif schedule.name == "slow" and wait > SECOND:
        must |= {Code.WAITED_FOR_RUN}
        touched = any(each.since <= call.at and each.until >= slot for each in year.outages)
        # After an outage a slot waited for both the worker and the run before.
        may |= {Outcome.LATE} if touched else set()
    else:
        # Within the tolerance of the end of an outage.
        must |= _why_late(schedule, stop, slot) if stop is not None else set()
        assert wait <= TOLERANCE + schedule.jitter, f"{schedule.name} {slot} ran at {call.at}"
    reason = "started late" if may == {Outcome.LATE} else ""
    first = max(may)
    return Fate(first, reason, Verdict.SUCCEEDED, frozenset(must), may=frozenset(may))


def _why_late(schedule: Schedule, stop: Stop, slot: datetime) -> set[Code]:
    if stop.why == "hold":
        return {Code.HELD_BY_SWITCH}
    inside = [each for each in schedule.slots(stop.since, stop.until) if stop.covers(each)]
    return {Code.NO_WORKER} if slot == inside[0] else {Code.CREATED_LATE}


def _is_lost(year: Year, call: Call) -> bool:
    """Return whether a worker crashed during a run."""
    end = call.at + call.length
    return any(call.at <= each.since < end for each in year.outages)
