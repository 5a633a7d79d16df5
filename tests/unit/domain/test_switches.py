"""Switches: whom they are meant for, and what a claim says of a row that one of them stops."""

from dataclasses import replace

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Claim,
    PlanningTime,
    Verdict,
    plan_claim,
    plan_disable,
    plan_trigger,
)
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.switch import Switch, stopping
from tests.unit.domain.builders import Story, at

REJECT, HOLD = Switch("deploy", "all"), Switch("maintenance", "all", "hold")


def row(name: str = "billing", **changes: object) -> Execution:
    given: dict[str, object] = {
        "id": "e1",
        "kind": Kind.SCHEDULED,
        "run_at": at("12:00"),
        "due_at": at("12:00"),
        "created_at": at("12:00"),
        "schedule_id": "s1",
        "snapshot": Snapshot(name=name, job="bill", queue="slow"),
    }
    return Execution(**(given | changes))  # type: ignore[arg-type]


def ask(story: Story, switch: Switch, asked: Execution | None = None) -> Claim:
    wanted = asked or story.next_row
    assert wanted is not None
    rows = list(story.rows.values())
    return plan_claim(story.schedule, wanted, rows, story.moment, stopped_by=switch)


@pytest.mark.parametrize(
    ("target", "stops"),
    [
        ("all", True),
        ("job:bill", True),
        ("job:bil", False),
        ("job:", False),
        ("queue:slow", True),
        ("queue:default", False),
        ("tag:eu", True),
        ("tag:e", False),
        ("pair:bill", False),
        ("whatever", False),
    ],
)
def test_a_switch_stops_what_its_target_names_in_full(target: str, *, stops: bool) -> None:
    assert Switch("s", target).stops(row(), ("eu", "monthly")) is stops


@pytest.mark.parametrize("name", ["pair:bill", "pair:bill/0", "pair:bill/17"])
def test_a_pair_is_stopped_in_all_its_shards(name: str) -> None:
    assert Switch("s", "pair:bill").stops(row(name))


@pytest.mark.parametrize("name", ["pair:bill2", "pair:bill/x", "pair:bill/x/1", "bill", "pair"])
def test_another_pair_is_not_stopped(name: str) -> None:
    assert not Switch("s", "pair:bill").stops(row(name))


def test_one_off_work_with_the_name_of_a_pair_is_no_pair() -> None:
    work = row("pair:bill", schedule_id=None, kind=Kind.ENQUEUED)

    assert not Switch("s", "pair:bill").stops(work)


def test_a_manual_execution_is_stopped_by_nothing() -> None:
    assert stopping([REJECT, HOLD], row(kind=Kind.MANUAL)) is None


def test_of_several_switches_a_hold_decides_then_the_first_by_name() -> None:
    first, second = replace(REJECT, name="a"), replace(HOLD, name="z")

    assert stopping([first, second, HOLD], row()) == HOLD
    assert stopping([REJECT, first], row()) == first
    assert stopping([], row()) is None


def test_a_slot_that_is_rejected_is_skipped_with_a_successor() -> None:
    story = Story().go("12:01")

    claim = ask(story, REJECT)
    story.apply(claim.plan)

    assert (claim.verdict, claim.reason) == (Verdict.SKIP, "switched off by deploy")
    assert story.told("12:01") == [("skipped", "switched off by deploy")]
    assert (story.cursor, story.next_at) == (at("12:01"), at("12:02"))
    assert story.schedule.starts == 0


def test_a_slot_that_is_held_waits_as_it_is() -> None:
    story = Story().go("12:01")

    claim = ask(story, HOLD)

    assert (claim.verdict, claim.reason) == (Verdict.WAIT, "held by maintenance")
    assert claim.plan.is_empty


def test_a_slot_that_is_not_due_is_early_under_any_switch() -> None:
    assert ask(Story(), REJECT).verdict is Verdict.EARLY


def test_a_plan_tells_what_it_decides_and_under_which_switch() -> None:
    story = Story().go("12:01")
    assert story.next_row is not None

    assert (story.ask().plan.decides, story.ask().plan.stopped_by) == (story.next_row.id, None)
    assert ask(story, REJECT).plan.stopped_by == REJECT
    assert story.perform(plan_disable).decides == ""


def test_a_disabled_schedule_says_so_before_a_switch_does() -> None:
    story = Story().go("12:01")
    due = story.next_row
    assert due is not None
    story.edit(enabled=False)

    assert ask(story, HOLD, due).reason == "disabled"


def test_a_rejected_retry_is_skipped_and_leaves_the_schedule_alone() -> None:
    story = Story(retry=1).go("12:01")
    failed = story.fail(story.claim())
    before = story.schedule

    claim = ask(story.go("12:01:30"), REJECT, failed)
    story.apply(claim.plan)

    assert story.rows[failed.id].state is State.SKIPPED
    assert story.schedule == before


def test_a_manual_run_starts_under_any_switch() -> None:
    story = Story()
    story.apply(plan_trigger(story.schedule, story.moment))
    [manual] = story.of_kind(Kind.MANUAL)

    assert {ask(story, switch, manual).verdict for switch in (HOLD, REJECT)} == {Verdict.START}


def test_one_off_work_waits_for_either_kind_of_switch() -> None:
    work = row("mail", schedule_id=None, kind=Kind.ENQUEUED)

    for switch in (HOLD, REJECT):
        claim = plan_claim(None, work, (), PlanningTime(at("12:01")), stopped_by=switch)
        assert claim.verdict is Verdict.WAIT


def test_a_switch_that_was_turned_for_another_reason_stops_the_same() -> None:
    assert REJECT.is_same_stop(replace(REJECT, reason="again", actor="ana", until=at("12:00")))
    assert not REJECT.is_same_stop(replace(REJECT, mode="hold"))
    assert not REJECT.is_same_stop(None)
