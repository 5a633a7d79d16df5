from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sempre.cli.examining import CODES, Facts, problems_of
from sempre.domain.execution import Execution
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind
from sempre.ports.messages import Session, Switch
from tests.architecture.source import ROOT

NOW = datetime(2026, 11, 15, 18, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALIVE = Session("w1", leased_until=NOW + MINUTE)
GONE = Session("w2", leased_until=NOW - MINUTE)
WELL = Facts(
    now=NOW,
    interval=5 * MINUTE,
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
ILL = {
    "S101": replace(WELL, passed_at=NOW - 11 * MINUTE),
    "S102": replace(WELL, passed_at=None, pass_due_at=NOW - 6 * MINUTE),
    "S201": replace(WELL, astray=["bill"]),
    "S202": replace(WELL, broken=["bill"]),
    "S301": replace(WELL, overdue=[ROW]),
    "S302": replace(WELL, unrung=[ROW]),
    "S303": replace(WELL, expired=[ROW]),
    "S401": replace(WELL, sessions=(GONE,)),
    "S402": replace(WELL, skew=-MINUTE),
    "S501": replace(WELL, switches=[Switch("incident", "all", until=NOW, reason="db down")]),
    "S601": replace(WELL, stale_pairs=["pair:bill"]),
    "S602": replace(WELL, uncovered_pairs=["pair:bill"]),
    "S603": replace(WELL, poisoned_pairs=["pair:bill"]),
    "S604": replace(WELL, slow_pairs=["pair:bill", "pair:mail"]),
}
WARNINGS = {"S302", "S303", "S402", "S501", "S603", "S604"}


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


def test_a_watchdog_is_overdue_only_after_two_intervals() -> None:
    assert problems_of(replace(WELL, passed_at=NOW - 10 * MINUTE)) == []


def test_a_store_without_schedules_needs_no_worker() -> None:
    empty = Facts(now=NOW, interval=MINUTE, passed_at=None, pass_due_at=NOW - MINUTE * 9)

    assert problems_of(empty) == []


def test_errors_come_before_warnings() -> None:
    ill = replace(ILL["S501"], astray=["bill"], unrung=[ROW])

    assert [problem.code for problem in problems_of(ill)] == ["S201", "S302", "S501"]


def test_long_lists_are_cut() -> None:
    [problem] = problems_of(replace(WELL, astray=[f"s{n}" for n in range(100)]))

    assert problem.message == (
        "100 or more schedules without a next row: s0, s1, s2, s3, s4 and 95 more."
    )
    assert len(problem.names) == 100


def test_lateness_is_that_of_the_most_overdue() -> None:
    facts = replace(WELL, overdue=[ROW, replace(ROW, due_at=NOW - 3 * MINUTE)])

    assert facts.to_json()["latest_s"] == 180
    assert "the latest by 3m: bill." in problems_of(facts)[0].message
