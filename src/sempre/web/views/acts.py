"""The pages of acts: a form that says what will happen, and what really happened."""

from sempre.web.acts import Act, ActResult, perform
from sempre.web.answers import Answer, PageAnswer, Redirect
from sempre.web.protection import local_path
from sempre.web.visit import Visit

__all__ = ["act_by_form", "form_of"]

FIELDS = ("until", "at", "to", "mode", "why")
LONGEST_TOLD = 600
LOST = 409


def form_of(visit: Visit, act: Act) -> PageAnswer:
    """Return the form of an act: its targets, its effect, and the fields that it asks for."""
    values = {
        "act": act,
        "targets": list(dict.fromkeys(filter(None, visit.query.get("target", ())))),
        "next": local_path(visit.asked("next"), visit.url(f"/{act.kind}")),
    }
    return PageAnswer("act.html", act.title, values)


def act_by_form(visit: Visit, act: Act) -> Answer:
    """Act, then return to the page before; targets without effect are shown on another page."""
    results = _performed(visit, act)
    back = local_path(visit.given("next"), visit.url(f"/{act.kind}"))
    if all(each.done for each in results):
        gone = act.verb in ("delete", "rename")
        return Redirect(visit.url(f"/{act.kind}") if gone else back, _summary(act, results))
    values = {"act": act, "results": results, "next": back}
    return PageAnswer("act_results.html", act.title, values, status=LOST)


def _performed(visit: Visit, act: Act) -> list[ActResult]:
    try:
        return perform(act, visit.operator, visit.form.get("target", ()), _fields(visit))
    finally:
        visit.shared.forget()


def _fields(visit: Visit) -> dict[str, str]:
    return {name: visit.given(name) for name in FIELDS if visit.given(name)}


def _summary(act: Act, results: list[ActResult]) -> str:
    first = results[0]
    if len(results) == 1:
        return f"{first.target}: {first.message}."[:LONGEST_TOLD]
    return f"{act.title}: done for {len(results)} {act.kind}."
