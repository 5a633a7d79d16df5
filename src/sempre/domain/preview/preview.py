"""Previews: what one plan changes, as values that a terminal or a page can show."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from sempre.domain.action import changed_fields
from sempre.domain.arguments import Json
from sempre.domain.execution import Draft, Execution, SlotRange
from sempre.domain.planning.plan import TICK, Change, Plan
from sempre.domain.preview.difference import LISTED, Difference, SlotList, compare
from sempre.domain.preview.futures import Future, Stretch, future_of
from sempre.domain.schedule import Schedule
from sempre.domain.states import LIVE, State
from sempre.grids.clock_changes import ClockEffect

__all__ = ["ClockDay", "FieldChange", "Preview", "Window", "ended_by", "preview_of"]


@dataclass(frozen=True)
class Window:
    """The time that a preview covers, from now on, and how many slots its lists name."""

    now: datetime
    length: timedelta = timedelta(days=90)
    listed: int = LISTED

    @property
    def stretch(self) -> Stretch:
        """The time after now, up to the end of the window."""
        return Stretch(self.now, self.now + self.length)


@dataclass(frozen=True)
class FieldChange:
    """A field of a schedule before and after."""

    name: str
    before: Json
    after: Json


@dataclass(frozen=True)
class ClockDay:
    """A clock change that touches slots, before or after the plan."""

    zone: str
    at: datetime
    before: ClockEffect | None = None
    after: ClockEffect | None = None


@dataclass(frozen=True)
class Preview:
    """What one plan changes for one schedule.

    Attributes:
        plan: the writes.
        window: the time that is previewed.
        fields: fields of the schedule that change; none for a new schedule.
        before, after: the slots that run in the window, without and with the plan.
        difference: the slots that appear and vanish.
        paused: slots of the window that a pause stops; they are not caught up.
    """

    plan: Plan
    window: Window
    fields: tuple[FieldChange, ...]
    before: Future
    after: Future
    difference: Difference
    paused: SlotList

    @property
    def schedule(self) -> Schedule:
        """The schedule after the plan."""
        schedule = self.plan.schedule or self.plan.base
        assert schedule is not None  # noqa: S101 - a preview is of a plan about a schedule
        return schedule

    @property
    def name(self) -> str:
        """The name of the schedule."""
        return self.schedule.name

    @property
    def redact(self) -> tuple[str, ...]:
        """Names whose values are masked where the fields are shown."""
        before = self.plan.base.definition.redact if self.plan.base else ()
        return tuple(sorted({*before, *self.schedule.definition.redact}))

    @property
    def replaced(self) -> tuple[Change, ...]:
        """Waiting executions that are superseded, and replaced at the same slot."""
        return tuple(change for change in _ending(self.plan) if _is_replaced(self.plan, change))

    @property
    def ended(self) -> tuple[Change, ...]:
        """Waiting executions that end and are not replaced at the same slot."""
        return ended_by(self.plan)

    @property
    def created(self) -> tuple[Draft, ...]:
        """Executions that the plan creates and that wait for their slot."""
        return tuple(draft for draft in self.plan.creates if draft.state in LIVE)

    @property
    def passed(self) -> tuple[SlotRange, ...]:
        """Slots before now that have no execution and will have none."""
        return self.plan.ranges

    @cached_property
    def clock_days(self) -> tuple[ClockDay, ...]:
        """The clock changes in the window that touch slots, before or after."""
        old, new = (_effects(each) for each in (self.before, self.after))
        keys = sorted({*old, *new}, key=lambda key: (key[1], key[0]))
        return tuple(ClockDay(*key, old.get(key), new.get(key)) for key in keys)

    @property
    def holds_until(self) -> datetime | None:
        """The first slot that the plan changes: once it has passed, the preview is out of date."""
        lists = (self.difference.appearing, self.difference.vanishing)
        slots = (slot for each in lists for slot in each.first if slot > self.window.now)
        return min(slots, default=None)


def ended_by(plan: Plan) -> tuple[Change, ...]:
    """Return the executions that a plan ends and does not replace at the same slot."""
    return tuple(change for change in _ending(plan) if not _is_replaced(plan, change))


def preview_of(plan: Plan, rows: Iterable[Execution], window: Window) -> Preview:
    """Return what a plan changes, given the executions that the plan was made from."""
    known, after = list(rows), plan.schedule or plan.base
    assert after is not None  # noqa: S101 - the plan is about a schedule
    changed = {change.before.id: change.after for change in plan.changes}
    later: list[Draft] = [changed.get(row.id, row) for row in known]
    grid, stretch = after.definition.grid, window.stretch
    old = future_of(plan.base, known, stretch, grid=grid)
    new = future_of(after, [*later, *plan.creates], stretch, grid=grid)
    before, now = changed_fields(plan.base, after)
    return Preview(
        plan,
        window,
        tuple(FieldChange(name, before[name], now[name]) for name in before),
        old,
        new,
        compare(old, new, listed=window.listed),
        _paused(after, new, window),
    )


def _paused(schedule: Schedule, future: Future, window: Window) -> SlotList:
    """Return the slots of a window that the pause of a schedule stops."""
    pause, declared = schedule.pause, schedule.definition
    if pause is None or not declared.enabled or schedule.deleted or future.grid.relative:
        return SlotList()
    ends = window.stretch.until if declared.until is None else declared.until
    until = ends if pause.until is None else min(ends, pause.until - TICK)
    stopped = Stretch(window.now, min(until, window.stretch.until))
    first = (slot for _, slot in zip(range(window.listed), future.slots_in(stopped), strict=False))
    return SlotList(future.count_in(stopped), tuple(first))


def _effects(future: Future) -> dict[tuple[str, datetime], ClockEffect]:
    stretch = future.stretch
    if stretch.is_empty:
        return {}
    found = future.grid.at_clock_changes(stretch.after, stretch.until)
    return {(each.change.zone, each.change.at): each for each in found}


def _ending(plan: Plan) -> list[Change]:
    return [each for each in plan.changes if each.before.state is not each.after.state]


def _is_replaced(plan: Plan, change: Change) -> bool:
    slots = {draft.run_at for draft in plan.creates if draft.state in LIVE}
    return change.after.state is State.SUPERSEDED and change.after.run_at in slots
