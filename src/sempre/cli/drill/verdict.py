"""The verdict of a drill: the outcome of every due slot, schedule by schedule.

Pure. The grid is the oracle: each of its slots ran, or a row or a range of slots records why it did
not run, or the slot still waits, or it was lost. The schedule must be read before its rows: then a
slot up to the cursor without a row or range is lost indeed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import State

__all__ = ["ON_TIME", "Evidence", "Observation", "Verdict", "judge", "why_unjudged"]

ON_TIME = timedelta(seconds=2)
"""A start within this time after it was due counts as undisturbed."""

ZERO = timedelta(0)


@dataclass(frozen=True)
class Observation:
    """The times of a drill.

    Attributes:
        began: when the damage was done.
        now: when the evidence was collected, by the store's clock.
        alive: the sessions that hold their lease now.
    """

    began: datetime
    now: datetime
    alive: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The records of a schedule, or of all one-off work, whose schedule is None.

    Attributes:
        slots: the slots of the grid that had to be decided.
        rows: the rows of the slots, and the present rows of `under_way`.
        ranges: ranges of slots that passed without a row.
        under_way: the executions that were waiting or running when the drill began, by id.
    """

    name: str
    schedule: Schedule | None = None
    slots: Sequence[datetime] = ()
    rows: Sequence[Execution] = ()
    ranges: Sequence[SlotRange] = ()
    under_way: Mapping[str, Execution] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The outcome of the due slots of one schedule.

    Attributes:
        due: the number of slots, and of rows that were under way.
        ran: the number that started.
        not_run: the number that was decided not to run, by reason.
        waiting: the number that is due and still waits, or has lost its worker.
        behind: whether slots wait for a worker, not for an earlier run of the schedule.
        lost: slots without a record of their outcome.
        again: starts beyond the first and one for each failure.
        latest: the greatest lateness of a start, or the longest wait.
        recovered: the time until every start was on time again; None if that has not come.
        unjudged: why there is no verdict; empty if there is one.
    """

    name: str
    due: int = 0
    ran: int = 0
    not_run: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    behind: bool = False
    lost: tuple[datetime, ...] = ()
    again: int = 0
    latest: timedelta = ZERO
    recovered: timedelta | None = ZERO
    unjudged: str = ""

    @property
    def is_well(self) -> bool:
        """Whether no slot was lost and none waits for a worker."""
        return not self.lost and not self.behind


def why_unjudged(before: Schedule, after: Schedule | None, began: datetime) -> str:
    """Return why a schedule gets no verdict; empty if it gets one."""
    if after is None or after.id != before.id:
        return "deleted during the drill"
    # Not compared by revision: a rerun increments it too.
    if (after.definition, after.pause) != (before.definition, before.pause):
        return "changed during the drill"
    states = {
        "broken": after.broken,
        "not started": not before.started,
        "disabled": not before.definition.enabled,
        "paused": before.pause is not None and before.pause.holds(began),
        "ended": before.ended,
    }
    return next((word for word, holds in states.items() if holds), "")


def judge(seen: Evidence, observed: Observation) -> Verdict:
    """Return the verdict on the records of a schedule."""
    fates = [fate for fate in _fates(seen, observed) if fate.word]
    words = Counter(fate.word for fate in fates)
    waiting, lost = words[_WAITING], tuple(fate.slot for fate in fates if fate.word == _LOST)
    behind = waiting > 0 and not _is_busy(seen, observed)
    times = [fate.again_at for fate in fates if fate.again_at is not None]
    recovered = max((at - observed.began for at in times), default=ZERO)
    return Verdict(
        name=seen.name,
        due=len(fates),
        ran=words[_RAN],
        not_run=Counter(fate.why for fate in fates if fate.word == _NOT_RUN),
        waiting=waiting,
        behind=behind,
        lost=lost,
        again=sum(_again(row) - _again(seen.under_way.get(row.id)) for row in seen.rows),
        latest=max((fate.late for fate in fates), default=ZERO),
        recovered=None if behind or lost else max(ZERO, recovered),
    )


_RAN, _NOT_RUN, _WAITING, _LOST, _NOT_DUE = "ran", "not run", "waiting", "lost", ""


@dataclass(frozen=True)
class _Fate:
    """The outcome of one slot or row, and when it started if that was late or again."""

    word: str
    slot: datetime
    why: str = ""
    late: timedelta = ZERO
    again_at: datetime | None = None


def _fates(seen: Evidence, observed: Observation) -> Iterator[_Fate]:
    slots, taken = set(seen.slots), {row.run_at: row for row in seen.rows if row.occupies_slot}
    for slot in seen.slots:
        row = taken.get(slot)
        yield _of_row(row, observed) if row else _of_empty_slot(slot, seen, observed)
    for row in seen.rows:
        is_slot = row.occupies_slot and row.run_at in slots
        if row.id in seen.under_way and not is_slot and row.state is not State.SUPERSEDED:
            yield _of_row(row, observed)


def _of_row(row: Execution, observed: Observation) -> _Fate:
    if row.is_live or _has_lost_its_worker(row, observed):
        return _of_waiting(row, observed)
    if row.first_started_at is None or row.started_at is None:
        return _Fate(_NOT_RUN, row.run_at, row.reason or row.state)
    late = row.first_started_at - row.due_at
    # A start before the drill was not late because of the drill.
    late = late if row.first_started_at > observed.began and late > ZERO else ZERO
    disturbed = late > ON_TIME or _again(row) > 0
    again_at = row.started_at if disturbed and row.started_at > observed.began else None
    return _Fate(_RAN, row.run_at, late=late, again_at=again_at)


def _of_waiting(row: Execution, observed: Observation) -> _Fate:
    if row.due_at > observed.now:
        # The execution waits for a retry, or for its slot.
        return _Fate(_RAN if row.first_started_at else _NOT_DUE, row.run_at)
    return _Fate(_WAITING, row.run_at, late=observed.now - row.due_at)


def _of_empty_slot(slot: datetime, seen: Evidence, observed: Observation) -> _Fate:
    """Return the outcome of a slot without a row."""
    for each in seen.ranges:
        if each.first <= slot <= each.last:
            return _Fate(_NOT_RUN, slot, each.reason)
    schedule = seen.schedule
    if schedule is not None and slot > schedule.cursor:
        if schedule.ended:
            return _Fate(_NOT_DUE, slot)
        if schedule.next_run_at is not None and schedule.next_run_at <= slot:
            return _Fate(_WAITING, slot, late=observed.now - slot)
    return _Fate(_LOST, slot)


def _has_lost_its_worker(row: Execution, observed: Observation) -> bool:
    return row.state is State.RUNNING and row.session not in observed.alive


def _is_busy(seen: Evidence, observed: Observation) -> bool:
    """Return whether a run is in flight for which the other slots may have to wait."""
    return any(
        row.state is State.RUNNING and not _has_lost_its_worker(row, observed) for row in seen.rows
    )


def _again(row: Execution | None) -> int:
    return max(0, row.attempt - 1 - row.failures) if row else 0
