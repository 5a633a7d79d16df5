"""What seeds have found in the engine, each as the shortest story that shows it."""

from typing import TYPE_CHECKING

import pytest

from sempre.app.schedules.creation import Declared
from sempre.domain.definition import define
from sempre.domain.states import Kind, State
from sempre.engine.early_tickets import EarlyTickets
from sempre.grids import Every
from sempre.ports.broker import Delivery, Message
from sempre.testing.simulation.judge import Judge
from sempre.testing.simulation.stores import Operation
from tests.simulation.worlds import HANGING, LONG, QUICK, SmallWorld

if TYPE_CHECKING:
    from sempre.testing.simulation.stage import Program

BOTH = pytest.mark.parametrize("carries", [True, False], ids=["tickets", "store"])


@BOTH
def test_a_claim_whose_answer_was_lost_is_given_back_and_runs(carries: bool) -> None:  # noqa: FBT001
    world = SmallWorld(carries=carries)
    world.create()
    world.pass_for(29.5)

    world.pass_unanswered(1.0, "claim")
    assert [row.state for row in world.rows(State.RUNNING)] == [State.RUNNING]
    assert world.starts() == 0
    world.pass_for(20)

    [row] = world.rows(State.SUCCEEDED)
    assert (world.starts(), row.attempt) == (1, 1)


@BOTH
def test_one_off_work_whose_answer_was_lost_is_given_back_and_runs(carries: bool) -> None:  # noqa: FBT001
    world = SmallWorld(carries=carries)
    world.pass_for(5)
    world.operator.enqueue()

    world.pass_unanswered(31, "claim_one_off", "claim")
    world.pass_for(40)

    assert [row.state for row in world.rows(kind=Kind.ENQUEUED)] == [State.SUCCEEDED]


def test_a_worker_whose_only_hand_was_stuck_goes_on_when_it_is_free() -> None:
    world = SmallWorld(hands=1)
    world.create(timeout="10s")
    world.premises.script = lambda _run: HANGING
    world.pass_for(45)
    assert [row.state for row in world.rows(State.FAILED)] == [State.FAILED]

    world.premises.script = lambda _run: QUICK
    world.pass_for(180)

    assert world.rows(State.SUCCEEDED)


def test_a_broker_that_forgot_everything_before_the_first_pass_is_told_again() -> None:
    world = SmallWorld()
    world.create()
    world.exchange.flush()

    world.pass_for(20)

    assert any("bill" not in body and "[" in body for body in world.exchange.inner.bodies())


@BOTH
def test_a_triggered_run_and_a_slot_do_not_overlap(carries: bool) -> None:  # noqa: FBT001
    world = SmallWorld(carries=carries, workers=2)
    schedule = world.create(overlap="wait")
    world.stage.store_down_until = world.stage.later(31)
    world.pass_for(30.5)
    world.stage.store_down_until = 0
    schedule.trigger()

    world.pass_for(30)

    assert len(world.rows(State.SUCCEEDED)) == 1
    assert len(world.rows(State.SUCCEEDED, kind=Kind.MANUAL)) == 1


def test_a_pass_that_could_not_begin_is_tried_again() -> None:
    world = SmallWorld(carries=False)
    world.pass_for(290)
    world.stage.failing = frozenset({"begin_pass"})
    world.pass_for(40)
    world.stage.failing = frozenset()

    world.pass_for(30)

    due_at = world.store.last_pass().value.due_at
    assert due_at > world.store.clock.now()


def test_a_worker_whose_session_has_expired_unnoticed_does_not_ask_without_a_rest() -> None:
    world = SmallWorld(carries=False)
    schedule = world.create()
    world.pass_for(22)
    world.stage.step_clock(world.stage.settings.lease * 2)
    schedule.trigger()
    before = world.judge.operations

    world.pass_for(2)

    assert world.judge.operations - before < 100


def test_what_was_claimed_before_a_pause_that_cost_the_lease_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frozen: list[Program] = []
    hear = Judge.hear

    def freeze_the_first(self: Judge, operation: Operation) -> None:
        hear(self, operation)
        if operation.name == "claim" and not frozen:
            frozen.append(operation.program)
            operation.program.freeze(100)

    monkeypatch.setattr(Judge, "hear", freeze_the_first)
    world = SmallWorld(workers=2)
    world.create()

    world.pass_for(200)

    runs = [start.execution.id for start in world.effects.starts.values()]
    assert frozen
    assert len(runs) == len(set(runs))


def test_what_is_parked_when_the_session_is_lost_is_given_back_and_not_begun() -> None:
    world = SmallWorld(hands=1)
    for name in ("one", "two", "three"):
        world.create(name)
    world.pass_for(149.9)
    world.premises.script = lambda _run: LONG
    before = world.starts()
    world.pass_for(0.2)
    worker = world.fleet.workers[0]
    lost = worker.worker.heartbeat.session
    assert (world.starts() - before, len(world.rows(State.RUNNING))) == (1, 3)

    world.store.retire(lost)
    world.stage.timeline.call(worker.loops["heartbeat"])
    world.pass_for(60)

    sessions = [start.execution.session for start in world.effects.starts.values()]
    assert sessions.count(lost) == before + 1
    assert set(sessions) > {lost}


def test_a_worker_whose_clock_gains_on_the_stores_looks_again_when_it_looked_too_early() -> None:
    world = SmallWorld(carries=False)
    world.fleet.workers[0].clock.rate = 1.0005
    world.create()

    world.pass_for(600)

    late = [row.started_at - row.due_at for row in world.judge.starts if row.started_at]
    assert len(late) == 10
    assert max(late).total_seconds() < 0.1


def test_a_claim_under_way_does_not_undo_what_a_deploy_has_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = Declared("bill", define(job="bill", grid=Every(60)))
    hear = Judge.hear

    def deploy_meanwhile(self: Judge, operation: Operation) -> None:
        hear(self, operation)
        if operation.name == "candidates" and operation.program is not world.person:
            world.declare(declared, release=2)

    monkeypatch.setattr(Judge, "hear", deploy_meanwhile)
    world = SmallWorld()
    world.declare(declared, release=1)

    world.pass_for(60)

    [schedule] = world.store.tables.schedules.values()
    assert world.starts() == 1
    assert '"release":2' in schedule.declared


def test_of_two_early_tickets_of_one_execution_each_is_finished() -> None:
    early = EarlyTickets()
    deliveries = [Delivery(Message("lane", "ticket"), "handle", receipt) for receipt in "ab"]
    for delivery in deliveries:
        early.keep("execution", delivery, until=1.0)

    taken = [early.due(2.0, 10)["execution"] for _ in deliveries]

    assert taken == deliveries
