"""Switches of the memory store: which switches are off, and which rows they stop."""

from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.planning.plan import Plan
from sempre.domain.switch import Switch, held_by, stopping
from sempre.domain.values import copy_with
from sempre.ports.messages import Candidate
from sempre.stores.memory.tables import Tables

__all__ = ["active_switches", "candidate", "decision_stands", "in_force", "stopping_now", "turn"]


def turn(tables: Tables, switch: Switch, now: datetime, *, off: bool) -> None:
    """Turn a switch off, or on again, which frees the rows that the switch held.

    Slots that the switch kept waiting past their due time record that in their reason.
    """
    if off:
        tables.switches[switch.name] = switch
        return
    ended = tables.switches.pop(switch.name, None)
    tables.rejections.pop(switch.name, None)
    for row in list(tables.executions.values()):
        if row.held_by == switch.name:
            tables.put(copy_with(row, held_by=""))
        elif ended and ended.has_held(row, now, _tags(tables, row)):
            tables.put(copy_with(row, reason=held_by(switch.name)))


def _tags(tables: Tables, row: Execution) -> tuple[str, ...]:
    schedule = tables.schedules.get(row.schedule_id or "")
    return schedule.definition.tags if schedule else ()


def active_switches(tables: Tables, now: datetime) -> tuple[Switch, ...]:
    """Turn switches on again whose time is over; return the switches that are off."""
    for switch in list(tables.switches.values()):
        if _is_over(switch, now):
            turn(tables, switch, now, off=False)
    return tuple(in_force(tables, now))


def in_force(tables: Tables, now: datetime) -> list[Switch]:
    """Return the switches that are off, by name, without writing."""
    found = (each for each in tables.switches.values() if not _is_over(each, now))
    return sorted(found, key=lambda switch: switch.name)


def stopping_now(tables: Tables, row: Execution, now: datetime) -> Switch | None:
    """Return the switch that stops an execution now, if any."""
    return stopping(active_switches(tables, now), row, _tags(tables, row))


def decision_stands(tables: Tables, plan: Plan, now: datetime) -> bool:
    """Return whether the plan saw the switch, or no switch, that stops its execution now."""
    row = tables.executions.get(plan.decides)
    if row is None:
        return not plan.decides
    switch = stopping_now(tables, row, now)
    return switch is plan.stopped_by is None or (
        switch is not None and switch.is_same_stop(plan.stopped_by)
    )


def candidate(tables: Tables, identity: str, now: datetime) -> Candidate:
    """Return an execution with its schedule's view and the switch that stops it, if any."""
    switches = active_switches(tables, now)
    found = tables.candidate(tables.executions[identity])
    if not found.execution.is_live:
        return found
    tags = found.view.schedule.definition.tags if found.view else ()
    return copy_with(found, stopped_by=stopping(switches, found.execution, tags))


def _is_over(switch: Switch, now: datetime) -> bool:
    return switch.until is not None and switch.until <= now
