"""Wording: the sentence of every cause and verdict, for terminals, pages and mails alike.

Sentences about waits and runs are in `sentences_of_runs`; the words are nowhere else.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sempre.domain.explanation.causes import Cause, Code, Explanation, Verdict
from sempre.domain.explanation.sentences_of_runs import SENTENCES_OF_RUNS
from sempre.domain.explanation.speech import Facts, Sentence, Speech, by_whom, spoken_length

__all__ = ["SENTENCES", "Speech", "line_of", "sentence_of", "told", "verdict_sentence"]

LATE = timedelta(seconds=2)
_RAN = (Verdict.SUCCEEDED, Verdict.FAILED, Verdict.RUNNING)
_VERDICTS = {
    Verdict.SUCCEEDED: "succeeded",
    Verdict.FAILED: "failed",
    Verdict.RUNNING: "is running",
    Verdict.WAITING: "waits to start",
    Verdict.SKIPPED: "was skipped",
    Verdict.MISSED: "was missed",
    Verdict.CANCELLED: "was cancelled",
    Verdict.SUPERSEDED: "was superseded and did not run",
    Verdict.WILL_RUN: "is still to come and will run, as things stand",
    Verdict.WILL_NOT_RUN: "will not run, as things stand",
    Verdict.UNDECIDED: "is not decided yet",
    Verdict.NEVER_EXISTED: "never existed",
    Verdict.PURGED: "is no longer on record",
    Verdict.NOT_TOLD: "is not on record, and the records do not tell why",
}
_KINDS = {"backfill": "the backfill", "manual": "the manual run"}


def verdict_sentence(explanation: Explanation, speech: Speech) -> str:
    """Return the one-line answer."""
    subject = explanation.name
    if explanation.slot is not None:
        subject = f"{explanation.name}@{speech.at(explanation.slot)}"
    return f"{subject} {_verdict(explanation)}."


def told(explanation: Explanation) -> list[str]:
    """Return the answer as lines: the verdict, then each cause."""
    now = explanation.told_at or explanation.slot or datetime.max.replace(tzinfo=UTC)
    speech = Speech(explanation.zone, now)
    causes = [f"- {line_of(cause, speech)}" for cause in explanation.causes]
    return [verdict_sentence(explanation, speech), *causes]


def line_of(cause: Cause, speech: Speech) -> str:
    """Return the sentence of a cause, with its time in front if it has one."""
    when = f"{speech.at(cause.at)}: " if cause.at is not None else ""
    return f"{when}{sentence_of(cause, speech)}"


def sentence_of(cause: Cause, speech: Speech) -> str:
    """Return the sentence of a cause."""
    return SENTENCES[cause.code](cause.facts, speech)


def _verdict(explanation: Explanation) -> str:
    words = _VERDICTS[explanation.verdict]
    late = explanation.late
    if late is None or explanation.verdict not in _RAN:
        return words
    return f"started {spoken_length(late)} late and {words}" if late > LATE else words


def _stop(word: str) -> Sentence:
    def sentence(facts: Facts, speech: Speech) -> str:
        unknown = "; the log of actions does not tell by whom"
        until = facts.get("until")
        end = f", until {speech.at(until)}" if until else ""
        return f"The schedule was {word}{by_whom(facts, otherwise=unknown)}{end}."

    return sentence


def _gap(facts: Facts, speech: Speech) -> str:
    skips = f"On that day the clocks of {facts['zone']} skip {facts['wall']}"
    return f"{skips}, so the slot is at {speech.at(facts['slot'])}."


def _fold(which: str) -> Sentence:
    def sentence(facts: Facts, _: Speech) -> str:
        shown = f"On that day the clocks of {facts['zone']} show {facts['wall']} twice"
        return f"{shown}; this is the {which} time."

    return sentence


def _not_on_grid(facts: Facts, speech: Speech) -> str:
    return f"The instant is not on the grid: {facts['rule']}. {_nearest(facts, speech)}"


def _nearest(facts: Facts, speech: Speech) -> str:
    before, after = facts.get("before"), facts.get("after")
    parts = [f"before is {speech.at(before)}"] if before else []
    parts += [f"after is {speech.at(after)}"] if after else []
    return f"The nearest slot {' and '.join(parts)}." if parts else "No slot lies near."


def _gap_skipped(facts: Facts, speech: Speech) -> str:
    skipped = f"On that day the clocks of {facts['zone']} skip {facts['wall']}"
    return (
        f'{skipped}, and the schedule leaves such slots out (gap="skip"). {_nearest(facts, speech)}'
    )


def _deploy(facts: Facts, _: Speech) -> str:
    note, release = facts.get("note"), facts.get("release")
    why = f"the deploy: {note}" if note else f"the deploy of release {release}"
    return f"The schedule was disabled by {why}."


def _edited(facts: Facts, _: Speech) -> str:
    by = f"the deploy: {facts.get('note')}" if facts.get("actor") == "code" else ""
    who = (
        f" by {by}"
        if by
        else by_whom(facts, otherwise="; the log of actions does not tell by whom")
    )
    return f"The schedule was edited{_fields(facts)}{who}."


def _fields(facts: Facts) -> str:
    names = facts.get("fields")
    return f" ({', '.join(names)})" if isinstance(names, tuple) and names else ""


def _purged(facts: Facts, speech: Speech) -> str:
    since = facts.get("since")
    text = f"Executions that ended before {speech.at(since)} may be purged" if since else "Purged"
    return f"{text}{'; daily totals remain (sempre show).' if facts.get('totals') else '.'}"


def _created(facts: Facts, speech: Speech) -> str:
    return f"The execution {speech.id(facts['execution'])} was created{by_whom(facts)}."


def _by_predecessor(facts: Facts, speech: Speech) -> str:
    start = f"when the slot before, {speech.at(facts['slot'])}, was decided"
    return f"The execution {speech.id(facts['execution'])} was created {start}."


def _by_watchdog(facts: Facts, speech: Speech) -> str:
    made = f"The watchdog created the execution {speech.id(facts['execution'])}"
    return f"{made}: the schedule had no valid next execution."


def _superseded(facts: Facts, speech: Speech) -> str:
    new = f"The execution {speech.id(facts['execution'])} of {speech.at(facts['slot'])}"
    return f"{new} took its place."


def _due(facts: Facts, speech: Speech) -> str:
    since = speech.at(facts["since"])
    return f"The execution has been due for {spoken_length(facts['length'])}, since {since}."


def _next(facts: Facts, speech: Speech) -> str:
    row = f"The execution {speech.id(facts['execution'])} is due at {speech.at(facts['due'])}"
    return f"{row} in the queue {facts['queue']}."


def _expected(facts: Facts, speech: Speech) -> str:
    text = "Its execution will be created when the slot before is decided"
    following = f"; the next slot is {speech.at(facts['next'])}" if facts.get("next") else ""
    return f"{text}{following}."


def _behind(facts: Facts, speech: Speech) -> str:
    if not facts.get("execution"):
        return "The schedule has no next execution yet; the watchdog creates it."
    row = f"{speech.at(facts['slot'])} ({speech.id(facts['execution'])})"
    return f"The slot of {row} waits to start and decides the slots after it."


def _other(facts: Facts, speech: Speech) -> str:
    run = f"{_KINDS.get(str(facts['kind']), facts['kind'])} {speech.id(facts['execution'])}"
    return f"Besides, {run} of this slot was created{by_whom(facts)}; its state: {facts['state']}."


def _anchored(facts: Facts, speech: Speech) -> str:
    if not facts["number"]:
        return "The slot is the anchor of the grid."
    anchor = f"the anchor {speech.at(facts['anchor'])}"
    return f"The slot is {anchor} + {facts['number']} * {facts['interval']}."


def _not_told(facts: Facts, _: Speech) -> str:
    reason = f" (reason: {facts['reason']})" if facts.get("reason") else ""
    return f"The records do not tell why{reason}."


SENTENCES: Mapping[Code, Sentence] = {
    **SENTENCES_OF_RUNS,
    Code.ON_GRID: lambda facts, _: f"The slot is on the grid: {facts['rule']}.",
    Code.ANCHORED: _anchored,
    Code.GAP_SHIFTED: _gap,
    Code.FOLD_FIRST: _fold("first"),
    Code.FOLD_SECOND: _fold("second"),
    Code.ASKED_IN_GAP: lambda facts, _: (
        f"On that day the clocks of {facts['zone']} skip {facts['wall']}; after the jump they "
        f"show {facts['resumes']}."
    ),
    Code.NOT_ON_GRID: _not_on_grid,
    Code.GAP_SKIPPED: _gap_skipped,
    Code.BEFORE_ANCHOR: lambda facts, speech: (
        f"Nothing fires before the anchor, {speech.at(facts['anchor'])}."
    ),
    Code.UNKNOWN_GRID: lambda facts, _: (
        f"Whether the instant is on the grid is unknown here: {facts['rule']}."
    ),
    Code.REGRIDDED: lambda facts, _: (
        f"The instant is on the present grid, which is newer{_fields(facts)}{by_whom(facts)}."
    ),
    Code.BEFORE_CREATION: lambda facts, speech: (
        f"The schedule was created later, at {speech.at(facts['created'])}."
    ),
    Code.AFTER_UNTIL: lambda facts, speech: (
        f"The schedule ended at {speech.at(facts['until'])} (until)."
    ),
    Code.LIMIT_REACHED: lambda facts, _: (
        f"The schedule had reached its limit of {facts.get('limit') or 'some'} starts."
    ),
    Code.ENDED: lambda *_: "The schedule had ended: by until, by its limit, or its grid has ended.",
    Code.BROKEN: lambda facts, _: f"The grid of the schedule is broken: {facts['error']}.",
    Code.PAUSED: _stop("paused"),
    Code.DISABLED: _stop("disabled"),
    Code.DISABLED_BY_DEPLOY: _deploy,
    Code.DELETED: _stop("deleted"),
    Code.RENAMED: lambda facts, _: f"The schedule was renamed to {facts['to']}{by_whom(facts)}.",
    Code.EDITED: _edited,
    Code.PURGED: _purged,
    Code.CREATED: _created,
    Code.CREATED_BY_PREDECESSOR: _by_predecessor,
    Code.CREATED_BY_WATCHDOG: _by_watchdog,
    Code.CREATED_LATE: lambda facts, _: (
        f"That was {spoken_length(facts['length'])} after the slot: the schedule caught up."
    ),
    Code.ENQUEUED: lambda facts, _: f"The work was enqueued{by_whom(facts)}.",
    Code.DERIVED: lambda facts, _: f"The work was derived by {facts['pair']}{by_whom(facts)}.",
    Code.JITTERED: lambda facts, speech: (
        f"By jitter of up to {spoken_length(facts['jitter'])} it was due at "
        f"{speech.at(facts['due'])}."
    ),
    Code.DECIDED_BY_CLOCK: lambda *_: (
        "The row was made while the clock of the store was ahead; the slot was decided anew."
    ),
    Code.SUPERSEDED: _superseded,
    Code.DUE: _due,
    Code.NEXT: _next,
    Code.EXPECTED: _expected,
    Code.BEHIND: _behind,
    Code.OTHER_RUN: _other,
    Code.NOT_TOLD: _not_told,
}
"""The sentence of each cause."""
