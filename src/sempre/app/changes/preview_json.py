"""Plans and previews as JSON values, for `--json`, plan files and pages; secrets are masked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sempre.app.changes.change_plan import ChangePlan, PlannedStep
from sempre.app.changes.switch_preview import SwitchPreview
from sempre.app.times import json_instant
from sempre.domain.execution import SlotRange
from sempre.domain.planning.plan import Change
from sempre.domain.preview import Peak, Preview, SlotList
from sempre.domain.preview.preview import ClockDay
from sempre.domain.redaction import redacted
from sempre.grids.clock_changes import ClockEffect

__all__ = ["plan_json", "step_json", "switch_json"]


def plan_json(plan: ChangePlan, redact: Sequence[str] = ()) -> dict[str, Any]:
    """Return a plan with the previews of its steps."""
    before, after = plan.peaks
    ends = [each.window.stretch.until for each in plan.previews]
    return {
        "store": plan.store,
        "made_at": json_instant(plan.made_at),
        "made_by": plan.made_by,
        "until": json_instant(max(ends, default=None)),
        "holds_until": json_instant(plan.holds_until),
        "steps": [step_json(each, redact) for each in plan.steps],
        "unchanged": list(plan.unchanged),
        "dropped": list(plan.dropped),
        "deploy": _synced(plan),
        "peak": {"before": _peak(before), "after": _peak(after)},
    }


def step_json(planned: PlannedStep, redact: Sequence[str] = ()) -> dict[str, Any]:
    """Return a step with its preview."""
    found = {"name": planned.step.name, "verb": planned.step.verb, "note": planned.step.note}
    return found if planned.preview is None else found | _preview(planned.preview, redact)


def switch_json(found: SwitchPreview) -> dict[str, Any]:
    """Return what a switch would stop."""
    return {
        "target": found.switch.target,
        "mode": found.switch.mode,
        "until": json_instant(found.switch.until),
        "schedules": [
            {"name": each.schedule.name, "slots": _slots(each.slots)} for each in found.schedules
        ],
        "waiting": found.waiting,
        "is_counted": found.is_counted,
    }


def _preview(preview: Preview, redact: Sequence[str]) -> dict[str, Any]:
    base, after, found = preview.plan.base, preview.schedule, preview.difference
    names = (*redact, *preview.redact)
    return {
        "revision": {"before": base.revision if base else None, "after": after.revision},
        "fields": [
            {
                "name": each.name,
                "before": _masked(each.name, each.before, names),
                "after": _masked(each.name, each.after, names),
            }
            for each in preview.fields
        ],
        "ended": [_execution(each) for each in preview.ended],
        "replaced": [_execution(each) for each in preview.replaced],
        "created": [
            {"run_at": json_instant(each.run_at), "due_at": json_instant(each.due_at)}
            for each in preview.created
        ],
        "next_run_at": {
            "before": json_instant(base.next_run_at) if base else None,
            "after": json_instant(after.next_run_at),
        },
        "slots": {"before": preview.before.count, "after": preview.after.count},
        "appearing": _slots(found.appearing),
        "vanishing": _slots(found.vanishing),
        "compared_until": json_instant(found.compared_until),
        "paused": _slots(preview.paused),
        "passed": [_range(each) for each in preview.passed],
        "clock_changes": [_clock_day(each) for each in preview.clock_days],
        "holds_until": json_instant(preview.holds_until),
    }


def _masked(name: str, value: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    shown: Any = redacted({name: value}, names)
    return shown[name]


def _execution(change: Change) -> dict[str, Any]:
    row = change.after
    return {
        "id": row.id,
        "run_at": json_instant(row.run_at),
        "before": change.before.state.value,
        "after": row.state.value,
        "reason": row.reason,
    }


def _slots(found: SlotList) -> dict[str, Any]:
    return {"count": found.count, "first": [json_instant(slot) for slot in found.first]}


def _range(found: SlotRange) -> dict[str, Any]:
    ends = {"first": json_instant(found.first), "last": json_instant(found.last)}
    return {**ends, "count": found.count, "reason": str(found.reason)}


def _clock_day(day: ClockDay) -> dict[str, Any]:
    shown = {"zone": day.zone, "at": json_instant(day.at)}
    return {**shown, "before": _effect(day.before), "after": _effect(day.after)}


def _effect(found: ClockEffect | None) -> dict[str, str] | None:
    return {"effect": found.effect, "note": found.note} if found else None


def _peak(peak: Peak | None) -> dict[str, Any] | None:
    if peak is None:
        return None
    counted_until = json_instant(peak.until)
    return {"at": json_instant(peak.at), "count": peak.count, "counted_until": counted_until}


def _synced(plan: ChangePlan) -> Mapping[str, Any] | None:
    if plan.synced is None:
        return None
    return {name: list(names) for name, names in asdict(plan.synced).items()}
