"""Why a slot or an execution is as it is: sentences with times, and the page of a slot."""

from dataclasses import dataclass
from datetime import datetime

from sempre.domain.explanation import Explanation
from sempre.domain.explanation.wording import Speech, sentence_of, verdict_sentence
from sempre.errors import InstantError, NotFound
from sempre.web.answers import PageAnswer
from sempre.web.views.schedule import schedule_page
from sempre.web.visit import Visit

__all__ = ["Reason", "Story", "story_of", "story_of_execution", "why_page"]

BAD = 400


@dataclass(frozen=True)
class Reason:
    """One sentence of an explanation, and its time if it has one."""

    sentence: str
    at: datetime | None


@dataclass(frozen=True)
class Story:
    """An explanation as a page shows it.

    Attributes:
        verdict: the one-line answer.
        word: what became of the slot, in a word.
        execution: the id of the execution, or an empty text.
    """

    verdict: str
    word: str
    slot: datetime | None
    execution: str
    reasons: tuple[Reason, ...]


def story_of(visit: Visit, explanation: Explanation) -> Story:
    """Return an explanation in sentences, with times in the zone of the page."""
    speech = Speech(visit.zone, explanation.told_at or visit.reader.engine.present())
    reasons = (Reason(sentence_of(each, speech), each.at) for each in explanation.causes)
    return Story(
        verdict=verdict_sentence(explanation, speech),
        word=explanation.verdict.value,
        slot=explanation.slot,
        execution=explanation.execution,
        reasons=tuple(reasons),
    )


def story_of_execution(visit: Visit, identity: str) -> Story | None:
    """Return why an execution exists, waited and ended; None if it was purged meanwhile."""
    try:
        return story_of(visit, visit.operator.why(identity))
    except NotFound:
        return None


def why_page(visit: Visit) -> PageAnswer:
    """Return the page of a slot: why it ran, did not run, or will run.

    Without a time the address is that of a schedule whose name ends in `/why`, or of the form.
    """
    name, at = visit.params["name"], visit.asked("at")
    if not at and visit.reader.read(visit.store.views([f"{name}/why"])):
        return schedule_page(visit, f"{name}/why")
    story, error = None, ""
    if at:
        try:
            story = story_of(visit, visit.operator.why(name, at=at))
        except InstantError as wrong:
            error = str(wrong)
    else:
        _ = visit.operator.schedule(name).row
    values = {"name": name, "at": at, "story": story, "error": error}
    return PageAnswer("why.html", f"Why {name}", values, status=BAD if error else 200)
