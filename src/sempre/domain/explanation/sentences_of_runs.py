"""Sentences about waits, runs, and slots that passed without a run."""

from collections.abc import Mapping

from sempre.domain.explanation.causes import Code
from sempre.domain.explanation.speech import Facts, Sentence, Speech, by_whom, spoken_length
from sempre.errors.wording import counted

__all__ = ["SENTENCES_OF_RUNS"]


def _held_by_switch(facts: Facts, speech: Speech) -> str:
    held = f"The switch {facts['switch']} held the execution for {spoken_length(facts['length'])}"
    until = facts.get("until")
    end = f"on again at {speech.at(until)}" if until else "still off"
    return f"{held}: switched off at {speech.at(facts['since'])}{by_whom(facts)}, {end}."


def _held_by_limit(facts: Facts, _: Speech) -> str:
    verb = "waited" if facts.get("until") else "has waited"
    return (
        f"The execution {verb} {spoken_length(facts['length'])} for the limit of {facts['limit']}."
    )


def _waited(facts: Facts, speech: Speech) -> str:
    run = f"the run of {speech.at(facts['slot'])} ({speech.id(facts['execution'])})"
    until = facts.get("until")
    end = f", which ended at {speech.at(until)}" if until else ", which still runs"
    verb = "waited" if until else "has waited"
    return f"The execution {verb} {spoken_length(facts['length'])} for {run}{end}."


def _ticket_lost(facts: Facts, _: Speech) -> str:
    found = f"a sweep found the execution {spoken_length(facts['after'])} after it was due"
    return f"The broker did not deliver the ticket: {found}."


def _queue_lost(facts: Facts, _: Speech) -> str:
    lost = f"The broker lost the messages of the queue {facts['queue']}"
    rung = f"the ticket was rung again {spoken_length(facts['after'])} after it was due"
    return f"{lost}: {rung}."


def _unannounced(facts: Facts, _: Speech) -> str:
    rung = f"the watchdog rang it {spoken_length(facts['after'])} after it was due"
    return f"The execution had no ticket on the broker: {rung}."


def _no_worker(facts: Facts, speech: Speech) -> str:
    until = facts.get("until")
    text = (
        f"No worker on record served the queue {facts['queue']} since {speech.at(facts['since'])}"
    )
    return f"{text}; the first one started at {speech.at(until)}." if until else f"{text}."


def _busy(facts: Facts, speech: Speech) -> str:
    count, ids = facts["count"], facts["ids"]
    named = ", ".join(map(speech.id, ids)) if isinstance(ids, tuple) else ""
    ran = f"The worker ran {counted(int(str(count)), 'other execution')} meanwhile ({named})"
    return f"{ran}; perhaps it had no free capacity, which the records do not tell."


def _not_told_late(facts: Facts, _: Speech) -> str:
    length = spoken_length(facts["length"])
    return f"The execution could have started {length} earlier; the records do not tell why not."


def _overlapped(facts: Facts, speech: Speech) -> str:
    if not facts.get("execution"):
        return "An earlier run was still running when the slot was due; it is not on record."
    until = facts.get("until")
    end = f"to {speech.at(until)}" if until else "on, and still runs"
    run = f"The run of {speech.at(facts['slot'])} ({speech.id(facts['execution'])})"
    return f'{run} ran from {speech.at(facts["since"])} {end}; overlap="skip" skips the slot.'


def _rejected(facts: Facts, speech: Speech) -> str:
    text = f"The switch {facts['switch']} rejected the slot"
    since = facts.get("since")
    return f"{text}: switched off at {speech.at(since)}{by_whom(facts)}." if since else f"{text}."


def _deadline(facts: Facts, speech: Speech) -> str:
    due, length = speech.at(facts["due"]), spoken_length(facts["deadline"])
    return f"The slot was due at {due} and had not started within its deadline of {length}."


def _range(facts: Facts, speech: Speech) -> str:
    count, first, last = facts["count"], facts["first"], facts["last"]
    if count == 1:
        return "The slot passed without an execution."
    text = f"The slot is one of {count:,} slots that passed without an execution"
    return f"{text}, from {speech.at(first)} to {speech.at(last)}."


def _missed_range(facts: Facts, speech: Speech) -> str:
    return f"No worker started the slot in time. {_range(facts, speech)}"


def _held_range(facts: Facts, speech: Speech) -> str:
    since = facts.get("since")
    off = f": switched off at {speech.at(since)}{by_whom(facts)}" if since else ""
    return f"The switch {facts['switch']} held the schedule{off}. {_range(facts, speech)}"


def _downtime(facts: Facts, speech: Speech) -> str:
    late = f"started only at {speech.at(facts['started'])}, {spoken_length(facts['length'])} late"
    return f"The slot before, {speech.at(facts['slot'])}, {late}; slots in between were given up."


def _attempt(ending: str) -> Sentence:
    def sentence(facts: Facts, speech: Speech) -> str:
        ran = f"Attempt {facts['number']} ran for {spoken_length(facts['length'])}"
        error = f": {facts['error']}" if facts.get("error") else ""
        where = speech.id(facts["session"])
        return f"{ran} and {ending.format(session=where, state=facts['state'])}{error}."

    return sentence


def _lost(facts: Facts, speech: Speech) -> str:
    lost = f"Attempt {facts['number']} was lost after {spoken_length(facts['length'])}"
    error = str(facts.get("error") or "")
    if error and not error.startswith("lease lost"):
        return f"{lost}: {error}."
    return f"{lost}: the lease of session {speech.id(facts['session'])} expired."


def _running(facts: Facts, speech: Speech) -> str:
    return f"Attempt {facts['number']} is running in session {speech.id(facts['session'])}."


def _again(what: str) -> Sentence:
    def sentence(facts: Facts, _: Speech) -> str:
        verb = "is due" if facts.get("planned") else "followed"
        when = f"{verb} {spoken_length(facts['length'])} later"
        return f"Another attempt {when}, {what.format(**facts)}."

    return sentence


def _by_operator(verb: str) -> Sentence:
    def sentence(facts: Facts, _: Speech) -> str:
        return f"{verb}{by_whom(facts, otherwise=' by an operator')}."

    return sentence


def _retried(facts: Facts, _: Speech) -> str:
    state, reason = facts.get("state"), facts.get("reason")
    was = f" ({reason})" if reason else ""
    before = f", after it was {state}{was}" if state else ""
    return f"The execution was retried{by_whom(facts, otherwise=' by an operator')}{before}."


def _cancelled(facts: Facts, _: Speech) -> str:
    reason = f" ({facts['reason']})" if facts.get("reason") else ""
    return f"The execution was cancelled{reason}{by_whom(facts)}."


SENTENCES_OF_RUNS: Mapping[Code, Sentence] = {
    Code.HELD_BY_SWITCH: _held_by_switch,
    Code.HELD_BY_LIMIT: _held_by_limit,
    Code.WAITED_FOR_RUN: _waited,
    Code.TICKET_LOST: _ticket_lost,
    Code.QUEUE_LOST: _queue_lost,
    Code.UNANNOUNCED: _unannounced,
    Code.NO_WORKER: _no_worker,
    Code.WORKER_BUSY: _busy,
    Code.LATE_NOT_TOLD: _not_told_late,
    Code.OVERLAPPED: _overlapped,
    Code.REJECTED_BY_SWITCH: _rejected,
    Code.PAST_DEADLINE: _deadline,
    Code.MISSED_IN_RANGE: _missed_range,
    Code.HELD_IN_RANGE: _held_range,
    Code.PASSED_IN_RANGE: _range,
    Code.DOWNTIME: _downtime,
    Code.ATTEMPT_SUCCEEDED: _attempt("succeeded"),
    Code.ATTEMPT_FAILED: _attempt("failed"),
    Code.ATTEMPT_LOST: _lost,
    Code.ATTEMPT_LATE: _attempt("ended after its claim was lost; its result counts no more"),
    Code.ATTEMPT_ENDED: _attempt("ended as {state}"),
    Code.ATTEMPT_RUNNING: _running,
    Code.RETRIED_BY_POLICY: _again("by the retry policy ({limit} retries)"),
    Code.RERUN_BY_POLICY: _again('since its outcome was unknown (on_unknown="{policy}")'),
    Code.RETRIED_LATER: _again("as the job asked ({reason})"),
    Code.RETRIED_BY_OPERATOR: _retried,
    Code.RETRIES_EXHAUSTED: lambda facts, _: (
        f"No retry was left: the policy allows {facts['limit']}."
    ),
    Code.NOT_RETRIED: lambda facts, _: (
        "The retry policy does not retry this error." if facts["limit"] else "No retry is set."
    ),
    Code.GAVE_UP: lambda facts, _: f"The job raised GiveUp: {facts['reason'] or 'no reason'}.",
    Code.QUARANTINED: lambda facts, _: (
        f"Quarantined: its worker process was lost {facts['crashes']} times in a row."
    ),
    Code.UNKNOWN_OUTCOME: lambda facts, _: (
        f'Its outcome is unknown, and on_unknown="{facts["policy"]}" does not run it again.'
    ),
    Code.COALESCED: lambda facts, speech: (
        f"The execution {speech.id(facts['execution'])} had the same unique key, so the work was "
        "coalesced into it."
    ),
    Code.STOPPED_MEANWHILE: lambda facts, _: (
        f"No further attempt was made: the schedule was {facts['reason']} meanwhile."
    ),
    Code.FOUND_NOTHING_TO_DO: lambda facts, _: (
        f"The job skipped its run{': ' + str(facts['reason']) if facts['reason'] else ''}."
    ),
    Code.CANCELLED_BY_OPERATOR: _cancelled,
    Code.DISCARDED: _by_operator("The failure was discarded"),
    Code.REPLACED: lambda facts, speech: (
        f'The run of {speech.id(facts["execution"])} replaced it (overlap="replace").'
    ),
    Code.SKIPPED_BY_OPERATOR: _by_operator("The slot was skipped"),
    Code.SKIP_TAKEN_BACK: _by_operator("The skip was taken back"),
    Code.TRIGGERED: _by_operator("The run was requested"),
    Code.BACKFILLED: _by_operator("The backfill was requested"),
}
"""The sentence of each cause about waits and runs."""
