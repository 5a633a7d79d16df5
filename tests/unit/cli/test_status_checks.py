from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre.app.health.checks import CODES, problems_of
from sempre.app.health.facts import Facts, HeldWork
from sempre.app.health.failures import FailedJob, Failing
from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.ports.health import Backlog
from sempre.ports.messages import Session, Switch
from tests.architecture.source import ROOT

NOW = datetime(2026, 11, 15, 18, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALIVE = Session("w1", leased_until=NOW + MINUTE)
GONE = Session("w2", leased_until=NOW - MINUTE)
WELL = Facts(
    now=NOW,
    interval=5 * MINUTE,
    leeway=timedelta(seconds=20),
    passed_at=NOW - MINUTE,
    pass_due_at=NOW + 4 * MINUTE,
    total=2,
    active=2,
    sessions=(ALIVE, GONE),
)
ROW = Execution(
    id="01",
    kind=Kind.SCHEDULED,
    run_at=NOW - MINUTE,
    due_at=NOW - MINUTE,
    snapshot=Snapshot(name="bill", job="bill"),
    created_at=NOW - MINUTE,
)
FAILING = Failing(
    "bill", NOW - 3 * MINUTE, is_longer=False, count=2, error="error: no", execution_id="01"
)
FAILED_JOB = FailedJob("mail", 3, "error: no such host", "02")
BACKLOG = Backlog("slow", "mail", "", is_one_off=True, count=2, oldest_due_at=NOW - MINUTE)
ILL = {
    "S101": replace(WELL, pass_due_at=NOW - 2 * MINUTE),
    "S102": replace(WELL, passed_at=None, pass_due_at=NOW - 6 * MINUTE),
    "S103": replace(WELL, purging_since=NOW - 11 * MINUTE),
    "S201": replace(WELL, needing_repair=["bill"]),
    "S202": replace(WELL, broken=["bill"]),
    "S203": replace(WELL, unread={"bill": "colour is a field that this release does not know."}),
    "S204": replace(WELL, orphaned=["bill"]),
    "S205": replace(WELL, pruned=["bill", "mail"]),
    "S206": replace(WELL, contested={"bill": "of shop, not of farm"}),
    "S207": replace(WELL, failing=[FAILING]),
    "S208": replace(WELL, held={"bill": "execution 01 has an unknown outcome"}),
    "S209": replace(WELL, overrunning=["bill"]),
    "S301": replace(WELL, overdue=[ROW]),
    "S302": replace(WELL, unannounced=[ROW]),
    "S303": replace(WELL, expired=[ROW]),
    "S304": replace(WELL, deaf=["sempre.1.default"]),
    "S305": replace(WELL, failed_jobs=[FAILED_JOB]),
    "S306": replace(WELL, failed_jobs=[FAILED_JOB], hopeless_jobs=["mail"]),
    "S307": replace(WELL, unknown_work=[BACKLOG]),
    "S308": replace(WELL, unserved_work=[BACKLOG]),
    "S309": replace(WELL, quarantined=[ROW]),
    "S401": replace(WELL, sessions=(GONE,)),
    "S402": replace(WELL, skew=-MINUTE),
    "S403": replace(WELL, ahead=["bill"]),
    "S404": replace(WELL, renewed_at=NOW - 60 * MINUTE),
    "S501": replace(WELL, switches=[Switch("incident", "all", until=NOW, reason="db down")]),
    "S502": replace(WELL, held_work=[HeldWork("incident", 3, NOW - 90 * MINUTE)]),
    "S601": replace(WELL, stale_pairs=["pair:bill"]),
    "S602": replace(WELL, uncovered_pairs=["pair:bill"]),
    "S603": replace(WELL, poisoned_pairs=["pair:bill"]),
    "S604": replace(WELL, slow_pairs=["pair:bill", "pair:mail"]),
}
WARNINGS = {
    *("S103", "S205", "S206", "S209", "S302", "S303", "S304", "S305"),
    *("S402", "S404", "S501", "S603", "S604"),
}


def test_nothing_is_wrong_where_all_is_well() -> None:
    assert problems_of(WELL) == []


@pytest.mark.parametrize("code", CODES)
def test_each_problem_has_its_code(code: str) -> None:
    [problem] = problems_of(ILL[code])

    assert problem.code == code
    assert problem.severity == ("warning" if code in WARNINGS else "error")


@pytest.mark.parametrize("code", CODES)
def test_each_code_is_documented(code: str) -> None:
    page = (ROOT / "docs" / "reference" / "status.md").read_text()

    assert f"## {code}" in page


def test_a_watchdog_is_overdue_by_when_its_own_row_says_that_it_is_due() -> None:
    """Some time after it: by then every worker that is alive has had its beat."""
    late = replace(WELL, passed_at=NOW - 59 * MINUTE, interval=60 * MINUTE)

    assert problems_of(late) == []
    assert problems_of(replace(late, pass_due_at=NOW - MINUTE)) == []
    [problem] = problems_of(replace(late, pass_due_at=NOW - 2 * MINUTE))
    assert problem.message == ("the watchdog is overdue by 2m; the last pass finished 59m ago.")


def test_a_leeway_covers_the_beat_of_workers_with_a_longer_lease() -> None:
    patient = Session("w3", leased_until=NOW + 9 * MINUTE)

    assert problems_of(replace(ILL["S101"], sessions=(patient,))) == []


def test_passes_that_begin_and_never_finish_are_overdue_after_two_intervals() -> None:
    assert problems_of(replace(WELL, passed_at=NOW - 10 * MINUTE)) == []

    [problem] = problems_of(replace(WELL, passed_at=NOW - 11 * MINUTE))

    assert problem.code == "S101"
    assert problem.message == (
        "watchdog passes start but do not finish; the last pass finished 11m ago, "
        "the interval is 5m."
    )


def test_a_store_without_schedules_needs_no_worker() -> None:
    empty = Facts(
        now=NOW, interval=MINUTE, leeway=MINUTE, passed_at=None, pass_due_at=NOW - MINUTE * 9
    )

    assert problems_of(empty) == []


def test_errors_come_before_warnings() -> None:
    ill = replace(ILL["S501"], needing_repair=["bill"], unannounced=[ROW])

    assert [problem.code for problem in problems_of(ill)] == ["S201", "S302", "S501"]


def test_long_lists_are_cut() -> None:
    [problem] = problems_of(replace(WELL, needing_repair=[f"s{n}" for n in range(100)]))

    assert problem.message == (
        "100 or more schedules without a next row: s0, s1, s2, s3, s4 and 95 more."
    )
    assert len(problem.names) == 100


def test_lateness_is_that_of_the_most_overdue() -> None:
    facts = replace(WELL, overdue=[ROW, replace(ROW, due_at=NOW - 3 * MINUTE)])

    assert facts.to_json()["latest_s"] == 180
    assert "overdue, up to 3m: bill." in problems_of(facts)[0].message


def test_without_a_worker_no_job_is_known_and_that_alone_is_told() -> None:
    facts = replace(WELL, sessions=(GONE,), orphaned=["bill"])

    assert [problem.code for problem in problems_of(facts)] == ["S401"]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (replace(WELL, ahead=["bill", "mail"]), "in its future: 2 schedules (bill, mail)."),
        (
            replace(WELL, passed_at=NOW + 59 * MINUTE),
            "in its future: the last pass of the watchdog.",
        ),
        (replace(WELL, leases_ahead=3), "in its future: the leases of 3 workers."),
    ],
)
def test_what_lies_in_the_future_of_the_clock_is_an_error(facts: Facts, told: str) -> None:
    [problem] = problems_of(facts)

    assert (problem.code, problem.severity, problem.advice) == (
        "S403",
        "error",
        "sempre reconcile",
    )
    assert told in problem.message


def test_a_store_that_was_emptied_long_ago_is_no_news() -> None:
    assert problems_of(replace(WELL, renewed_at=NOW - 25 * 60 * MINUTE)) == []


def test_rows_that_a_few_passes_leave_to_be_purged_are_no_problem() -> None:
    assert problems_of(replace(WELL, purging_since=NOW - 9 * MINUTE)) == []


def test_a_failing_schedule_tells_since_when_and_the_last_error() -> None:
    [problem] = problems_of(ILL["S207"])

    assert problem.message == ("bill fails since 2026-11-15T17:57:00Z, 3m ago: error: no.")
    assert problem.advice == "sempre show bill"


def test_of_many_failing_schedules_the_last_to_begin_tells_its_error() -> None:
    newer = replace(FAILING, name="mail", since=NOW - MINUTE, error="error: other.")

    [problem] = problems_of(replace(WELL, failing=[FAILING, newer]))

    assert problem.message == (
        "2 schedules failing: bill, mail. "
        "mail fails since 2026-11-15T17:59:00Z, 60s ago: error: other."
    )
    assert problem.names == ("bill", "mail")


def test_a_schedule_that_fails_for_longer_than_was_read_says_so() -> None:
    longer = replace(FAILING, is_longer=True)

    [problem] = problems_of(replace(WELL, failing=[longer]))

    assert "fails since before 2026-11-15T17:57:00Z" in problem.message


def test_a_job_of_which_nothing_succeeds_is_told_apart_from_single_failures() -> None:
    other = FailedJob("bill", 1, "error: broke", "03")
    facts = replace(WELL, failed_jobs=[other, FAILED_JOB], hopeless_jobs=["mail"])

    error, warning = problems_of(facts)

    assert (error.code, error.names) == ("S306", ("mail",))
    assert (warning.code, warning.names) == ("S305", ("bill",))
    assert warning.message == (
        "1 one-off execution failed within a day: bill (1). bill: error: broke."
    )


def test_without_a_worker_no_work_is_served_and_that_alone_is_told() -> None:
    facts = replace(WELL, sessions=(GONE,), unknown_work=[BACKLOG], unserved_work=[BACKLOG])

    assert [problem.code for problem in problems_of(facts)] == ["S401"]


def test_due_work_is_counted_in_all_its_groups() -> None:
    other = replace(BACKLOG, job="bill", count=5)

    [problem] = problems_of(replace(WELL, unserved_work=[BACKLOG, other]))

    assert problem.message == "7 due executions in queues that no live worker serves: slow."
    assert problem.advice == "sempre worker APP -q slow"


def test_held_work_tells_the_switch_and_for_how_long() -> None:
    [problem] = problems_of(ILL["S502"])

    assert problem.message == "the switch incident holds 3 due executions, the first one for 90m."
    assert problem.advice == "sempre switch on incident"
