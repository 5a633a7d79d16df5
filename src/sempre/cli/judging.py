"""The judgement of a drill: what became of everything that was due, schedule by schedule.

Pure. The grid is the oracle: each of its slots ran, or there is a row or a stretch of slots that
says why it did not, or it still waits, or it was lost. Whoever collects the evidence reads the
schedule before its rows: then a slot up to its cursor that has neither is lost indeed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sempre.cli.times import as_json
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.domain.states import State

__all__ = ["ON_TIME", "Account", "Evidence", "Look", "judge", "why_unjudged"]

ON_TIME = timedelta(seconds=2)
"""Whatever starts no later than this after it was due has not been disturbed."""

ZERO = timedelta(0)


@dataclass(frozen=True)
class Look:
    """When something was looked at.

    Attributes:
        began: when the harm was done.
        now: when the evidence was collected, by the store's clock.
        alive: the sessions that hold their lease now.
    """

    began: datetime
    now: datetime
    alive: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of a schedule, or of all one-off work, whose schedule is None.

    Attributes:
        slots: those of its grid that had to be decided.
        rows: those of the slots, and what has become of whatever was under way.
        ranges: stretches of slots that passed without a row.
        under_way: by id, what was waiting or running when the drill began, as it was then.
    """

    name: str
    schedule: Schedule | None = None
    slots: Sequence[datetime] = ()
    rows: Sequence[Execution] = ()
    ranges: Sequence[SlotRange] = ()
    under_way: Mapping[str, Execution] = field(default_factory=dict)


@dataclass(frozen=True)
class Account:
    """What became of what was due.

    Attributes:
        due: how many slots, and rows that were under way, there were.
        ran: how many of them were started.
        not_run: how many were decided not to run, by reason.
        waiting: how many are due and still wait, or have lost their worker.
        behind: whether it waits for a worker, and not for a run of its own to end.
        lost: slots of which nothing tells what became.
        again: starts beyond the first and one for each failure.
        latest: how late the latest start was, or how long something has waited.
        recovered: after how long everything was on time again; None if it is not yet.
        unjudged: why nothing can be said of it, if so.
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
        """Whether nothing was lost and nothing is behind."""
        return not self.lost and not self.behind

    def to_json(self) -> dict[str, Any]:
        """Return it as `--json` has it."""
        recovered = None if self.recovered is None else self.recovered.total_seconds()
        return {
            **vars(self),
            "not_run": dict(self.not_run),
            "lost": [as_json(slot) for slot in self.lost],
            "latest": self.latest.total_seconds(),
            "recovered": recovered,
        }


def why_unjudged(before: Schedule, after: Schedule | None, began: datetime) -> str:
    """Return why the slots of a schedule cannot be judged; an empty text if they can."""
    if after is None or after.id != before.id:
        return "deleted during the drill"
    # Not the revision: a run that is begun again takes one too.
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


def judge(seen: Evidence, look: Look) -> Account:
    """Judge what is known."""
    fates = [fate for fate in _fates(seen, look) if fate.word]
    words = Counter(fate.word for fate in fates)
    waiting, lost = words[_WAITING], tuple(fate.slot for fate in fates if fate.word == _LOST)
    behind = waiting > 0 and not _is_busy(seen, look)
    times = [fate.again_at for fate in fates if fate.again_at is not None]
    recovered = max((at - look.began for at in times), default=ZERO)
    return Account(
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
    """What became of one slot or row, and when it was all right again if it had not been."""

    word: str
    slot: datetime
    why: str = ""
    late: timedelta = ZERO
    again_at: datetime | None = None


def _fates(seen: Evidence, look: Look) -> Iterator[_Fate]:
    slots, taken = set(seen.slots), {row.run_at: row for row in seen.rows if row.occupies_slot}
    for slot in seen.slots:
        row = taken.get(slot)
        yield _of_row(row, look) if row else _of_empty_slot(slot, seen, look)
    for row in seen.rows:
        is_slot = row.occupies_slot and row.run_at in slots
        if row.id in seen.under_way and not is_slot and row.state is not State.SUPERSEDED:
            yield _of_row(row, look)


def _of_row(row: Execution, look: Look) -> _Fate:
    if row.is_live or _has_lost_its_worker(row, look):
        return _of_waiting(row, look)
    if row.first_started_at is None or row.started_at is None:
        return _Fate(_NOT_RUN, row.run_at, row.reason or row.state)
    late = row.first_started_at - row.due_at
    # What began before the drill was not late because of it.
    late = late if row.first_started_at > look.began and late > ZERO else ZERO
    disturbed = late > ON_TIME or _again(row) > 0
    again_at = row.started_at if disturbed and row.started_at > look.began else None
    return _Fate(_RAN, row.run_at, late=late, again_at=again_at)


def _of_waiting(row: Execution, look: Look) -> _Fate:
    if row.due_at > look.now:
        # It has run and is tried again later, or its time has not come.
        return _Fate(_RAN if row.first_started_at else _NOT_DUE, row.run_at)
    return _Fate(_WAITING, row.run_at, late=look.now - row.due_at)


def _of_empty_slot(slot: datetime, seen: Evidence, look: Look) -> _Fate:
    """Tell what became of a slot that has no row of its own."""
    for each in seen.ranges:
        if each.first <= slot <= each.last:
            return _Fate(_NOT_RUN, slot, each.reason)
    schedule = seen.schedule
    if schedule is not None and slot > schedule.cursor:
        if schedule.ended:
            return _Fate(_NOT_DUE, slot)
        if schedule.next_run_at is not None and schedule.next_run_at <= slot:
            return _Fate(_WAITING, slot, late=look.now - slot)
    return _Fate(_LOST, slot)


def _has_lost_its_worker(row: Execution, look: Look) -> bool:
    return row.state is State.RUNNING and row.session not in look.alive


def _is_busy(seen: Evidence, look: Look) -> bool:
    """Tell whether a run goes on that the others may have to wait for."""
    return any(
        row.state is State.RUNNING and not _has_lost_its_worker(row, look) for row in seen.rows
    )


def _again(row: Execution | None) -> int:
    return max(0, row.attempt - 1 - row.failures) if row else 0
