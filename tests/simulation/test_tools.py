"""The parts of a simulation, each by itself."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from sempre.config import Settings
from sempre.engine.ids import new_id
from sempre.errors import BrokerUnavailable, StoreUnavailable
from sempre.ports.broker import Message
from sempre.ports.executor import Ended
from sempre.testing import Simulation
from sempre.testing.simulation import Failure, VirtualClock, VirtualTime, simulate
from sempre.testing.simulation.__main__ import main
from sempre.testing.simulation.account import draw_up
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.clock import START
from sempre.testing.simulation.faults import NO_FAULTS, Faults
from sempre.testing.simulation.mercy import Mercy
from sempre.testing.simulation.shrinking import shrink
from sempre.testing.simulation.stage import Broken, Killed, Program, Stage
from sempre.testing.simulation.timeline import Actor, StandsStill, Timeline
from tests.simulation.bugs import BUGS
from tests.simulation.worlds import SmallWorld

LANE = "sempre.lane"


def test_a_clock_that_is_set_shows_another_time_and_goes_on_as_fast() -> None:
    time = VirtualTime()
    clock = VirtualClock(time, origin=5.0)
    before = clock.now()

    clock.step(timedelta(seconds=-90))
    time.now += 2_000_000

    assert clock.now() == before - timedelta(seconds=88)
    assert clock.elapsed() == 7.0


def test_actors_are_called_in_order_of_time_and_never_while_they_are_busy() -> None:
    timeline = Timeline(VirtualTime())
    called: list[str] = []

    def slow() -> None:
        called.append("slow begins")
        timeline.call(actors["slow"])
        timeline.run_for(2)
        called.append("slow ends")

    steps = {"slow": slow, "quick": lambda: called.append("quick")}
    actors = {name: Actor(name, step) for name, step in steps.items()}
    timeline.call(actors["quick"], 1.0)
    timeline.call(actors["slow"], 0.5)

    timeline.run_for(2)

    assert called == ["slow begins", "quick", "slow ends"]


def test_an_actor_of_a_frozen_program_waits_and_that_of_a_dead_one_is_no_more() -> None:
    stage = Stage(Chance(1), Settings())
    called: list[str] = []
    programs = {name: Program(name, stage) for name in ("frozen", "dead")}
    for name, program in programs.items():
        actor = Actor(name, lambda name=name: called.append(name), program)  # type: ignore[misc]
        stage.timeline.call(actor, 1.0)
    programs["frozen"].freeze(10)
    programs["dead"].die()

    stage.timeline.run_for(9)
    assert called == []
    stage.timeline.run_for(2)

    assert called == ["frozen"]


def test_a_program_that_dies_between_two_operations_does_nothing_more() -> None:
    stage = Stage(Chance(1), Settings())
    program = Program("w1", stage)
    stage.faults = Faults(crash=1.0)

    with pytest.raises(Killed):
        stage.interleave(program)

    assert program.is_dead


def test_an_operation_fails_before_it_has_happened_or_after() -> None:
    world = SmallWorld()
    world.stage.failing = frozenset({"create"})
    with pytest.raises(StoreUnavailable):
        world.create("before")
    world.stage.failing = frozenset()

    world.stage.unanswered = frozenset({"create"})
    with pytest.raises(StoreUnavailable):
        world.create("after")

    assert [each.name for each in world.store.tables.schedules.values()] == ["after"]


@pytest.mark.parametrize(
    ("faults", "count"),
    [
        (Faults(), 1),
        (Faults(ticket_lost=1.0), 0),
        (Faults(ticket_doubled=1.0), 2),
        (Faults(ticket_delayed=1.0), 0),
    ],
)
def test_a_broker_loses_doubles_and_delays(faults: Faults, count: int) -> None:
    world = SmallWorld()
    world.stage.faults = faults

    [handle] = world.person.broker.put([Message(LANE, "body")])

    world.stage.faults = Faults()
    assert handle
    assert len(world.person.broker.reserve([LANE], limit=5, wait=0)) == count


def test_a_broker_that_is_away_or_out_of_memory_says_so() -> None:
    world = SmallWorld()
    world.stage.faults = Faults(ticket_refused=1.0)
    with pytest.raises(BrokerUnavailable, match="memory"):
        world.person.broker.put([Message(LANE, "body")])

    world.stage.broker_down_until = world.stage.later(1)
    with pytest.raises(BrokerUnavailable):
        world.person.broker.has_any(LANE)


def test_a_flushed_broker_gives_its_handles_out_again() -> None:
    world = SmallWorld()
    broker = world.person.broker
    [before] = broker.put([Message(LANE, "one")])
    world.exchange.flush()
    [after] = broker.put([Message(LANE, "two")])

    assert not broker.holds(LANE, before, "one")
    assert broker.holds(LANE, after, "two")


def test_peace_has_no_faults() -> None:
    assert {name for name, value in vars(NO_FAULTS).items() if value} == {"interleaving"}


def test_what_is_reserved_and_let_lie_is_noticed() -> None:
    world = SmallWorld()
    broker = world.person.broker
    broker.put([Message(LANE, "body")])
    broker.reserve([LANE], limit=1, wait=0)
    world.pass_for(10)
    for _ in range(3):
        broker.check_finished()
    world.pass_for(2)

    with pytest.raises(Broken, match="let lie"):
        broker.check_finished()


def test_the_command_shows_what_a_seed_has_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "1", "--steps", "200"]) == 0

    assert "slots decided" in capsys.readouterr().out


def test_the_command_shows_how_to_see_a_failure_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    BUGS["a successor is not written"](monkeypatch)

    assert main(["--seed", "0", "--steps", "200"]) == 1

    shown = capsys.readouterr().out
    assert "python -m sempre.testing.simulation --seed 0 --steps 200" in shown
    assert "it should have" in shown
    assert len(shown.splitlines()) < 80


def test_a_failure_names_its_seed() -> None:
    assert Failure(7, 10, Broken("early"), "trace").seed == 7


def test_an_actor_that_lets_no_time_pass_is_noticed() -> None:
    timeline = Timeline(VirtualTime())
    timeline.call(Actor("restless", lambda: 0.0))

    with pytest.raises(StandsStill, match="restless"):
        timeline.run_for(1)


def test_a_clock_that_gains_shows_more_time_than_has_passed() -> None:
    time = VirtualTime()
    clock = VirtualClock(time, drift=0.5)
    time.now += 2_000_000

    assert clock.elapsed() == 3.0
    assert clock.true_seconds(3.0) == 2.0


def test_mercy_lets_faults_off_by_kind_and_by_name() -> None:
    mercy = Mercy(frozenset({"kill"}), frozenset({"flush.2", "kill.1"}))

    happened = [mercy.lets(kind, 1.0) for kind in ("kill", "flush", "flush", "crash")]

    assert happened == [False, False, True, False]
    assert [str(each) for each in mercy.strikes] == ["    1.000000 flush.2"]
    assert mercy.options == " --without kill --only flush.2,kill.1"


def test_a_failure_is_told_with_fewer_faults_and_by_a_command_that_shows_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    BUGS["a rescue ignores the lease"](monkeypatch)
    found = first_failure(steps=500)

    shrunk = shrink(found)

    assert len(shrunk.strikes) < len(found.strikes)
    [command] = [line for line in str(shrunk).splitlines() if line.startswith("To see it again")]
    assert main(command.partition("simulation ")[2].split()) == 1
    assert repr(shrunk.__cause__) in capsys.readouterr().out


def first_failure(*, steps: int) -> Failure:
    for seed in count():
        try:
            simulate(seed, steps=steps)
        except Failure as failure:
            return failure
    raise AssertionError("no seed fails")


def test_the_command_runs_as_many_seeds_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "3", "--first", "5", "--steps", "50", "--processes", "1"]) == 0

    assert capsys.readouterr().out.splitlines()[0].split() == ["seeds", "3"]


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("forget a run", "lost"),
        ("run a slot again", "extra"),
        ("run what was never to run", "extra"),
        ("run early", "early"),
    ],
)
def test_the_final_account_tells_what_is_wrong(harm: str, told: str) -> None:
    world = SmallWorld()
    world.create()
    world.pass_for(100)
    assert draw_up(world.judge.book, world.effects).done == 2
    [fence, _] = world.effects.starts
    start = world.effects.starts[fence]
    execution = start.execution

    if harm == "forget a run":
        del world.effects.starts[fence]
    elif harm == "run a slot again":
        again = replace(execution, fence=99)
        world.effects.starts[99] = replace(start, execution=again)
        world.effects.ended[99] = Ended.SUCCEEDED
    elif harm == "run early":
        early = replace(execution, started_at=execution.run_at - timedelta(seconds=1))
        world.effects.starts[fence] = replace(start, execution=early)
    else:
        del world.judge.book.decided[execution.schedule_id or ""]

    with pytest.raises(Broken, match=told):
        draw_up(world.judge.book, world.effects)


def test_a_world_that_has_a_name_is_the_same_for_everybody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = ["--world", "hourly", "--seeds", "1", "--steps", "1", "--processes", "1"]

    assert main(told) == 0

    shown = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:-1])
    assert float(shown["simulated hours"]) >= 10
    assert "hours a minute" in shown


def test_a_run_does_not_depend_on_what_was_run_before() -> None:
    chance = Chance(1)
    with chance.in_force():
        first = [new_id(START) for _ in range(3)]
    with Chance(1).in_force():
        again = [new_id(START) for _ in range(3)]

    assert again == first


def test_a_simulation_is_the_same_each_time_and_fails_with_its_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulation = Simulation(3, steps=100)
    assert simulation.run() == simulation.run()

    BUGS["a successor is not written"](monkeypatch)

    with pytest.raises(Failure, match="--seed 3") as caught:
        simulation.run()
    assert isinstance(caught.value.__cause__, Broken)
