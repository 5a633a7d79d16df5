"""Contracts of the verbs: the plan of each verb reads back equal after apply."""

# ruff: noqa: S101, PLR2004 - a contract asserts, with literals

from collections.abc import Callable

from sempre.domain.planning import (
    Plan,
    PlanningTime,
    Verdict,
    plan_backfill,
    plan_claim,
    plan_delete,
    plan_disable,
    plan_edit,
    plan_enable,
    plan_pause,
    plan_reconcile,
    plan_rescue,
    plan_resume,
    plan_skip,
    plan_start,
    plan_trigger,
    plan_unskip,
)
from sempre.domain.states import Kind, State
from sempre.domain.values import copy_with
from sempre.grids import Every
from sempre.ports.messages import Birth, Order, View
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import (
    HOUR,
    MINUTE,
    TZDATA,
    check_invariants,
    claimed,
    draft_schedule,
    due_schedule,
    expire,
    first_row,
    now_of,
    order_of,
    perform,
    read,
    row_of,
    session_of,
    started,
    view_of,
    waiting_schedule,
    without_lease,
)


def _written(store: Store, verb: Callable[..., Plan], **options: object) -> Plan:
    """Perform a verb and assert that the store holds the whole plan."""
    reading = store.views(["billing"])
    [view] = reading.value
    plan = verb(view.schedule, view.rows, PlanningTime(reading.now, TZDATA), **options)
    _carried_out(store, order_of(plan))
    return plan


def _carried_out(store: Store, order: Order) -> None:
    plan = order.plan
    assert not plan.is_empty
    assert plan.schedule is not None
    known = store.ranges(plan.schedule.id, limit=100).value

    assert store.apply([order]) == [True]

    found = store.candidates([*order.ids, *(change.before.id for change in plan.changes)]).value
    rows = {each.execution.id: each.execution for each in found}
    for identity, draft in zip(order.ids, plan.creates, strict=True):
        assert rows[identity] == draft.born(identity, rows[identity].created_at)
    for change in plan.changes:
        assert without_lease(rows[change.before.id]) == without_lease(change.after)
    for each in found:
        assert each.view is not None
        assert each.view.schedule == plan.schedule
    passed = store.ranges(plan.schedule.id, limit=100).value
    newest = sorted([*known, *plan.ranges], key=lambda each: each.first, reverse=True)
    assert passed == newest
    if not plan.schedule.deleted:
        assert view_of(store).schedule == plan.schedule
        check_invariants(store)


def test_a_start_reads_back_as_planned(store: Store) -> None:
    """The first next row comes into being."""
    assert store.create([Birth(draft_schedule(store))]) == [True]

    plan = _written(store, plan_start, actor="deploy")

    assert len(plan.creates) == 1
    assert first_row(store).actor == "deploy"


def test_an_edit_reads_back_as_planned(store: Store) -> None:
    """A change of grid supersedes the next row, writes a new row and records passed slots."""
    view = waiting_schedule(store)
    grid = Every("7m", anchor=now_of(store) - MINUTE)
    to = view.schedule.definition.edited(grid=grid, args={"a": [1]}, tags=["x"], priority=1)

    plan = _written(store, plan_edit, to=to, actor="ana")

    assert (len(plan.changes), len(plan.creates)) == (1, 1)


def test_a_disable_and_an_enable_read_back_as_planned(store: Store) -> None:
    """A disabled schedule has no next row; an enabled one has one again, from now on."""
    due_schedule(store, grid=Every("1m", anchor=now_of(store) - HOUR - MINUTE / 2))

    disabled = _written(store, plan_disable, actor="ana")
    enabled = _written(store, plan_enable, actor="ana")

    assert disabled.changes[0].after.state is State.SKIPPED
    assert disabled.ranges
    assert len(enabled.creates) == 1


def test_a_pause_and_a_resume_read_back_as_planned(store: Store) -> None:
    """Until an instant, without end, and over again."""
    due_schedule(store)
    until = now_of(store) + 5 * HOUR

    _written(store, plan_pause, until=until, note="deploy", actor="ana")
    assert first_row(store).run_at >= until
    _written(store, plan_pause, note="for good")
    _written(store, plan_resume, actor="bob")

    assert view_of(store).schedule.pause is None


def test_a_skip_and_an_unskip_read_back_as_planned(store: Store) -> None:
    """Of the next row's slot, and of a later one."""
    slot = waiting_schedule(store).rows[0].run_at

    _written(store, plan_skip, run_at=slot, actor="ana")
    _written(store, plan_skip, run_at=slot + 3 * HOUR)
    _written(store, plan_unskip, run_at=slot)

    assert first_row(store).run_at == slot


def test_a_trigger_reads_back_as_planned(store: Store) -> None:
    """A manual row beside the next one, also of a paused schedule."""
    waiting_schedule(store)
    perform(store, plan_pause)

    plan = _written(
        store, lambda schedule, _rows, moment: plan_trigger(schedule, moment, actor="ana")
    )

    assert plan.creates[0].kind is Kind.MANUAL


def test_a_backfill_of_past_slots_reads_back_as_planned(store: Store) -> None:
    """Many rows in one plan, each in its slot and due at once."""
    now = now_of(store)
    waiting_schedule(store, grid=Every("1h", anchor=now - 100 * HOUR))

    plan = _written(store, plan_backfill, start=now - 50 * HOUR, end=now)

    assert len(plan.creates) == 51
    assert {draft.kind for draft in plan.creates} == {Kind.BACKFILL}


def test_a_delete_reads_back_as_planned(store: Store) -> None:
    """The future row is superseded and the name of the schedule is free."""
    waiting_schedule(store)

    plan = _written(store, plan_delete, actor="ana")

    assert plan.changes[0].after.state is State.SUPERSEDED
    assert store.views(["billing"]).value == []


def test_a_drifted_row_is_replaced_as_planned(store: Store) -> None:
    """Reconcile supersedes a row that is no longer right and writes the right one."""
    now = now_of(store)
    schedule = copy_with(draft_schedule(store), created_at=now, cursor=now)
    birth = started(schedule, at=now)
    row = copy_with(birth.rows[0], snapshot=copy_with(birth.rows[0].snapshot, priority=7))
    assert store.create([Birth(birth.schedule, (row,))]) == [True]

    plan = _written(store, plan_reconcile, actor="watchdog")

    assert read(store, row.id).reason == "drift: priority"
    assert len(plan.creates) == 1


def test_a_rescue_reads_back_as_planned(store: Store) -> None:
    """An execution of an expired session waits again, and its slot is not doubled."""
    row = due_schedule(store).rows[0]
    session = session_of(store)
    claimed(store, row.id, session)
    expire(store, session)

    _written(store, _rescue(store, row.id))

    again = read(store, row.id)
    assert (again.state, again.crashes, again.session) == (State.SCHEDULED, 1, "")


def test_a_rescue_that_holds_the_schedule_reads_back_as_planned(store: Store) -> None:
    """The execution fails and the schedule is paused, in one plan."""
    row = due_schedule(store, on_unknown="hold").rows[0]
    session = session_of(store)
    claimed(store, row.id, session)
    expire(store, session)

    _written(store, _rescue(store, row.id))

    assert read(store, row.id).state is State.FAILED
    assert view_of(store).schedule.pause is not None


def _rescue(store: Store, identity: str) -> Callable[..., Plan]:
    lost = store.expired(10).value
    [row] = [each.execution for each in lost if each.execution.id == identity]
    return lambda schedule, rows, moment: plan_rescue(schedule, row, rows, moment)


def test_an_overlap_skip_reads_back_as_planned(store: Store) -> None:
    """A slot that is skipped for overlap moves the cursor and writes its successor."""
    schedule = draft_schedule(store)
    birth = started(schedule, at=schedule.created_at)
    slot = birth.rows[0].run_at
    begun = {"started_at": slot - MINUTE, "first_started_at": slot - MINUTE, "attempt": 1}
    running = row_of(
        View(birth.schedule), slot - MINUTE, kind=Kind.MANUAL, state=State.RUNNING, **begun
    )
    assert store.create([copy_with(birth, rows=(*birth.rows, running))]) == [True]

    _decided(store, Verdict.SKIP)


def test_a_missed_deadline_reads_back_as_planned(store: Store) -> None:
    """A row past its deadline is missed, and the slots in between are one range."""
    due_schedule(store, grid=Every("1m", anchor=now_of(store) - HOUR - MINUTE / 2), deadline="5m")

    plan = _decided(store, Verdict.MISS)

    assert plan.ranges
    assert plan.changes[0].after.state is State.MISSED


def test_a_long_downtime_is_one_range(store: Store) -> None:
    """For any number of passed slots, the claim writes one range and one successor."""
    now = now_of(store)
    schedule = draft_schedule(store, grid=Every("1s", anchor=now - 30 * HOUR))
    back = copy_with(schedule, created_at=now - 24 * HOUR, cursor=now - 24 * HOUR)
    assert store.create([started(back, at=back.cursor)]) == [True]

    claimed(store, first_row(store).id, session_of(store))

    [passed] = store.ranges(schedule.id, limit=10).value
    assert passed.count >= 86_338  # but for those within the tolerance
    assert passed.reason == "missed"
    check_invariants(store)


def _decided(store: Store, verdict: Verdict) -> Plan:
    """Claim the next row, which is not to start, and carry the verdict out."""
    row = first_row(store)

    def decide(*given: object) -> Plan:
        schedule, rows, moment = given
        answer = plan_claim(schedule, row, rows, moment)  # type: ignore[arg-type]
        assert answer.verdict is verdict
        return answer.plan

    return _written(store, decide)
