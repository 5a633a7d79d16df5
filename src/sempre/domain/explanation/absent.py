"""Slots without a record: still to come, never on the grid, outside of the schedule, or purged."""

from collections.abc import Sequence
from datetime import datetime

from sempre.domain.definition_history import PastDefinition, definition_in_force, revisions_of
from sempre.domain.execution import Execution
from sempre.domain.explanation.causes import Cause, Code, Explanation, Fact, Verdict
from sempre.domain.explanation.operators import cause_of_stop, edit_after
from sempre.domain.explanation.placement import (
    causes_on_grid,
    is_slot,
    why_not_a_slot,
    zone_of_grid,
)
from sempre.domain.explanation.records import Records
from sempre.domain.schedule import Schedule
from sempre.domain.states import Reason

__all__ = ["explain_absent"]


def explain_absent(records: Records, schedule: Schedule, slot: datetime) -> Explanation:
    """Explain an instant that has no row of kind scheduled and lies in no range."""
    then = definition_in_force(schedule, records.of_schedule, slot)
    on_grid = is_slot(then.grid, slot)
    if on_grid is False:
        verdict, causes = _off_grid(records, schedule, then, slot)
    else:
        verdict, causes = _on_grid(records, schedule, then, slot)
        if on_grid is None:
            unknown: dict[str, Fact] = {"rule": then.grid.explain()}
            causes = [Cause(Code.UNKNOWN_GRID, None, unknown), *causes]
        else:
            causes = [*causes_on_grid(then.grid, slot), *causes]
    zone = zone_of_grid(then.grid)
    return Explanation(schedule.name, verdict, tuple(causes), slot=slot, zone=zone)


def _off_grid(
    records: Records, schedule: Schedule, then: PastDefinition, slot: datetime
) -> tuple[Verdict, list[Cause]]:
    causes = why_not_a_slot(then.grid, slot, wall=records.asked_wall, since=schedule.created_at)
    if is_slot(schedule.definition.grid, slot):
        edit = edit_after(records, slot, None)
        causes.append(Cause(Code.REGRIDDED, edit.at, edit.facts))
    elif (took := _edited_away(records, schedule, slot)) is not None:
        causes.append(took)
    verdict = Verdict.WILL_NOT_RUN if slot > records.now else Verdict.NEVER_EXISTED
    return verdict, causes


def _edited_away(records: Records, schedule: Schedule, slot: datetime) -> Cause | None:
    """Return the edit that took a slot off the grid before the slot came, if there was one."""
    for revision in reversed(revisions_of(records.of_schedule)):
        if revision.at >= slot or "grid" not in revision.changes:
            continue
        before = definition_in_force(schedule, records.of_schedule, revision.at)
        return edit_after(records, slot, revision.at) if is_slot(before.grid, slot) else None
    return None


def _on_grid(
    records: Records, schedule: Schedule, then: PastDefinition, slot: datetime
) -> tuple[Verdict, list[Cause]]:
    """Return why a slot of the grid has no record."""
    if slot > schedule.cursor:
        return _to_come(records, schedule, slot)
    if slot <= schedule.created_at:
        facts: dict[str, Fact] = {"created": schedule.created_at}
        return Verdict.NEVER_EXISTED, [Cause(Code.BEFORE_CREATION, None, facts)]
    is_old = records.kept_since is not None and slot < records.kept_since
    if is_old or f"{slot:%Y-%m-%d}" in records.purged_days:
        facts = {"since": records.kept_since, "totals": bool(records.purged_days)}
        return Verdict.PURGED, [Cause(Code.PURGED, None, facts)]
    if then.until is not None and slot > then.until:
        return Verdict.NEVER_EXISTED, [Cause(Code.AFTER_UNTIL, None, {"until": then.until})]
    return Verdict.NOT_TOLD, [Cause(Code.NOT_TOLD, None, {"state": "", "reason": ""})]


def _to_come(records: Records, schedule: Schedule, slot: datetime) -> tuple[Verdict, list[Cause]]:
    """Return whether an undecided slot will run, and why not."""
    stops = _stops(records, schedule, slot)
    if stops:
        has_passed = slot <= records.now and stops[0].code in _SKIPS
        return Verdict.SKIPPED if has_passed else Verdict.WILL_NOT_RUN, stops
    waiting = _next_row(records.nearby)
    if slot <= records.now:
        facts: dict[str, Fact] = {"execution": waiting.id if waiting else ""}
        facts["slot"] = waiting.run_at if waiting else schedule.next_run_at
        return Verdict.UNDECIDED, [Cause(Code.BEHIND, None, facts)]
    facts = {"next": schedule.next_run_at, "limit": schedule.definition.limit}
    return Verdict.WILL_RUN, [Cause(Code.EXPECTED, None, facts)]


# A slot that passes meanwhile is recorded as skipped when the schedule goes on.
_SKIPS = {Code.PAUSED, Code.DISABLED, Code.DISABLED_BY_DEPLOY}


def _stops(records: Records, schedule: Schedule, slot: datetime) -> list[Cause]:
    """Return what keeps a slot of the future from running, as things stand."""
    declared, pause = schedule.definition, schedule.pause
    if schedule.deleted or not declared.enabled:
        reason = Reason.DELETED if schedule.deleted else Reason.DISABLED
        return [cause_of_stop(records, reason, records.now)]
    if schedule.has_reached_limit:
        return [Cause(Code.LIMIT_REACHED, None, {"limit": declared.limit})]
    if declared.until is not None and slot > declared.until:
        return [Cause(Code.AFTER_UNTIL, None, {"until": declared.until})]
    if schedule.broken:
        return [Cause(Code.BROKEN, None, {"error": schedule.broken})]
    if pause is not None and pause.holds(slot):
        return [cause_of_stop(records, Reason.PAUSED, records.now)]
    return []


def _next_row(nearby: Sequence[Execution]) -> Execution | None:
    """Return the row that waits for the first start of its slot."""
    return next((row for row in nearby if row.waits_for_slot), None)
