"""Plans of changes as people read them: what ends, what comes, when, and until when it is true."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from sempre.app.changes.change_plan import ChangePlan
from sempre.app.changes.switch_preview import SwitchPreview
from sempre.app.presentation.changes import changed_parts
from sempre.app.times import format_duration, zone_of
from sempre.cli.context import CommandContext
from sempre.cli.output import NO_BREAK
from sempre.domain.arguments import Json
from sempre.domain.planning.plan import Change
from sempre.domain.preview import Peak, Preview, SlotList
from sempre.domain.preview.preview import ClockDay, FieldChange
from sempre.domain.redaction import redacted
from sempre.errors.wording import counted
from sempre.grids.grid import Grid

__all__ = ["field_text", "print_plan", "print_switch"]

ARROW = " -> "
DEPLOYED = {
    "adopted": "taken over from another owner, or from none",
    "enabled": "enabled again: an earlier deploy had disabled them",
    "withheld": "left as they are: a newer release declares them otherwise",
    "orphaned": "not declared, or no worker knows their job; left alone",
}
Fact = tuple[str, str]


def print_plan(context: CommandContext, plan: ChangePlan) -> None:
    """Print the steps of a plan, one block each, and what concerns all of them."""
    output = context.output
    for planned in plan.steps:
        output.line(f"{planned.step.verb} {planned.step.name}")
        if planned.preview is not None:
            output.facts(_facts(context, planned.preview))
    if not plan.steps:
        output.line("nothing changes.")
    output.facts(_shared(context, plan))


def print_switch(context: CommandContext, found: SwitchPreview) -> None:
    """Print what a switch would stop."""
    switch, output = found.switch, context.output
    until = f" until {context.shown(switch.until)}" if switch.until else ", until it is on again"
    length = format_duration(found.window.length)
    output.line(f"switch off {switch.target}, {switch.mode}{until}; the next {length}:")
    for each in found.schedules:
        grid = each.schedule.definition.grid
        output.facts([(each.schedule.name, _listed(context, each.slots, grid) or "no slot")])
    at_least = "" if found.is_counted else "at least "
    fate = "held" if switch.holds else "rejected or skipped when due"
    output.facts([("waiting", f"{at_least}{counted(found.waiting, 'one-off execution')}: {fate}")])
    kept = "held, then as catch_up says" if switch.holds else "skipped"
    total = sum(each.slots.count for each in found.schedules)
    told = f"{counted(total, 'slot')} of {counted(len(found.schedules), 'schedule')}: {kept}"
    output.facts([("slots", told)])


def field_text(name: str, before: Json, after: Json) -> Iterator[Fact]:
    """Yield the change of a field; a rule by its parts that differ."""
    for each in changed_parts(name, before, after):
        yield each.name, f"{each.before}{ARROW}{each.after}"


def _facts(context: CommandContext, preview: Preview) -> Iterator[Fact]:
    """Yield what one step changes."""
    yield from _fields(context, preview)
    for change in preview.ended:
        yield change.after.state.value, _execution(context, change)
    for change in preview.replaced:
        yield "replaced", f"{_execution(context, change)}, at its slot"
    yield "next", _next(context, preview)
    length = format_duration(preview.window.length)
    counts = f"{preview.before.count:,}{ARROW}{preview.after.count:,}"
    yield "slots", f"{counts} in the next {length}"
    found = preview.difference
    yield "appear", _slots(context, preview, found.appearing)
    yield "vanish", _slots(context, preview, found.vanishing)
    if found.compared_until is not None:
        until = _shown(context, preview, found.compared_until)
        yield "compared", f"up to {until}: both rules have too many slots"
    if preview.paused.count:
        yield "paused", f"{counted(preview.paused.count, 'slot')}, which are not caught up later"
    for each in preview.passed:
        yield "passed", f"{counted(each.count, 'slot')} before now will not run: {each.reason}"
    for day in preview.clock_days:
        yield "clock", _clock(context, preview, day)


def _fields(context: CommandContext, preview: Preview) -> Iterator[Fact]:
    base, after = preview.plan.base, preview.schedule
    new = after.definition.grid.explain()
    if base is None:
        yield "job", after.definition.job
        yield "when", new
        return
    old = base.definition.grid.explain()
    if old != new:
        yield "when", f"{old}{ARROW}{new}"
    for each in _masked(preview, context.redact):
        yield from field_text(each.name, each.before, each.after)
    if not preview.fields:
        yield "fields", "none: the store notes the declaration" if _is_noted(preview) else ""


def _is_noted(preview: Preview) -> bool:
    base = preview.plan.base
    return base is not None and base.declared != preview.schedule.declared


def _masked(preview: Preview, redact: Iterable[str]) -> Iterator[FieldChange]:
    names = (*redact, *preview.redact)
    for each in preview.fields:
        before, after = (redacted({each.name: value}, names) for value in (each.before, each.after))
        assert isinstance(before, dict)  # noqa: S101 - as it was given
        assert isinstance(after, dict)  # noqa: S101 - as it was given
        yield FieldChange(each.name, before[each.name], after[each.name])


def _execution(context: CommandContext, change: Change) -> str:
    row = change.after
    slot = _kept(context.shown(row.run_at, row.snapshot.grid))
    reason = f" ({row.reason})" if row.reason else ""
    return f"{row.id}, slot {slot}{reason}"


def _next(context: CommandContext, preview: Preview) -> str:
    base, after = preview.plan.base, preview.schedule
    new = context.shown(after.next_run_at, after.definition.grid) if after.next_run_at else "none"
    if base is None:
        return new
    old = context.shown(base.next_run_at, base.definition.grid) if base.next_run_at else "none"
    return f"{new}, as before" if old == new else f"{old}{ARROW}{new}"


def _slots(context: CommandContext, preview: Preview, found: SlotList) -> str:
    return _listed(context, found, preview.schedule.definition.grid)


def _listed(context: CommandContext, found: SlotList, grid: Grid) -> str:
    """Return a list of slots: their number, the first, and how many more; empty for none."""
    if not found.count:
        return ""
    names = [_kept(context.shown(slot, grid)) for slot in found.first]
    more = [f"and {found.left_off:,} more"] if found.left_off else []
    return f"{found.count:,}: {', '.join([*names, *more])}"


def _clock(context: CommandContext, preview: Preview, day: ClockDay) -> str:
    effect = day.after or day.before
    assert effect is not None  # noqa: S101 - one side has it
    moved = f"{day.zone} goes {effect.change.direction}, {_shown(context, preview, day.at)}"
    old, new = (f"{each.effect}: {each.note}" if each else "" for each in (day.before, day.after))
    if old == new:
        return f"{moved}. {new}"
    return f"{moved}. Before: {old or 'no slot is touched.'} After: {new or 'no slot is touched.'}"


def _shared(context: CommandContext, plan: ChangePlan) -> Iterator[Fact]:
    """Yield what concerns the whole plan."""
    grids = {zone_of(each.after.grid): each.after.grid for each in plan.previews}
    grid = next(iter(grids.values())) if len(grids) == 1 else None
    if plan.previews:
        old, new = (_peak(context, each, grid) for each in plan.peaks)
        yield "peak", f"{new}, as before" if old == new else f"{old}{ARROW}{new}"
    yield "unchanged", ", ".join(plan.unchanged)
    if plan.synced is not None:
        for name, meaning in DEPLOYED.items():
            names = ", ".join(getattr(plan.synced, name))
            yield name, f"{names} ({meaning})" if names else ""
    if plan.dropped:
        names = ", ".join(plan.dropped)
        yield "not pruned", f"{names}: declared no more; --prune disables, as a worker's start does"
    if plan.holds_until is not None:
        shown = context.shown(plan.holds_until, grid)
        yield "holds until", f"{shown}, the first slot that changes"


def _peak(context: CommandContext, peak: Peak | None, grid: Grid | None) -> str:
    if peak is None:
        return "no start"
    return f"{counted(peak.count, 'start')} in the minute of {_kept(context.shown(peak.at, grid))}"


def _shown(context: CommandContext, preview: Preview, instant: datetime) -> str:
    return _kept(context.shown(instant, preview.schedule.definition.grid))


def _kept(text: str) -> str:
    """Return an instant whose words stay on one line."""
    return text.replace(" ", NO_BREAK)
