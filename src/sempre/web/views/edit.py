"""An edit in three pages: the form, the plan of the next 90 days, and the change itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sempre.app.changes.change_plan import ChangePlan
from sempre.app.presentation.changes import ChangedField, changed_parts, masked_value
from sempre.domain.preview import Preview
from sempre.domain.schedule import Schedule
from sempre.errors import InvalidInput, Refused
from sempre.errors.changes import MovedOn
from sempre.web.answers import Answer, PageAnswer, Redirect
from sempre.web.edit_form import FIELDS, edit_options, field_of_error, texts_of
from sempre.web.promises import promise_of, promised
from sempre.web.visit import Visit

__all__ = ["PATH", "EditPreview", "edit_form", "edit_now", "edit_preview"]

PATH = "/acts/schedules/edit"
BAD, LOST = 400, 409
NO_CHANGE = "Nothing would change: no field differs from the schedule as it is."


@dataclass(frozen=True)
class EditPreview:
    """The plan of an edit as the page shows it.

    Attributes:
        fields: the rule in words if it changes, then the changed fields, masked.
        moved: why an earlier preview was refused.
        kept: the fields of the form, which the page sends again.
    """

    preview: Preview
    plan: ChangePlan
    fields: tuple[ChangedField, ...]
    promise: str
    moved: tuple[str, ...]
    kept: Mapping[str, str]


def edit_form(visit: Visit) -> PageAnswer:
    """Return the form with the fields as they are."""
    schedule = _schedule(visit, visit.asked("target"))
    texts = texts_of(schedule.definition, visit.redact)
    return _form(schedule, texts, was=texts)


def edit_preview(visit: Visit) -> PageAnswer:
    """Return what an edit would do in the next 90 days; nothing is written."""
    schedule = _schedule(visit, visit.given("target"))
    return _previewed(visit, schedule)


def edit_now(visit: Visit) -> Answer:
    """Apply exactly the edit that was previewed; 409 with a new preview if that is not possible."""
    schedule = _schedule(visit, visit.given("target"))
    try:
        plan = _plan(visit, schedule)
        if not plan.steps:
            return _form(schedule, *_texts(visit), problem=NO_CHANGE, status=LOST)
        visit.operator.apply(promised(plan, visit.given("promise")))
    except MovedOn as moved:
        return _previewed(visit, _schedule(visit, schedule.name), moved=_reasons_of(moved))
    except InvalidInput as error:
        return _form(schedule, *_texts(visit), error=error, status=BAD)
    finally:
        visit.shared.forget()
    return Redirect(visit.named("schedules", schedule.name), f"{schedule.name}: edited.")


def _previewed(visit: Visit, schedule: Schedule, moved: tuple[str, ...] = ()) -> PageAnswer:
    try:
        plan = _plan(visit, schedule)
    except InvalidInput as error:
        return _form(schedule, *_texts(visit), error=error, status=BAD)
    except Refused as refused:
        return _form(schedule, *_texts(visit), problem=str(refused), status=LOST)
    if not plan.steps:
        problem = " ".join([*(f"{each}." for each in moved), NO_CHANGE])
        return _form(schedule, *_texts(visit), problem=problem, status=LOST if moved else BAD)
    values = {"view": _shown(visit, plan, moved), "name": schedule.name, "why": visit.given("why")}
    title = f"Edit {schedule.name}"
    return PageAnswer("edit_preview.html", title, values, status=LOST if moved else 200)


def _shown(visit: Visit, plan: ChangePlan, moved: tuple[str, ...]) -> EditPreview:
    [preview] = plan.previews
    names = (*visit.redact, *preview.redact)
    fields = [
        part
        for each in preview.fields
        for part in changed_parts(
            each.name,
            masked_value(each.name, each.before, names),
            masked_value(each.name, each.after, names),
        )
    ]
    base = preview.plan.base
    old = base.definition.grid.explain() if base else ""
    new = preview.schedule.definition.grid.explain()
    given, was = _texts(visit)
    kept = {**given, **{f"was_{name}": text for name, text in was.items()}}
    return EditPreview(
        preview=preview,
        plan=plan,
        fields=(*([ChangedField("when", old, new)] if old != new else ()), *fields),
        promise=promise_of(plan),
        moved=moved,
        kept={name: text for name, text in kept.items() if text},
    )


def _plan(visit: Visit, schedule: Schedule) -> ChangePlan:
    given, was = _texts(visit)
    options = edit_options(given, was, schedule.definition, visit.redact)
    return visit.operator.plan.edit(schedule.name, **options, why=visit.given("why"))


def _texts(visit: Visit) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of the form, and those that the visitor was shown."""
    names = [each.name for each in FIELDS]
    given = {name: _lines(visit.given(name)) for name in names}
    return given, {name: _lines(visit.given(f"was_{name}")) for name in names}


def _lines(text: str) -> str:
    """Return a text as written: a browser sends each end of a line as two characters."""
    return text.replace("\r\n", "\n")


def _form(
    schedule: Schedule,
    texts: Mapping[str, str],
    was: Mapping[str, str],
    *,
    error: InvalidInput | None = None,
    problem: str = "",
    status: int = 200,
) -> PageAnswer:
    field = field_of_error(error) if error else ""
    if error and not field:
        problem = str(error)
    values: dict[str, Any] = {
        "schedule": schedule,
        "groups": list(dict.fromkeys(each.group for each in FIELDS)),
        "fields": FIELDS,
        "texts": texts,
        "was": was,
        "wrong": {field: str(error)} if field else {},
        "problem": problem,
    }
    return PageAnswer("edit.html", f"Edit {schedule.name}", values, status=status)


def _schedule(visit: Visit, name: str) -> Schedule:
    return visit.operator.schedule(name).row


def _reasons_of(moved: MovedOn) -> tuple[str, ...]:
    """Return the reasons of a refusal, without the options of the command line."""
    return tuple(reason.partition("; --")[0] for reason in moved.reasons)
