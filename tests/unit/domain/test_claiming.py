"""A claim: whether a row may start, where the cursor goes, and what follows it."""

from dataclasses import replace
from datetime import timedelta

from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime, Verdict, plan_claim, plan_delete, plan_trigger
from sempre.domain.planning.fast_path import plan_plain_start
from sempre.domain.snapshot import Snapshot
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from tests.unit.domain.builders import Story, at


def one_off(**changes: object) -> Execution:
    """Return a row that belongs to no schedule."""
    given: dict[str, object] = {
        "id": "o1",
        "kind": Kind.ENQUEUED,
        "run_at": at("12:00"),
        "due_at": at("12:00"),
        "created_at": at("12:00"),
        "snapshot": Snapshot(name="mail", job="mail"),
    }
    return Execution(**(given | changes))  # type: ignore[arg-type]


def test_a_start_moves_the_cursor_to_its_slot_and_writes_the_successor() -> None:
    story = Story().go("12:01")

    row = story.claim()

    assert row.state is State.RUNNING
    assert (row.attempt, row.first_started_at, row.started_at) == (1, at("12:01"), at("12:01"))
    assert story.cursor == at("12:01")
    assert story.next_at == at("12:02")
    assert story.ranges == []


def test_a_claim_changes_one_row_creates_one_and_moves_the_schedule() -> None:
    story = Story().go("12:01")

    plan = story.ask().plan

    assert (len(plan.changes), len(plan.creates), len(plan.ranges)) == (1, 1, 0)


def test_the_successor_of_a_slot_on_time_runs_the_very_same() -> None:
    story = Story(args={"n": 1}).go("12:01")
    row = story.next_row

    plan = story.ask().plan

    assert row is not None
    assert plan_plain_start(story.schedule, row, story.moment) == plan
    assert plan.creates[0].snapshot is row.snapshot


def test_after_an_edit_the_successor_runs_what_is_declared_now() -> None:
    story = Story(args={"n": 1}).go("12:01")
    row = story.next_row
    story.edit(args={"n": True})

    plan = story.ask().plan

    assert row is not None
    assert row.snapshot.args == {"n": 1}
    assert plan.creates[0].snapshot.args["n"] is True


def test_a_claim_is_no_change_that_a_person_made() -> None:
    story = Story().go("12:01")
    before = story.schedule.revision

    story.claim()

    assert story.schedule.revision == before


def test_a_ticket_before_its_time_is_early_and_changes_nothing() -> None:
    story = Story().go("12:00:59.999999")

    claim = story.ask()

    assert claim.verdict is Verdict.EARLY
    assert claim.plan.is_empty


def test_a_row_starts_at_its_very_instant() -> None:
    assert Story().go("12:01").ask().verdict is Verdict.START


def test_a_second_ticket_of_a_running_row_is_stale() -> None:
    story = Story().go("12:01")
    row = story.claim()

    claim = story.ask(row)

    assert claim.verdict is Verdict.STALE
    assert claim.plan.is_empty


def test_a_ticket_of_a_row_that_has_ended_is_stale() -> None:
    story = Story().go("12:01")
    done = story.run()

    assert story.ask(done).verdict is Verdict.STALE


def test_a_ticket_of_a_superseded_row_is_stale() -> None:
    story = Story()
    old = story.next_row
    story.edit(args={"n": 1})
    assert old is not None

    assert story.go("12:05").ask(story.rows[old.id]).verdict is Verdict.STALE


def test_a_held_row_is_live_and_due_but_cannot_be_claimed() -> None:
    story = Story().go("12:01")
    row = story.next_row
    assert row is not None

    claim = story.ask(replace(row, held_by="maintenance"))

    assert (claim.verdict, claim.reason) == (Verdict.WAIT, "held by maintenance")
    assert claim.plan.is_empty


def test_a_row_that_the_broker_was_told_of_is_claimed_like_one_it_was_not() -> None:
    story = Story().go("12:01")
    row = story.next_row
    assert row is not None

    told = row.to(State.SCHEDULED)

    assert story.ask(told).verdict is story.ask(row).verdict is Verdict.START


def test_within_tolerance_the_successor_is_the_next_slot_though_it_has_passed() -> None:
    story = Story("10s").go("12:00:55")

    story.claim()

    assert story.cursor == at("12:00:10")
    assert story.next_at == at("12:00:20")
    assert story.ranges == []


def test_late_by_exactly_the_tolerance_is_still_within_it() -> None:
    story = Story("10s").go("12:01:10")

    story.claim()

    assert story.next_at == at("12:00:20")


def test_a_hiccup_loses_no_slot() -> None:
    story = Story("10s").go("12:00:55")

    ran = [story.run().run_at for _ in range(5)]

    assert ran == [at(f"12:00:{second}") for second in (10, 20, 30, 40, 50)]
    assert story.next_at == at("12:01:00")
    assert story.ranges == []


def test_tolerance_counts_from_the_start_that_was_due_not_from_the_slot() -> None:
    story = Story("10m", jitter="5m", tolerance="1m")
    row = story.next_row
    assert row is not None
    assert row.due_at > row.run_at
    story.now = row.due_at + timedelta(seconds=60)

    story.claim()

    assert story.cursor == at("12:10")
    assert story.next_at == at("12:20")


def test_starts_are_counted_once_across_release_and_retry() -> None:
    story = Story(retry=2).go("12:01")
    row = story.claim()
    row = story.claim(story.release(row))
    row = story.fail(row)
    story.now = row.due_at

    story.claim(row)

    assert story.schedule.starts == 1
    assert story.next_at == at("12:02")


def test_a_retry_moves_neither_cursor_nor_next_row() -> None:
    story = Story(retry=1).go("12:01")
    row = story.fail(story.claim())
    before = story.schedule
    story.now = row.due_at

    again = story.claim(row)

    assert again.state is State.RUNNING
    assert again.attempt == 2
    assert again.first_started_at == at("12:01")
    assert story.schedule == copy_with(before, revision=before.revision + 1)


def test_a_manual_run_moves_neither_cursor_nor_starts() -> None:
    story = Story()
    story.apply(plan_trigger(story.schedule, story.moment))
    before = story.schedule

    (row,) = story.of_kind(Kind.MANUAL)
    story.claim(row)

    assert story.schedule == copy_with(before, revision=before.revision + 1)


def test_manual_runs_that_may_overlap_do_not_stand_in_each_others_way() -> None:
    story = Story(overlap="allow")
    story.apply(plan_trigger(story.schedule, story.moment))
    before = story.schedule

    story.claim(story.of_kind(Kind.MANUAL)[0])

    assert story.schedule == before


def test_work_without_a_schedule_just_starts() -> None:
    row = one_off()

    claim = plan_claim(None, row, [], PlanningTime(at("12:00")))

    (change,) = claim.plan.changes
    assert claim.verdict is Verdict.START
    assert change.after.state is State.RUNNING
    assert change.after.attempt == 1
    assert claim.plan.schedule is None
    assert claim.plan.creates == ()


def test_work_without_a_schedule_is_never_early_either() -> None:
    row = one_off(due_at=at("12:10"))

    assert plan_claim(None, row, [], PlanningTime(at("12:09"))).verdict is Verdict.EARLY


def test_a_due_row_of_a_deleted_schedule_runs_from_its_snapshot_without_successor() -> None:
    story = Story(args={"n": 1}).go("12:01:10")
    due = story.next_row
    story.perform(plan_delete)
    assert due is not None

    row = story.claim(story.rows[due.id])

    assert row.state is State.RUNNING
    assert row.snapshot.args == {"n": 1}
    assert story.next_at is None
    assert not [row for row in story.rows.values() if row.is_live]


def test_a_due_row_whose_schedule_is_gone_altogether_runs_from_its_snapshot() -> None:
    story = Story().go("12:01")
    row = story.next_row
    assert row is not None

    claim = plan_claim(None, row, [], story.moment)

    assert claim.verdict is Verdict.START
    assert claim.plan.creates == ()


def test_a_row_past_its_deadline_is_missed_also_when_its_schedule_is_gone() -> None:
    story = Story(deadline="1m").go("12:10")
    row = story.next_row
    assert row is not None

    claim = plan_claim(None, row, [], story.moment)

    (change,) = claim.plan.changes
    assert claim.verdict is Verdict.MISS
    assert change.after.state is State.MISSED


def test_an_edit_during_a_run_leaves_that_run_its_snapshot() -> None:
    story = Story(args={"n": 1}).go("12:01")
    row = story.claim()

    story.edit(args={"n": 2})

    assert story.rows[row.id].snapshot.args == {"n": 1}
    following = story.next_row
    assert following is not None
    assert following.snapshot.args == {"n": 2}


def test_after_the_clock_was_set_back_no_decided_slot_runs_again() -> None:
    story = Story()
    for clock in ("12:01", "12:02", "12:03"):
        story.go(clock).run()
    story.go("12:01:30")

    assert story.next_at == at("12:04")
    assert story.ask().verdict is Verdict.EARLY
