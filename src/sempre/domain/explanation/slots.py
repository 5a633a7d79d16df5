"""Explanations of one slot: of its row, of the range that it lies in, or of why it has neither."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sempre.domain.definition_history import definition_in_force
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.explanation.absent import explain_absent
from sempre.domain.explanation.causes import Cause, Code, Explanation, Fact, Verdict
from sempre.domain.explanation.executions import explain_execution, verdict_of
from sempre.domain.explanation.operators import cause_of_stop, edit_after, switch_periods
from sempre.domain.explanation.placement import causes_on_grid, is_slot, zone_of_grid
from sempre.domain.explanation.records import Records
from sempre.domain.schedule import Schedule
from sempre.domain.states import Kind, Reason, State

__all__ = ["explain_slot"]

_VERDICTS = {
    State.SKIPPED: Verdict.SKIPPED,
    State.SUPERSEDED: Verdict.SUPERSEDED,
    State.MISSED: Verdict.MISSED,
}


def explain_slot(records: Records) -> Explanation:
    """Explain the slot that a question means: of its instants, the one that has records."""
    if records.schedule is None:
        return _explain_unknown(records)
    slot = _meant(records, records.schedule)
    rows = [row for row in records.rows if row.run_at == slot]
    own = [row for row in rows if row.kind is Kind.SCHEDULED]
    found = _in_range(records.ranges, slot)
    if own and not found and _passes_meanwhile(records, records.schedule, own):
        explanation = explain_absent(records, records.schedule, slot)
        explanation = _after_rows(records, own, explanation)
    elif own and (not found or any(row.occupies_slot for row in own)):
        explanation = _explain_rows(records, own)
    elif found is not None:
        explanation = _explain_range(records, records.schedule, found, slot)
        explanation = _after_rows(records, own, explanation)
    else:
        explanation = explain_absent(records, records.schedule, slot)
    others = tuple(_other_run(row, records) for row in rows if row.kind is not Kind.SCHEDULED)
    return replace(explanation, causes=explanation.causes + others)


def _meant(records: Records, schedule: Schedule) -> datetime:
    """Return which of the instants of a question is the slot."""
    for slot in records.asked:
        has_row = any(row.run_at == slot and row.kind is Kind.SCHEDULED for row in records.rows)
        if has_row or is_slot(definition_in_force(schedule, records.of_schedule, slot).grid, slot):
            return slot
    return records.asked[0]


def _passes_meanwhile(records: Records, schedule: Schedule, rows: Sequence[Execution]) -> bool:
    """Return whether a slot passed during a pause or disable that lasts, which ended its row."""
    slot = rows[0].run_at
    newest = max(rows, key=lambda row: row.created_at)
    is_stopped = newest.reason in (Reason.PAUSED, Reason.DISABLED)
    has_row = any(row.occupies_slot for row in rows)
    return is_stopped and not has_row and schedule.cursor < slot <= records.now


def _explain_rows(records: Records, rows: Sequence[Execution]) -> Explanation:
    """Explain a slot by the row that decided it, and by the rows before that one."""
    ordered = sorted(rows, key=lambda row: (row.occupies_slot, row.created_at))
    *before, last = ordered
    return _after_rows(records, before, explain_execution(records, last))


def _after_rows(
    records: Records, rows: Sequence[Execution], explanation: Explanation
) -> Explanation:
    """Return an explanation that begins with the rows of the slot that were replaced."""
    earlier = [cause for row in rows for cause in _earlier(records, row)]
    placed = [each for each in explanation.causes if each.code in _PLACES]
    rest = [each for each in explanation.causes if each.code not in _PLACES]
    causes = [*placed, *earlier, *(each for each in rest if each not in earlier)]
    return replace(explanation, causes=tuple(causes))


_PLACES = {
    *(Code.ON_GRID, Code.ANCHORED, Code.GAP_SHIFTED, Code.FOLD_FIRST, Code.FOLD_SECOND),
}


def _earlier(records: Records, row: Execution) -> list[Cause]:
    """Return the creation and the end of a row that was replaced."""
    causes = explain_execution(records, row).causes
    return [each for each in causes if each.code not in _PLACES]


def _explain_range(
    records: Records, schedule: Schedule, found: SlotRange, slot: datetime
) -> Explanation:
    grid = definition_in_force(schedule, records.of_schedule, slot).grid
    facts: dict[str, Fact] = {
        "first": found.first,
        "last": found.last,
        "count": found.count,
        "reason": found.reason,
    }
    causes = causes_on_grid(grid, slot) if is_slot(grid, slot) else []
    causes += _why_passed(records, found, slot, facts)
    verdict, zone = _VERDICTS[found.state], zone_of_grid(grid)
    return Explanation(schedule.name, verdict, tuple(causes), slot=slot, zone=zone)


def _why_passed(
    records: Records, found: SlotRange, slot: datetime, facts: dict[str, Fact]
) -> list[Cause]:
    reason = found.reason
    if reason.startswith(f"{Reason.MISSED}: {Reason.HELD}"):
        return [_held_in_range(records, slot, {**facts, "switch": reason.rpartition(" by ")[2]})]
    if reason in (Reason.DISABLED, Reason.PAUSED):
        return [cause_of_stop(records, reason, slot), Cause(Code.PASSED_IN_RANGE, None, facts)]
    if reason == Reason.EDITED:
        return [edit_after(records, slot, None), Cause(Code.PASSED_IN_RANGE, None, facts)]
    if reason == Reason.ENDED:
        return [Cause(Code.ENDED, None, {}), Cause(Code.PASSED_IN_RANGE, None, facts)]
    return [Cause(Code.MISSED_IN_RANGE, None, facts), *_downtime(records, found)]


def _held_in_range(records: Records, slot: datetime, facts: dict[str, Fact]) -> Cause:
    """Return that a switch held a schedule, with who switched it off, and why."""
    for period in switch_periods(records.actions):
        if period.name == facts["switch"] and period.overlaps(slot, slot):
            facts |= {"actor": period.actor, "note": period.note}
            facts |= {"since": period.since, "until": period.until}
    since = facts.get("since")
    return Cause(Code.HELD_IN_RANGE, since if isinstance(since, datetime) else None, facts)


def _downtime(records: Records, found: SlotRange) -> list[Cause]:
    """Return the late start of the slot before a range: no worker ran in between."""
    before = [
        row
        for row in (*records.nearby, *records.rows)
        if row.kind is Kind.SCHEDULED and row.run_at < found.first and row.occupies_slot
    ]
    if not before:
        return []
    last = max(before, key=lambda row: row.run_at)
    began = last.first_started_at or last.finished_at
    if began is None or began < found.first:
        return []
    facts: dict[str, Fact] = {
        "execution": last.id,
        "slot": last.run_at,
        "started": began,
        "length": began - last.due_at if last.attempt <= 1 else began - last.run_at,
    }
    return [Cause(Code.DOWNTIME, began, facts)]


def _in_range(ranges: Sequence[SlotRange], slot: datetime) -> SlotRange | None:
    return next((each for each in ranges if each.first <= slot <= each.last), None)


def _other_run(row: Execution, records: Records) -> Cause:
    facts: dict[str, Fact] = {
        "execution": row.id,
        "kind": row.kind.value,
        "actor": row.actor,
        "state": verdict_of(row, records.now).value,
    }
    return Cause(Code.OTHER_RUN, row.created_at, facts)


def _explain_unknown(records: Records) -> Explanation:
    """Explain a slot of a schedule that does not exist: it was deleted or renamed."""
    slot, causes = records.asked[0], list[Cause]()
    for action in records.of_schedule:
        after = action.after if isinstance(action.after, dict) else {}
        if action.verb == "delete":
            causes.append(cause_of_stop(records, Reason.DELETED, action.at or records.now))
        elif action.verb == "rename":
            facts: dict[str, Fact] = {"actor": action.actor, "to": str(after.get("name", ""))}
            causes.append(Cause(Code.RENAMED, action.at, facts))
    verdict = Verdict.NOT_TOLD if causes else Verdict.NEVER_EXISTED
    return Explanation(records.name, verdict, tuple(causes[-1:]), slot=slot)
