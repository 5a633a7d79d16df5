"""Previews of a switch: the slots of a schedule that come while the switch is off."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from sempre.domain.execution import Draft, Execution
from sempre.domain.preview.difference import SlotList
from sempre.domain.preview.futures import Stretch, future_of
from sempre.domain.preview.preview import Window
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind
from sempre.domain.switch import Switch

__all__ = ["StoppedSchedule", "stopped_schedule"]


@dataclass(frozen=True)
class StoppedSchedule:
    """A schedule that a switch stops, and its slots while the switch is off."""

    schedule: Schedule
    slots: SlotList


def stopped_schedule(
    schedule: Schedule, rows: Iterable[Execution], switch: Switch, window: Window
) -> StoppedSchedule | None:
    """Return what a switch stops of a schedule; None if it does not concern the schedule."""
    draft = Draft(
        kind=Kind.SCHEDULED,
        run_at=window.now,
        due_at=window.now,
        snapshot=schedule.snapshot(),
        schedule_id=schedule.id,
    )
    if not switch.stops(draft, schedule.definition.tags):
        return None
    future = future_of(schedule, rows, window.stretch, grid=schedule.definition.grid)
    if switch.until is not None:
        end = max(future.stretch.after, min(future.stretch.until, switch.until))
        future = replace(future, stretch=Stretch(future.stretch.after, end))
    return StoppedSchedule(schedule, SlotList(future.count, tuple(islice(future, window.listed))))
