"""Explanations of executions: creations, waits, attempts, and how they ended."""

from datetime import timedelta
from typing import Any

import pytest

from sempre.domain.execution import Execution
from sempre.domain.explanation import Code, Explanation, explain_execution, explain_slot
from sempre.domain.explanation.wording import SENTENCES
from sempre.domain.limits import Concurrency
from sempre.domain.planning.slots import jittered
from sempre.domain.policies import Retry
from sempre.domain.states import Kind
from tests.unit.domain.builders import at
from tests.unit.domain.explaining import (
    TENS,
    Worker,
    act,
    attempt,
    records,
    row,
    said,
)

SETTING = {Code.ON_GRID, Code.CREATED}


def explained(own: Execution, **fields: Any) -> Explanation:  # noqa: ANN401 - fields of records
    """Explain an execution of a schedule."""
    return explain_execution(records(own.run_at, rows=[own], **fields), own)


def codes(found: Explanation) -> list[Code]:
    """Return the causes apart from the grid and the plain creation."""
    return [code for code in found.codes() if code not in SETTING]


def late(end: str = "08:07", **fields: Any) -> Execution:  # noqa: ANN401 - fields of an execution
    """Return the execution of 08:00 that started seven minutes late."""
    times = {"first_started_at": end, "started_at": end, "finished_at": "08:08", "attempt": 1}
    return row("08:00", **{**times, "session": "w1", **fields})


# Creation


def test_an_execution_is_created_when_the_slot_before_is_decided() -> None:
    before = row("07:50", first_started_at="07:50", started_at="07:50", finished_at="07:51")

    found = explained(row("08:00"), nearby=[before])

    assert Code.CREATED_BY_PREDECESSOR in found.codes()


def test_an_execution_of_the_watchdog_says_what_was_wrong() -> None:
    found = explained(row("08:00", actor="watchdog"))

    assert Code.CREATED_BY_WATCHDOG in found.codes()


def test_an_execution_that_was_created_after_its_slot_caught_up() -> None:
    found = explained(row("08:00", created_at="08:30", first_started_at="08:30"))

    assert codes(found) == [Code.CREATED_LATE]


def test_jitter_is_told_apart_from_lateness() -> None:
    own = row("08:00", due_at="08:01", jitter=timedelta(minutes=5), first_started_at="08:01")

    assert codes(explained(own)) == [Code.JITTERED]


@pytest.mark.parametrize(
    ("kind", "verb", "target", "code"),
    [
        (Kind.MANUAL, "run", "schedule:bill", Code.TRIGGERED),
        (Kind.BACKFILL, "backfill", "schedule:bill", Code.BACKFILLED),
        (Kind.ENQUEUED, "enqueue", "job:bill", Code.ENQUEUED),
        (Kind.DERIVED, "", "", Code.DERIVED),
    ],
)
def test_work_besides_the_slots_names_who_asked_for_it(
    kind: Kind, verb: str, target: str, code: Code
) -> None:
    own = row("08:00", kind=kind, created_at="08:00", first_started_at="08:00")
    entry = [act("08:00", verb, target, note="test")] if verb else []

    found = explained(own, actions=entry)

    assert found.codes() == [code]
    assert not verb or 'by ann: "test"' in said(found)


# Waits


def test_a_wait_for_the_run_before_names_the_run() -> None:
    before = row("07:50", first_started_at="07:50", started_at="07:50", finished_at="08:07")

    found = explained(late(overlap="wait", created_at="07:40"), nearby=[before])

    assert codes(found) == [Code.WAITED_FOR_RUN]
    assert "waited 7 min" in said(found)


@pytest.mark.parametrize("mode", ["hold", "reject"])
def test_a_wait_for_a_switch_names_who_when_and_until(mode: str) -> None:
    after = {"mode": mode, "reason": "incident", "until": None}
    off = act("07:30", "switch off", "switch:job:bill", note="incident", after=after)
    on = act("08:06", "switch on", "switch:job:bill")
    other = act("07:30", "switch off", "switch:job:mail", after=after)

    found = explained(late(), actions=[on, off, other])

    assert codes(found) == [Code.HELD_BY_SWITCH]
    assert "for 6 min" in said(found)


def test_a_switch_with_an_end_needs_no_second_entry() -> None:
    after = {"mode": "hold", "reason": "incident", "until": "2026-05-04 08:06Z"}
    off = act("07:30", "switch off", "switch:all", note="token=abcdef", after=after)

    found = explained(late(), actions=[off])

    assert codes(found) == [Code.HELD_BY_SWITCH]
    assert "abcdef" not in said(found)


def test_a_switch_that_was_on_again_before_the_slot_explains_nothing() -> None:
    off = act("07:00", "switch off", "switch:all", after={"mode": "hold"})
    on = act("07:30", "switch on", "switch:all")

    assert codes(explained(late(), actions=[on, off])) == [Code.LATE_NOT_TOLD]


def test_a_wait_for_a_limit_ends_when_the_limit_lets_it_go() -> None:
    own = late(due_at="08:07", limits=(Concurrency(1, tag="bank"),))

    found = explained(own)

    assert codes(found) == [Code.HELD_BY_LIMIT]
    assert "1 run at once of tag bank" in said(found)


def test_an_execution_that_still_waits_for_a_limit_says_so() -> None:
    held = row("11:50", "scheduled", limits=(Concurrency(1),), held_by="limit:concurrency:job:bill")

    assert Code.HELD_BY_LIMIT in codes(explained(held))


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        ("queue lost", Code.QUEUE_LOST),
        ("ticket lost", Code.TICKET_LOST),
        ("unannounced", Code.UNANNOUNCED),
    ],
)
def test_a_repair_that_names_the_execution_tells_the_delay(cause: str, code: Code) -> None:
    own = late("08:00:41")
    after = {"cause": cause, "count": 1, "executions": [own.id]}
    entry = act("08:00:41", "heal", "queue:default", actor="watchdog", after=after)

    found = explained(own, actions=[entry])

    assert codes(found) == [code]
    assert "41 s after it was due" in said(found)


def test_a_repair_of_other_executions_explains_nothing() -> None:
    after = {"cause": "ticket lost", "count": 1, "executions": ["other"]}
    entry = act("08:05", "heal", "queue:default", after=after)

    assert codes(explained(late(), actions=[entry])) == [Code.LATE_NOT_TOLD]


def test_a_repair_that_leaves_ids_out_counts_for_its_queue() -> None:
    after = {"cause": "queue lost", "count": 900, "executions": ["other"]}
    entry = act("08:05", "heal", "queue:default", after=after)

    assert codes(explained(late(), actions=[entry])) == [Code.QUEUE_LOST]


def test_without_a_worker_on_record_before_the_start_none_was_alive() -> None:
    found = explained(late(), sessions=[Worker("w1", at("08:07"))])

    assert codes(found) == [Code.NO_WORKER]


def test_a_worker_that_ran_other_work_had_perhaps_no_capacity() -> None:
    other = row("07:50", schedule_id="s2", started_at="07:50", finished_at="08:07", session="w1")
    alive = [Worker("w1", at("06:00"))]

    found = explained(late(), sessions=alive, meanwhile=[other])

    assert codes(found) == [Code.WORKER_BUSY]
    assert "the records do not tell" in said(found)


def test_a_wait_without_any_record_is_not_explained() -> None:
    found = explained(late(), sessions=[Worker("w1", at("06:00"))])

    assert codes(found) == [Code.LATE_NOT_TOLD]


def test_a_due_execution_without_a_worker_says_so() -> None:
    found = explained(row("11:50", "scheduled"))

    assert codes(found) == [Code.NO_WORKER, Code.DUE]


def test_an_execution_to_come_is_next() -> None:
    assert codes(explained(row("12:10", "scheduled"))) == [Code.NEXT]


# Attempts


def test_attempts_are_told_in_order_with_the_waits_between() -> None:
    own = late("08:00", attempt=2, retry=Retry(3), due_at="08:01")
    tried = [
        attempt("08:00", "08:00", "scheduled", error="ValueError: password=hunter2"),
        attempt("08:01", "08:01"),
    ]

    found = explained(own, attempts={own.id: tried})

    expected = [Code.ATTEMPT_FAILED, Code.RETRIED_BY_POLICY, Code.ATTEMPT_SUCCEEDED]
    assert codes(found) == expected
    assert "60 s later" in said(found)
    assert "hunter2" not in said(found)


def test_a_lost_attempt_reruns_by_its_policy() -> None:
    own = late("08:00", attempt=2, due_at="08:01")
    tried = [
        attempt("08:00", "08:00:30", "scheduled", error="lease lost: ...", lost=True),
        attempt("08:01", "08:01"),
        attempt("08:00", "08:02", "running", late=True),
    ]

    found = explained(own, attempts={own.id: tried})

    expected = {Code.ATTEMPT_LOST, Code.RERUN_BY_POLICY, Code.ATTEMPT_SUCCEEDED, Code.ATTEMPT_LATE}
    assert set(codes(found)) == expected
    assert "the lease of session w1 expired" in said(found)


def test_a_retry_by_an_operator_is_told_apart_from_the_policy() -> None:
    own = late("08:00", attempt=2, retried_at="08:30")
    tried = [attempt("08:00", "08:00", "failed", error="ValueError"), attempt("08:30", "08:30")]
    entry = act("08:29:59", "retry", f"execution:{own.id}", note="the bank is back")

    found = explained(own, attempts={own.id: tried}, actions=[entry])

    expected = [Code.ATTEMPT_FAILED, Code.RETRIED_BY_OPERATOR, Code.ATTEMPT_SUCCEEDED]
    assert codes(found) == expected
    assert 'retried by ann: "the bank is back"' in said(found)


def test_a_missed_slot_that_an_operator_retried_says_what_it_was() -> None:
    own = row("08:00", retried_at="09:00", first_started_at="09:00", attempt=1)
    missed = [{"id": own.id, "slot": "x", "state": "missed", "reason": "deadline"}]
    entry = act("09:00", "retry", f"execution:{own.id}", before={"executions": missed})

    found = explained(own, actions=[entry], attempts={own.id: [attempt("09:00", "09:00")]})

    assert codes(found) == [Code.RETRIED_BY_OPERATOR, Code.ATTEMPT_SUCCEEDED]
    assert "retried by ann, after it was missed (deadline)" in said(found)
    assert found.late is None


def test_jitter_of_a_retried_slot_is_no_lateness() -> None:
    jitter = timedelta(minutes=9)
    due = jittered("bill", TENS, jitter, at("08:00"))
    own = row("08:00", attempt=2, jitter=jitter, first_started_at=due, due_at="08:30")

    found = explained(own, attempts={own.id: [attempt("08:30", "08:30")]})

    assert found.late == timedelta(0)


def test_a_running_attempt_names_its_session() -> None:
    own = late("08:00", state="running", finished_at=None)

    assert codes(explained(own)) == [Code.ATTEMPT_RUNNING]


def test_a_job_that_asked_for_a_later_retry_says_so() -> None:
    own = late("08:00", state="scheduled", due_at="12:30", reason="retry later: rate limited")
    tried = [attempt("08:00", "08:00", "scheduled")]

    found = explained(own, attempts={own.id: tried})

    assert codes(found) == [Code.ATTEMPT_ENDED, Code.RETRIED_LATER]


# Ends


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("retries exhausted: ValueError", Code.RETRIES_EXHAUSTED),
        ("not retried: ValueError", Code.NOT_RETRIED),
        ("error: ValueError", Code.NOT_RETRIED),
        ("gave up: no address", Code.GAVE_UP),
        ("quarantined", Code.QUARANTINED),
        ("unknown outcome", Code.UNKNOWN_OUTCOME),
        ("coalesced into e9", Code.COALESCED),
    ],
)
def test_a_failure_says_why_no_retry_followed(reason: str, code: Code) -> None:
    assert codes(explained(late("08:00", state="failed", reason=reason))) == [code]


@pytest.mark.parametrize(
    ("stop", "field", "value", "code"),
    [("disabled", "enabled", False, Code.DISABLED), ("paused", "paused", True, Code.PAUSED)],
)
@pytest.mark.parametrize("state", ["failed", "skipped", "cancelled", "superseded"])
def test_an_execution_that_a_stop_ended_names_the_operator(
    state: str,
    stop: str,
    field: str,
    *,
    value: bool,
    code: Code,
) -> None:
    entry = act("08:08", stop, note="why", before={field: not value}, after={field: value})
    own = late("08:00", state=state, reason=stop)

    found = explained(own, actions=[entry])

    expected = [Code.STOPPED_MEANWHILE, code] if state == "failed" else [code]
    assert codes(found) == expected
    assert 'by ann: "why"' in said(found)


def untried(state: str, reason: str, **fields: Any) -> Execution:  # noqa: ANN401 - fields of an execution
    return row("08:00", state, reason=reason, **{"finished_at": "08:00", **fields})


def test_a_slot_that_an_operator_skipped_names_the_note() -> None:
    own = untried("skipped", "requested", created_at="07:00", finished_at=None, actor="ann")
    entry = act("07:00", "skip", note="migration")

    found = explained(own, actions=[entry])

    assert codes(found) == [Code.SKIPPED_BY_OPERATOR]
    assert 'skipped by ann: "migration"' in said(found)


def test_a_skip_that_was_taken_back_says_so() -> None:
    own = untried("superseded", "requested", created_at="07:00", finished_at="07:30", actor="ann")
    actions = [act("07:00", "skip"), act("07:30", "unskip", note="needed after all")]

    assert codes(explained(own, actions=actions)) == [Code.SKIP_TAKEN_BACK]


def test_an_overlap_names_the_run_or_admits_that_it_is_gone() -> None:
    before = row("07:50", first_started_at="07:50", started_at="07:50", finished_at="08:07")
    own = untried("skipped", "overlap")

    assert before.id in said(explained(own, nearby=[before]))
    assert "not on record" in said(explained(own))


def test_a_slot_that_a_switch_rejected_names_the_switch() -> None:
    off = act("07:30", "switch off", "switch:all", note="incident", after={"mode": "reject"})
    own = untried("skipped", "switched off by all")

    found = explained(own, actions=[off])

    assert codes(found) == [Code.REJECTED_BY_SWITCH]
    assert 'by ann: "incident"' in said(found)


def test_a_slot_past_its_deadline_was_missed() -> None:
    own = untried("missed", "deadline", finished_at="08:10", deadline=timedelta(minutes=5))

    found = explained(own)

    assert codes(found) == [Code.LATE_NOT_TOLD, Code.PAST_DEADLINE]
    assert "within its deadline of 5 min" in said(found)


@pytest.mark.parametrize(
    ("state", "reason", "code"),
    [
        ("skipped", "limit", Code.LIMIT_REACHED),
        ("skipped", "not needed", Code.FOUND_NOTHING_TO_DO),
        ("skipped", "nothing to bill", Code.FOUND_NOTHING_TO_DO),
        ("superseded", "limit", Code.LIMIT_REACHED),
        ("superseded", "clock", Code.DECIDED_BY_CLOCK),
        ("superseded", "novel", Code.NOT_TOLD),
        ("missed", "novel", Code.NOT_TOLD),
        ("cancelled", "requested", Code.CANCELLED_BY_OPERATOR),
        ("cancelled", "replaced by e9", Code.REPLACED),
        ("cancelled", "discarded: hopeless", Code.DISCARDED),
    ],
)
def test_every_other_end_has_its_cause(state: str, reason: str, code: Code) -> None:
    assert codes(explained(untried(state, reason, actor="ann"))) == [code]


def test_a_cancel_and_a_discard_have_the_note_of_the_log() -> None:
    own = untried("cancelled", "requested")
    entry = act("08:00", "cancel", f"execution:{own.id}", note="wrong region")

    assert 'by ann: "wrong region"' in said(explained(own, actions=[entry]))


def test_an_edit_that_replaced_a_row_names_fields_and_successor() -> None:
    own = untried("superseded", "drift: grid", finished_at="07:55")
    successor = row("08:05", created_at="07:55")
    entry = act("07:55", "edit", note="later", before={"grid": 1}, after={"grid": 2})

    found = explained(own, actions=[entry], nearby=[successor])

    assert codes(found) == [Code.EDITED, Code.SUPERSEDED]
    assert 'edited (grid) by ann: "later"' in said(found)
    assert successor.id in said(found)


def test_rows_that_were_replaced_come_before_the_row_that_decided() -> None:
    old = untried("superseded", "drift: args", finished_at="07:55")
    own = row("08:00", created_at="07:55", first_started_at="08:00")

    found = explain_slot(records("08:00", rows=[own, old]))

    assert found.execution == own.id
    assert codes(found) == [Code.EDITED, Code.SUPERSEDED]


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_sentence(code: Code) -> None:
    assert code in SENTENCES
