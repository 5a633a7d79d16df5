"""The parts of a simulation, each by itself."""

from datetime import timedelta

import pytest

from sempre.config import Settings
from sempre.errors import BrokerUnavailable, StoreUnavailable
from sempre.ports.broker import Message
from sempre.testing.simulation import Failure, VirtualClock, VirtualTime
from sempre.testing.simulation.__main__ import main
from sempre.testing.simulation.chance import Chance
from sempre.testing.simulation.faults import NO_FAULTS, Faults
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
