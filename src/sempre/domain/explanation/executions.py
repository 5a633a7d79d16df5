"""Explanations of one execution: its creation, its waits, its attempts, and how it ended."""

from collections.abc import Iterator
from datetime import datetime

from sempre.domain.action import Action
from sempre.domain.execution import Execution
from sempre.domain.explanation.causes import Cause, Code, Explanation, Fact, Verdict
from sempre.domain.explanation.ends import causes_of_end
from sempre.domain.explanation.operators import who, within_moment
from sempre.domain.explanation.placement import causes_on_grid, zone_of_grid
from sempre.domain.explanation.records import AttemptRecord, Records
from sempre.domain.explanation.waits import LATE, causes_of_wait, first_due_at, first_start_of
from sempre.domain.pair import pair_name
from sempre.domain.redaction import redacted_text
from sempre.domain.states import LIVE, Kind, Reason, State

__all__ = ["explain_execution", "life_of", "verdict_of"]

LONGEST_ERROR = 300


def explain_execution(records: Records, row: Execution) -> Explanation:
    """Explain one execution of any kind."""
    grid = row.snapshot.grid
    causes = list(life_of(records, row))
    if row.kind is Kind.SCHEDULED and grid is not None:
        causes = [*causes_on_grid(grid, row.run_at), *causes]
    due, start = first_due_at(records, row), first_start_of(records, row)
    return Explanation(
        name=row.snapshot.name,
        verdict=verdict_of(row, records.now),
        causes=tuple(causes),
        slot=row.run_at if row.kind in (Kind.SCHEDULED, Kind.BACKFILL) else None,
        execution=row.id,
        zone=zone_of_grid(grid),
        late=start - max(due, row.created_at) if start and not _was_revived(row, start) else None,
    )


def verdict_of(row: Execution, now: datetime) -> Verdict:
    """Return what became of an execution."""
    if row.state in LIVE:
        waits = row.is_due(now) or row.first_started_at is not None
        return Verdict.WAITING if waits else Verdict.WILL_RUN
    return Verdict(row.state.value)


def life_of(records: Records, row: Execution) -> Iterator[Cause]:
    """Yield what happened to an execution, in order."""
    start = first_start_of(records, row)
    end = start or (row.finished_at if not row.is_active else None) or records.now
    # The skip of a future slot is itself the creation of its row.
    if not (row.state is State.SKIPPED and row.reason == Reason.REQUESTED):
        yield from _creation(records, row)
        yield from [] if _was_revived(row, start) else causes_of_wait(records, row, end)
    yield from _attempts(records, row)
    yield from causes_of_end(records, row)


def _was_revived(row: Execution, start: datetime | None) -> bool:
    """Return whether an operator retried an execution that had never started: it did not wait."""
    return row.retried_at is not None and (start is None or row.retried_at <= start)


def _creation(records: Records, row: Execution) -> Iterator[Cause]:
    yield _created(records, row)
    if row.kind is Kind.SCHEDULED and row.created_at > row.run_at + LATE:
        length = row.created_at - row.run_at
        yield Cause(Code.CREATED_LATE, row.created_at, {"length": length})
    elif row.run_at < row.due_at < row.run_at + row.snapshot.jitter and row.attempt <= 1:
        facts: dict[str, Fact] = {"due": row.due_at, "jitter": row.snapshot.jitter}
        yield Cause(Code.JITTERED, None, facts)


def _created(records: Records, row: Execution) -> Cause:
    """Return when and by whom an execution was created."""
    at, note = row.created_at, _note_of(records, row)
    actor = _actor_of_creation(records, row)
    facts: dict[str, Fact] = {"actor": actor, "note": note, "execution": row.id}
    if row.kind is not Kind.SCHEDULED:
        # A retry has replaced the actor in the row.
        facts |= {"pair": pair_name(row.snapshot.job)} if row.kind is Kind.DERIVED else {}
        return Cause(_BY_KIND[row.kind], at, {**facts, **_creator_of(records, row)})
    if actor == "watchdog":
        return Cause(Code.CREATED_BY_WATCHDOG, at, facts)
    before = [
        other
        for other in records.nearby
        if other.kind is Kind.SCHEDULED and other.run_at < row.run_at and _decided_at(other, at)
    ]
    if before and not actor:
        previous = max(before, key=lambda other: other.run_at)
        facts |= {"previous": previous.id, "slot": previous.run_at}
        return Cause(Code.CREATED_BY_PREDECESSOR, at, facts)
    return Cause(Code.CREATED, at, facts)


# The actor of a row in one of these states is the one who ended it.
_ENDED_BY_ACTOR = {State.SUPERSEDED, State.SKIPPED, State.CANCELLED}


def _actor_of_creation(records: Records, row: Execution) -> str:
    """Return who created an execution; the end of the row, or a retry, has replaced its actor."""
    if row.state not in _ENDED_BY_ACTOR and row.retried_at is None:
        return row.actor
    acts = [each for each in records.of_schedule if within_moment(each.at, row.created_at)]
    return next((each.actor for each in acts if each.verb not in ("heal", "skip")), "")


_BY_KIND = {
    Kind.MANUAL: Code.TRIGGERED,
    Kind.BACKFILL: Code.BACKFILLED,
    Kind.ENQUEUED: Code.ENQUEUED,
    Kind.DERIVED: Code.DERIVED,
}


def _creator_of(records: Records, row: Execution) -> dict[str, Fact]:
    verbs = {Kind.MANUAL: ("run",), Kind.BACKFILL: ("backfill",), Kind.ENQUEUED: ("enqueue",)}
    for action in records.actions:
        if action.verb in verbs.get(row.kind, ()) and within_moment(action.at, row.created_at):
            return who(action)
    return {} if row.retried_at is None else {"actor": ""}


def _note_of(records: Records, row: Execution) -> str:
    for action in records.of_schedule:
        if within_moment(action.at, row.created_at) and action.note and action.verb != "heal":
            return redacted_text(action.note)
    return ""


def _decided_at(other: Execution, at: datetime) -> bool:
    """Return whether a slot was started or decided at an instant, which creates its successor."""
    return within_moment(other.first_started_at, at) or within_moment(other.finished_at, at)


def _attempts(records: Records, row: Execution) -> Iterator[Cause]:
    """Yield the attempts, and between them why each further one was made."""
    attempts = sorted(records.attempts.get(row.id, ()), key=lambda each: each.started_at)
    retries = [each for each in records.about(f"execution:{row.id}") if each.verb == "retry"]
    number, last = 0, None
    for attempt in attempts:
        number += not attempt.late
        for retry in [each for each in retries if each.at and each.at <= attempt.started_at]:
            retries.remove(retry)
            yield _retried(row, retry)
            last = None
        if last is not None and not attempt.late:
            yield from _again(last, attempt.started_at, row)
        yield _attempt(row, attempt, number)
        last = attempt if not attempt.late else last
    for retry in retries:
        yield _retried(row, retry)
        last = None
    if row.state is State.RUNNING and row.started_at is not None:
        if last is not None:
            yield from _again(last, row.started_at, row)
        facts: dict[str, Fact] = {"number": row.attempt, "session": row.session}
        yield Cause(Code.ATTEMPT_RUNNING, row.started_at, facts)
    elif row.is_live and last is not None:
        yield from _again(last, row.due_at, row, is_planned=True)


def _retried(row: Execution, retry: Action) -> Cause:
    """Return who retried an execution; a run that failed before has a cause of its own."""
    facts, before = who(retry), retry.before if isinstance(retry.before, dict) else {}
    listed = before.get("executions")
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and each.get("id") == row.id and each.get("state") != "failed":
            reason = redacted_text(str(each.get("reason") or ""), row.snapshot.redact)
            facts |= {"state": str(each.get("state")), "reason": reason}
    return Cause(Code.RETRIED_BY_OPERATOR, retry.at, facts)


def _attempt(row: Execution, attempt: AttemptRecord, number: int) -> Cause:
    facts: dict[str, Fact] = {
        "number": number,
        "session": attempt.session,
        "length": attempt.finished_at - attempt.started_at,
        "error": _shown_error(attempt.error, row),
    }
    if attempt.late:
        code = Code.ATTEMPT_LATE
    elif attempt.lost:
        code = Code.ATTEMPT_LOST
    elif attempt.state is State.SUCCEEDED:
        code = Code.ATTEMPT_SUCCEEDED
    elif attempt.error and attempt.state in (State.FAILED, *LIVE):
        code = Code.ATTEMPT_FAILED
    else:
        code = Code.ATTEMPT_ENDED
    return Cause(code, attempt.started_at, {**facts, "state": attempt.state.value})


def _again(
    last: AttemptRecord, at: datetime, row: Execution, *, is_planned: bool = False
) -> Iterator[Cause]:
    """Yield why another attempt follows an attempt."""
    wait: dict[str, Fact] = {"length": at - last.finished_at, "planned": is_planned}
    if last.lost:
        yield Cause(Code.RERUN_BY_POLICY, at, {**wait, "policy": row.snapshot.on_unknown})
    elif row.is_live and row.reason.startswith(Reason.RETRY_LATER):
        reason = redacted_text(row.reason, row.snapshot.redact)
        yield Cause(Code.RETRIED_LATER, at, {**wait, "reason": reason})
    else:
        yield Cause(Code.RETRIED_BY_POLICY, at, {**wait, "limit": row.snapshot.retry.limit})


def _shown_error(error: str, row: Execution) -> str:
    """Return the last line of an error, without secrets: a traceback ends with the error."""
    lines = redacted_text(error, row.snapshot.redact).strip().splitlines()
    text = lines[-1].strip() if lines else ""
    return text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"
