"""Contracts of switches on schedules: slots are skipped or held, never silently, never started."""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.execution import Execution
from sempre.domain.planning import (
    Claim,
    PlanningTime,
    Verdict,
    plan_claim,
    plan_failure,
    plan_trigger,
)
from sempre.domain.policies import Retry
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.ports.messages import Birth, Candidate, Settled, Settlement, Switch, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    check_invariants,
    claim_order,
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    moment_of,
    order_of,
    perform,
    read,
    row_of,
    session_of,
    started,
    succeed,
    view_of,
    waiting_schedule,
    wanted,
)
from sempre.testing.contracts.store.refusals import check_refused

REJECT = Switch("deploy", "job:bill", reason="broken release")
HOLD = Switch("maintenance", "job:bill", "hold")


def _asked(store: Store, row: Execution) -> Claim:
    """Return planning's decision on a row, from the store's candidate."""
    reading = store.candidates([row.id])
    [found] = reading.value
    assert found.view is not None
    schedule, rows = found.view.schedule, found.view.rows
    moment = PlanningTime(reading.now, TZDATA)
    return plan_claim(schedule, found.execution, rows, moment, stopped_by=found.stopped_by)


def test_due_shows_what_is_rejected_and_not_what_is_held(store: Store) -> None:
    """For every kind of switch: a worker has to skip rejected rows and leave held rows alone."""
    due_schedule(store, tags=["eu"])
    for target in ("job:bill", "queue:default", "tag:eu", "all"):
        view = view_of(store)
        [row] = view.rows
        reject, hold = Switch("deploy", target), Switch("deploy", target, "hold")

        store.switch(reject, off=True)
        assert store.due(wanted()).value == [Candidate(row, view, reject)], target
        store.switch(hold, off=True)
        assert store.due(wanted()).value == [], target

        store.switch(hold, off=False)
        assert [each.execution.id for each in store.due(wanted()).value] == [row.id], target


def test_a_candidate_tells_which_switch_is_off_for_it(store: Store) -> None:
    """In either mode, for slots and one-off work, as long as the row waits."""
    view, mail = due_schedule(store), enqueued(store, job="bill")
    running = claimed(store, due_schedule(store, "running").rows[0].id, session_of(store))
    later = waiting_schedule(store, "later", job="mail").rows[0]
    ids = [view.rows[0].id, mail, running.id, later.id]
    for switch in (REJECT, HOLD):
        store.switch(switch, off=True)

        found = store.candidates(ids).value

        assert [each.execution.id for each in found] == ids
        assert [each.stopped_by for each in found] == [switch, switch, None, None]
        store.switch(switch, off=False)
    assert [each.stopped_by for each in store.candidates(ids).value] == [None] * len(ids)


def test_a_slot_that_is_rejected_is_skipped_and_has_a_successor(store: Store) -> None:
    """The row names the switch; the cursor moves on, and nothing has started."""
    [row] = due_schedule(store).rows
    store.switch(REJECT, off=True)

    claim = _asked(store, row)
    assert claim.verdict is Verdict.SKIP
    assert store.apply([order_of(claim.plan)]) == [True]

    skipped = read(store, row.id)
    assert (skipped.state, skipped.reason) == (State.SKIPPED, "switched off by deploy")
    schedule = view_of(store).schedule
    assert (schedule.cursor, schedule.starts) == (row.run_at, 0)
    assert schedule.next_run_at == row.run_at + HOUR
    assert store.due(wanted()).value == []
    check_invariants(store)


def test_a_retry_that_is_rejected_is_skipped(store: Store) -> None:
    """A backfill is skipped too; the schedule is past the slot and does not move."""
    session = session_of(store)
    row = claimed(store, due_schedule(store, retry=Retry(1, base="1s")).rows[0].id, session)
    moment = moment_of(store)
    earlier = moment._replace(now=moment.now - MINUTE)
    plan = plan_failure(view_of(store).schedule, row, earlier)
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]
    schedule = view_of(store).schedule
    store.switch(REJECT, off=True)

    claim = _asked(store, row)
    assert claim.verdict is Verdict.SKIP
    assert store.apply([order_of(claim.plan)]) == [True]

    assert read(store, row.id).state is State.SKIPPED
    assert view_of(store).schedule == schedule
    check_invariants(store)


def test_a_decision_in_ignorance_of_a_switch_is_refused(store: Store) -> None:
    """An overlapping slot would be skipped; a held slot is kept for later instead."""
    schedule = draft_schedule(store)
    birth = started(schedule, at=schedule.created_at)
    begun = birth.rows[0].due_at - MINUTE
    times = {"first_started_at": begun, "started_at": begun, "attempt": 1}
    blocker = row_of(View(schedule), begun, kind=Kind.MANUAL, state=State.RUNNING, **times)
    assert store.create([Birth(birth.schedule, (*birth.rows, blocker))]) == [True]
    claim = _asked(store, birth.rows[0])
    assert (claim.verdict, claim.reason) == (Verdict.SKIP, "overlap")

    for switch in (HOLD, REJECT):
        store.switch(switch, off=True)
        check_refused(store, claim.plan)
        store.switch(switch, off=False)

    assert store.apply([order_of(claim.plan)]) == [True]


def test_a_skip_is_refused_once_its_switch_is_on_again(store: Store) -> None:
    """Or holds instead, or is another one by now: the slot may run after all."""
    [row] = due_schedule(store).rows
    store.switch(REJECT, off=True)
    claim = _asked(store, row)
    assert claim.verdict is Verdict.SKIP

    store.switch(REJECT, off=False)
    check_refused(store, claim.plan)
    for other in (copy_with(REJECT, mode="hold"), copy_with(REJECT, name="other"), HOLD):
        store.switch(other, off=True)
        check_refused(store, claim.plan)
        store.switch(other, off=False)

    assert claimed(store, row.id, session_of(store)).state is State.RUNNING


def test_a_hold_goes_before_a_reject(store: Store) -> None:
    """With any names: a held slot is not lost, and is judged after the hold."""
    [row] = due_schedule(store).rows
    for hold in (copy_with(HOLD, name="a"), copy_with(HOLD, name="z")):
        store.switch(REJECT, off=True)
        store.switch(hold, off=True)

        claim = _asked(store, row)

        assert (claim.verdict, claim.reason) == (Verdict.WAIT, f"held by {hold.name}")
        assert store.due(wanted()).value == []
        mail = enqueued(store, job="bill")
        assert read(store, mail).held_by == hold.name
        store.switch(hold, off=False)
        assert _asked(store, row).verdict is Verdict.SKIP
        store.switch(REJECT, off=False)


def test_a_manual_run_passes_every_switch(store: Store) -> None:
    """A person asked for the run, knowing the switches; the scheduled slot does not move."""
    [slot] = due_schedule(store, tags=["eu"]).rows
    for mode in ("hold", "reject"):
        for target in ("job:bill", "queue:default", "tag:eu", "all"):
            switch = Switch("stop", target, mode)
            perform(store, lambda schedule, _rows, moment: plan_trigger(schedule, moment))
            store.switch(switch, off=True)

            due = [each.execution for each in store.due(wanted()).value]

            [manual] = [row for row in due if row.kind is Kind.MANUAL]
            slots = [row.id for row in due if row is not manual]
            assert slots == ([] if mode == "hold" else [slot.id]), switch
            succeed(store, claimed(store, manual.id, session_of(store)))
            store.switch(switch, off=False)


def test_a_pair_is_stopped_with_its_shards(store: Store) -> None:
    """By whole names: the pair of another job and one-off work of that name are not stopped."""
    names = ["pair:bill", "pair:bill/0", "pair:bill/12"]
    others = ["pair:bill/x", "pair:billing", "pair:bill2", "bill"]
    rows = {name: due_schedule(store, name).rows[0] for name in (*names, *others)}
    one_off = enqueued(store, name="pair:bill")
    store.switch(Switch("stop", "pair:bill", "hold"), off=True)

    due = {each.execution.snapshot.name for each in store.due(wanted()).value}

    assert due == set(others)
    for name in names:
        order = claim_order(store, rows[name].id)
        assert store.claim([order], session=session_of(store)) == [None], name
    assert [row.id for row in store.claim_one_off(wanted(), session=session_of(store)).value] == [
        one_off
    ]
    store.switch(Switch("stop", "pair:bill"), off=True)
    for name in (*names, *others):
        stopped = _asked(store, rows[name]).verdict is Verdict.SKIP
        assert stopped == (name in names), name


def test_a_slot_that_was_held_says_by_which_switch(store: Store) -> None:
    """For every kind of switch; slots that pass meanwhile are recorded under that name."""
    [row] = due_schedule(store, "pair:bill/1", tags=["eu"]).rows
    for target in ("job:bill", "queue:default", "tag:eu", "pair:bill", "all"):
        switch = Switch(target, target, "hold")
        store.switch(switch, off=True)
        assert read(store, row.id).reason != f"held by {target}"

        store.switch(switch, off=False)

        assert read(store, row.id) == copy_with(row, reason=f"held by {target}")
    assert claimed(store, row.id, session_of(store)).reason == ""


def test_only_a_slot_that_was_due_was_held(store: Store) -> None:
    """Not one that is still to come, nor another job's, a manual run, or a retry of an error."""
    waiting = waiting_schedule(store, "later").rows[0]
    other = due_schedule(store, "other", job="mail").rows[0]
    due_schedule(store, "asked")
    perform(store, lambda schedule, _rows, moment: plan_trigger(schedule, moment), name="asked")
    [manual] = [row for row in view_of(store, "asked").rows if row.kind is Kind.MANUAL]
    session = session_of(store)
    row = claimed(
        store, due_schedule(store, "tried", retry=Retry(1, base="1s")).rows[0].id, session
    )
    moment = moment_of(store)._replace(now=moment_of(store).now - MINUTE)
    plan = plan_failure(view_of(store, "tried").schedule, row, moment, error="no network")
    assert store.settle([Settlement(row, plan)], session=session) == [Settled.DONE]
    before = [read(store, each.id) for each in (waiting, other, manual, row)]

    store.switch(HOLD, off=True)
    store.switch(HOLD, off=False)
    store.switch(REJECT, off=True)
    store.switch(REJECT, off=False)

    assert [read(store, each.id) for each in (waiting, other, manual, row)] == before


def test_a_switch_whose_time_is_over_leaves_its_name_on_what_it_held(store: Store) -> None:
    """The next tick of any session writes the name and frees the held rows."""
    [row] = due_schedule(store).rows
    store.switch(copy_with(HOLD, until=moment_of(store).now - MINUTE), off=True)

    store.tick(session_of(store), wanted(), lease=MINUTE)

    assert read(store, row.id).reason == "held by maintenance"
