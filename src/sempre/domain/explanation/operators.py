"""Operators and deploys: who stopped, changed or ended a schedule, by the log of actions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.domain.action import Action
from sempre.domain.arguments import Json
from sempre.domain.declaration_marks import is_pruned, newest_release
from sempre.domain.definition_history import changes_by
from sempre.domain.explanation.causes import Cause, Code, Fact
from sempre.domain.explanation.records import Records
from sempre.domain.redaction import redacted_text
from sempre.domain.states import Reason
from sempre.grids.instants import read_instant

__all__ = [
    "MOMENT",
    "SwitchPeriod",
    "action_of_commit",
    "cause_of_stop",
    "edit_after",
    "switch_periods",
    "who",
    "within_moment",
]

MOMENT = timedelta(seconds=2)
"""How far apart the times of one commit may be: the planning time and the time of the write."""
# The fields whose change decides the slots that have passed.
REGRIDDING = frozenset({"grid", "until", "limit", "enabled"})


@dataclass(frozen=True)
class SwitchPeriod:
    """A time in which a switch was off.

    Attributes:
        until: when the switch went on again, or is to; None while it is off without an end.
    """

    name: str
    mode: str
    since: datetime
    until: datetime | None
    actor: str
    note: str

    def overlaps(self, begin: datetime, end: datetime) -> bool:
        """Whether the switch was off at some instant between two instants."""
        return self.since <= end and (self.until is None or self.until > begin)


def who(action: Action | None, *, actor: str = "", note: str = "") -> dict[str, Fact]:
    """Return who acted and why, without secrets; from the action, or else as given."""
    found, text = (action.actor, action.note) if action else (actor, note)
    return {"actor": found or actor, "note": redacted_text(text or note)}


def within_moment(one: datetime | None, other: datetime | None) -> bool:
    """Return whether two times may be of one commit."""
    return one is not None and other is not None and abs(one - other) <= MOMENT


def action_of_commit(actions: Iterable[Action], at: datetime | None) -> Action | None:
    """Return the action whose commit wrote a row at an instant: the nearest within a moment."""
    near = [(abs(each.at - at), each) for each in actions if at and each.at]
    found = min(near, key=lambda each: each[0], default=None)
    return found[1] if found and found[0] <= MOMENT else None


def cause_of_stop(records: Records, reason: str, at: datetime) -> Cause:
    """Return who disabled, paused or deleted a schedule by an instant.

    Args:
        records: with the actions on the schedule.
        reason: disabled, paused or deleted.
        at: the instant at which the stop was in force.
    """
    field, wanted = _FIELDS[reason]
    found = _last_change(records.of_schedule, field, wanted, at)
    schedule = records.schedule
    facts = who(found)
    if found is None and schedule is not None:
        if reason == Reason.PAUSED and schedule.pause is not None:
            facts = who(None, actor=schedule.pause.actor, note=schedule.pause.note)
        elif reason == Reason.DISABLED and is_pruned(schedule.declared):
            facts["release"] = newest_release(schedule.declared)
    if reason == Reason.PAUSED:
        facts["until"] = _pause_end(found, records)
    by_code = (found and found.actor == "code") or "release" in facts
    code = Code.DISABLED_BY_DEPLOY if by_code and reason == Reason.DISABLED else _CODES[reason]
    return Cause(code, found.at if found else None, facts)


def edit_after(records: Records, instant: datetime, at: datetime | None) -> Cause:
    """Return the edit or deploy that left a slot without a row, or replaced its row.

    Args:
        records: with the actions on the schedule.
        instant: the slot.
        at: when the row was superseded; None for a slot of a range.
    """
    changes = [each for each in records.of_schedule if changes_by(each)]
    if at is not None:
        found = action_of_commit(changes, at)
    else:
        later = (each for each in changes if each.at and each.at >= instant)
        found = next((each for each in later if REGRIDDING & set(changes_by(each))), None)
    fields = tuple(sorted(changes_by(found))) if found else ()
    facts: dict[str, Fact] = {**who(found), "fields": fields}
    return Cause(Code.EDITED, found.at if found else at, facts)


def switch_periods(actions: Iterable[Action]) -> list[SwitchPeriod]:
    """Return when switches were off, by the log of actions, in order."""
    found: list[SwitchPeriod] = []
    for each in sorted(actions, key=lambda each: each.id):
        if each.at is None or not each.target.startswith("switch:"):
            continue
        name = each.target.removeprefix("switch:")
        # An action on a switch ends the time before, also a second `off`.
        found = [_ended(period, name, each.at) for period in found]
        if each.verb == "switch off":
            after = each.after if isinstance(each.after, dict) else {}
            mode, until = str(after.get("mode", "hold")), _instant(after.get("until"))
            note = redacted_text(each.note)
            found.append(SwitchPeriod(name, mode, each.at, until, each.actor, note))
    return found


def _ended(period: SwitchPeriod, name: str, at: datetime) -> SwitchPeriod:
    is_over = period.until is not None and period.until <= at
    if period.name != name or is_over:
        return period
    return SwitchPeriod(name, period.mode, period.since, at, period.actor, period.note)


_FIELDS: dict[str, tuple[str, Json]] = {
    Reason.DISABLED: ("enabled", False),
    Reason.PAUSED: ("paused", True),
    Reason.DELETED: ("deleted", True),
}
_CODES: dict[str, Code] = {
    Reason.DISABLED: Code.DISABLED,
    Reason.PAUSED: Code.PAUSED,
    Reason.DELETED: Code.DELETED,
}


def _last_change(
    actions: Iterable[Action], field: str, wanted: Json, at: datetime
) -> Action | None:
    """Return the last action by an instant that set a field to a value."""
    early = (each for each in actions if each.at and each.at <= at + MOMENT)
    changes = ((each, changes_by(each)) for each in early)
    fitting = [each for each, fields in changes if field in fields and fields[field][1] == wanted]
    return fitting[-1] if fitting else None


def _pause_end(found: Action | None, records: Records) -> datetime | None:
    if found is not None and isinstance(found.after, dict):
        return _instant(found.after.get("paused_until"))
    pause = records.schedule.pause if records.schedule else None
    return pause.until if pause else None


def _instant(text: Json) -> datetime | None:
    return read_instant("until", text) if isinstance(text, str) and text else None
