from math import inf

import pytest

from bench.measuring import (
    Comparison,
    Contestant,
    Duel,
    Failed,
    Figure,
    Numbers,
    Ratio,
    Target,
    check_count,
    compare,
    ratio,
    scaled,
)

RATE, COST = Figure("rate", "jobs/s"), Figure("cost", "s", is_rate=False)


def contestant(name: str, *answers: Numbers | Exception) -> tuple[Contestant, list[int]]:
    """Return one that gives these answers in turn, and what it was asked for."""
    asked: list[int] = []
    rest = iter(answers)

    def run(count: int) -> Numbers:
        asked.append(count)
        answer = next(rest)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Contestant(name, run, 1000), asked


def a_duel(*rounds: tuple[Numbers, Numbers]) -> Duel:
    return Duel("peer", rounds=rounds)


def test_of_a_rate_more_is_better() -> None:
    duel = a_duel(({"rate": 30.0}, {"rate": 10.0}), ({"rate": 20.0}, {"rate": 20.0}))

    assert ratio(duel, RATE) == Ratio(best=1.5, median=2.0, low=1.0, high=3.0)


def test_of_a_cost_less_is_better() -> None:
    duel = a_duel(({"cost": 1.0}, {"cost": 4.0}), ({"cost": 2.0}, {"cost": 5.0}))

    assert ratio(duel, COST) == Ratio(best=4.0, median=3.25, low=2.5, high=4.0)


def test_a_figure_that_one_of_them_does_not_have_is_not_compared() -> None:
    duel = a_duel(({"rate": 1.0, "cost": 1.0}, {"rate": 1.0}))

    assert ratio(duel, COST) is None
    assert ratio(Duel("peer"), RATE) is None


@pytest.mark.parametrize(("ours", "theirs", "best"), [(0.0, 3.0, inf), (0.0, 0.0, 1.0)])
def test_a_cost_of_nothing_is_infinitely_better_but_for_another_such(
    ours: float, theirs: float, best: float
) -> None:
    found = ratio(a_duel(({"cost": ours}, {"cost": theirs})), COST)

    assert found is not None
    assert found.best == best


def test_ours_and_the_other_take_turns() -> None:
    turns: list[str] = []

    def runner(name: str) -> Contestant:
        def run(_count: int) -> Numbers:
            turns.append(name)
            return {"rate": 1.0}

        return Contestant(name, run, 1)

    comparison = Comparison("", [RATE], runner("ours"), [runner("a"), runner("b")], rounds=2)

    list(compare(comparison, others=comparison.others))

    assert turns == ["ours", "a", "ours", "a", "ours", "b", "ours", "b"]


def test_a_failure_ends_its_own_pair_and_is_told() -> None:
    ours, _ = contestant("ours", *[{"rate": 1.0}] * 3)
    failing, _ = contestant("first", {"rate": 1.0}, Failed("7 of 10 jobs"))
    other, _ = contestant("second", {"rate": 2.0})
    comparison = Comparison("", [RATE], ours, [failing, other], rounds=2)

    first, second = compare(comparison, others=[failing, other])

    assert (len(first.rounds), first.error) == (1, "first: 7 of 10 jobs")
    # Then ours has no more answers: that is told as well, and does not end the run.
    assert len(second.rounds) == 1
    assert second.error.startswith("ours: ")


def test_whatever_a_peer_raises_is_its_failure() -> None:
    ours, _ = contestant("ours", {"rate": 1.0})
    failing, _ = contestant("peer", ValueError("no such server"))

    [duel] = compare(Comparison("", [RATE], ours, [failing]), others=[failing])

    assert duel.error == "peer: ValueError('no such server')"


def test_a_scale_asks_for_fewer_items_but_not_for_so_few_that_nothing_is_measured() -> None:
    def noop(_count: int) -> Numbers:
        return {}

    plenty, few = Contestant("", noop, 1000, least=100), Contestant("", noop, 7, least=100)

    assert [scaled(plenty, scale) for scale in (1.0, 0.5, 0.01)] == [1000, 500, 100]
    assert scaled(few, 0.01) == 7


def test_rounds_can_be_chosen() -> None:
    ours, _ = contestant("ours", {"rate": 1.0})
    peer, asked = contestant("peer", {"rate": 1.0})

    list(compare(Comparison("", [RATE], ours, [peer]), others=[peer], rounds=1, scale=0.1))

    assert asked == [100]


def test_less_or_more_than_all_of_the_work_is_an_error() -> None:
    check_count(10, 10)
    for done in (9, 11):
        with pytest.raises(Failed, match=f"{done} of 10 jobs"):
            check_count(done, 10)


def test_a_target_is_a_least_or_a_most() -> None:
    least, most = Target("T", "x", "", at_least=2.0), Target("T", "x", "", at_most=3.0)

    assert (least.is_met_by(2.0), least.is_met_by(1.9)) == (True, False)
    assert (most.is_met_by(3.0), most.is_met_by(3.1)) == (True, False)
    assert (least.wanted, most.wanted) == ("at least 2x", "at most 3x")
    assert (least.margin(1.0), most.margin(1.5), most.margin(0.0)) == (0.5, 2.0, inf)


def test_a_pair_is_given_as_soon_as_it_has_ended() -> None:
    ours, asked = contestant("ours", {"rate": 1.0}, {"rate": 1.0})
    others = [contestant("first", {"rate": 1.0})[0], contestant("second", {"rate": 1.0})[0]]

    pairs = compare(Comparison("", [RATE], ours, others), others=others, rounds=1)

    assert next(pairs).name == "first"
    assert len(asked) == 1
