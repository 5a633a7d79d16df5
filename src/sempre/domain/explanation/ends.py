"""Ends: why an execution ended as it did, or was decided without a run."""

from collections.abc import Callable, Iterator

from sempre.domain.action import Action
from sempre.domain.execution import Execution
from sempre.domain.explanation.causes import Cause, Code, Fact
from sempre.domain.explanation.operators import (
    action_of_commit,
    cause_of_stop,
    edit_after,
    who,
    within_moment,
)
from sempre.domain.explanation.records import Records
from sempre.domain.explanation.waits import runs_at, switches_for
from sempre.domain.redaction import redacted_text
from sempre.domain.states import Kind, Reason, State

__all__ = ["causes_of_end"]

STOPS = (Reason.DISABLED, Reason.PAUSED, Reason.DELETED)


def causes_of_end(records: Records, row: Execution) -> Iterator[Cause]:
    """Yield why an execution is in its state; nothing for one that succeeded or runs."""
    if row.is_live:
        yield from _waiting(records, row)
        return
    by_state: dict[State, Callable[[Records, Execution], Iterator[Cause]]] = {
        State.SKIPPED: _skipped,
        State.MISSED: _missed,
        State.CANCELLED: _cancelled,
        State.FAILED: _failed,
        State.SUPERSEDED: _superseded,
    }
    if row.state in by_state:
        yield from by_state[row.state](records, row)


def _waiting(records: Records, row: Execution) -> Iterator[Cause]:
    if row.is_due(records.now):
        yield Cause(Code.DUE, None, {"since": row.due_at, "length": records.now - row.due_at})
    elif row.first_started_at is None:
        facts: dict[str, Fact] = {
            "due": row.due_at,
            "execution": row.id,
            "queue": row.snapshot.queue,
        }
        yield Cause(Code.NEXT, None, facts)


def _skipped(records: Records, row: Execution) -> Iterator[Cause]:
    reason, at = row.reason, row.finished_at
    if reason == Reason.REQUESTED:
        found = _act(records, "skip", row)
        yield Cause(Code.SKIPPED_BY_OPERATOR, row.created_at, who(found, actor=row.actor))
    elif reason == Reason.OVERLAP:
        yield from _overlapped(records, row)
    elif reason.startswith(Reason.SWITCHED_OFF):
        yield _rejected(records, row)
    elif reason in STOPS:
        yield cause_of_stop(records, reason, at or row.run_at)
    elif reason == Reason.LIMIT:
        yield Cause(Code.LIMIT_REACHED, at, _limit(records))
    else:
        text = "" if reason == Reason.NOT_NEEDED else redacted_text(reason, row.snapshot.redact)
        yield Cause(Code.FOUND_NOTHING_TO_DO, at, {"reason": text})


def _overlapped(records: Records, row: Execution) -> Iterator[Cause]:
    """Yield the runs that a slot overlapped at the time it was due."""
    others = [each for each in runs_at(records, row, row.due_at) if each.kind is not Kind.BACKFILL]
    for other in others[:1]:
        facts: dict[str, Fact] = {
            "execution": other.id,
            "slot": other.run_at,
            "since": other.first_started_at or other.started_at,
            "until": other.finished_at if not other.is_active else None,
        }
        yield Cause(Code.OVERLAPPED, row.due_at, facts)
    if not others:
        yield Cause(Code.OVERLAPPED, row.due_at, {"execution": ""})


def _rejected(records: Records, row: Execution) -> Cause:
    at, name = row.finished_at or row.due_at, row.reason.partition(" by ")[2]
    periods = [each for each in switches_for(records, row) if each.name == name]
    found = next((each for each in periods if each.overlaps(at, at)), None)
    facts: dict[str, Fact] = {"switch": name}
    if found is not None:
        facts |= {"actor": found.actor, "note": found.note, "since": found.since}
        facts["until"] = found.until
    return Cause(Code.REJECTED_BY_SWITCH, at, facts)


def _missed(_records: Records, row: Execution) -> Iterator[Cause]:
    if row.reason.startswith(Reason.DEADLINE):
        facts: dict[str, Fact] = {"due": row.due_at, "deadline": row.snapshot.deadline}
        yield Cause(Code.PAST_DEADLINE, row.finished_at, facts)
    else:
        yield _not_told(row)


def _cancelled(records: Records, row: Execution) -> Iterator[Cause]:
    reason, at = row.reason, row.finished_at
    if reason.startswith(Reason.REPLACED):
        yield Cause(Code.REPLACED, at, {"execution": reason.rpartition(" ")[2]})
    elif reason.startswith(Reason.DISCARDED):
        found = _last(records, "discard", row)
        note = reason.partition(": ")[2]
        yield Cause(
            Code.DISCARDED, found.at if found else at, who(found, actor=row.actor, note=note)
        )
    elif reason in STOPS:
        yield cause_of_stop(records, reason, at or row.run_at)
    else:
        found = _last(records, "cancel", row)
        facts = who(found, actor=row.actor)
        text = "" if reason == Reason.REQUESTED else redacted_text(reason, row.snapshot.redact)
        yield Cause(Code.CANCELLED_BY_OPERATOR, at, {**facts, "reason": text})


_ENDS_OF_RUNS = (
    (Reason.RETRIES_EXHAUSTED, Code.RETRIES_EXHAUSTED),
    (Reason.NOT_RETRIED, Code.NOT_RETRIED),
    (Reason.GAVE_UP, Code.GAVE_UP),
    (Reason.QUARANTINED, Code.QUARANTINED),
    (Reason.UNKNOWN_OUTCOME, Code.UNKNOWN_OUTCOME),
    (Reason.COALESCED, Code.COALESCED),
)


_MERGED = {Code.COALESCED}


def _failed(records: Records, row: Execution) -> Iterator[Cause]:
    at = row.finished_at
    facts: dict[str, Fact] = {
        "reason": redacted_text(row.reason.partition(": ")[2], row.snapshot.redact),
        "limit": row.snapshot.retry.limit,
        "failures": row.failures,
        "crashes": row.crashes,
        "policy": row.snapshot.on_unknown,
    }
    for reason, code in _ENDS_OF_RUNS:
        if row.reason.startswith(reason):
            into = row.reason.removeprefix(f"{Reason.COALESCED} into ")
            yield Cause(code, at, {**facts, "execution": into} if code in _MERGED else facts)
            return
    for stop in (Reason.DISABLED, Reason.PAUSED):
        if row.reason.startswith(stop):
            yield Cause(Code.STOPPED_MEANWHILE, at, {"reason": str(stop)})
            yield cause_of_stop(records, stop, at or row.run_at)
            return
    if row.reason.startswith(Reason.ERROR):
        yield Cause(Code.NOT_RETRIED, at, {**facts, "limit": 0})


def _superseded(records: Records, row: Execution) -> Iterator[Cause]:
    reason, at = row.reason, row.finished_at or row.created_at
    if reason == Reason.REQUESTED:
        skip = _act(records, "skip", row)
        taken_back = _act_at(records, "unskip", row) if skip else None
        found = taken_back or _act_at(records, "skip", row)
        code = Code.SKIP_TAKEN_BACK if taken_back else Code.SKIPPED_BY_OPERATOR
        yield Cause(code, at, who(found, actor=row.actor))
        return
    if reason in STOPS:
        yield cause_of_stop(records, reason, at)
    elif reason.startswith(Reason.DRIFT) or reason == Reason.EDITED:
        fields = tuple(filter(None, reason.partition(": ")[2].split(", ")))
        edit = edit_after(records, row.run_at, at)
        facts = {**edit.facts, "fields": edit.facts.get("fields") or fields}
        yield Cause(Code.EDITED, edit.at, facts)
    elif reason == Reason.LIMIT:
        yield Cause(Code.LIMIT_REACHED, at, _limit(records))
    elif reason == Reason.CLOCK:
        yield Cause(Code.DECIDED_BY_CLOCK, at)
    else:
        yield _not_told(row)
    yield from _successor(records, row)


def _successor(records: Records, row: Execution) -> Iterator[Cause]:
    """Yield the row that was created when a row was superseded."""
    others = [each for each in (*records.rows, *records.nearby) if each.id != row.id]
    for other in others:
        is_own = other.kind is row.kind and other.reason != Reason.REQUESTED
        if is_own and within_moment(other.created_at, row.finished_at):
            facts: dict[str, Fact] = {"execution": other.id, "slot": other.run_at}
            yield Cause(Code.SUPERSEDED, row.finished_at, facts)
            return


def _not_told(row: Execution) -> Cause:
    reason = redacted_text(row.reason, row.snapshot.redact)
    return Cause(Code.NOT_TOLD, row.finished_at, {"state": row.state.value, "reason": reason})


def _limit(records: Records) -> dict[str, Fact]:
    return {"limit": records.schedule.definition.limit if records.schedule else None}


def _act(records: Records, verb: str, row: Execution) -> Action | None:
    """Return the action on the schedule that created a row."""
    acts = [each for each in records.of_schedule if each.verb == verb]
    return action_of_commit(acts, row.created_at)


def _act_at(records: Records, verb: str, row: Execution) -> Action | None:
    """Return the action on the schedule that ended a row."""
    acts = [each for each in records.of_schedule if each.verb == verb]
    return action_of_commit(acts, row.finished_at)


def _last(records: Records, verb: str, row: Execution) -> Action | None:
    acts = [each for each in records.about(f"execution:{row.id}") if each.verb == verb]
    return acts[-1] if acts else None
