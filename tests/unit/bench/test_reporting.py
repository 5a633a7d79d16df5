from dataclasses import replace

from bench.measuring import Duel, Figure, Target
from bench.reporting import errors, markdown, plain, raw, shown, table, targets
from bench.results import Measured, Result, Results

RATE, COST = Figure("rate", "jobs/s"), Figure("cost", "s", is_rate=False)
RUN, EARLIER = "2026-11-16 06:00:00 UTC", "2026-11-15 06:00:00 UTC"
WANTED = (Target("T1", "peer", "rate", at_least=1.2), Target("T2", "driver", "rate", 0.6))


def a_result(*duels: Duel) -> Result:
    measured = [Measured(duel, RUN) for duel in duels]
    return Result("A title", [RATE, COST], "Sempre", WANTED, "A note.", measured)


DONE = Duel("peer", rounds=[({"rate": 30.0, "cost": 1.0}, {"rate": 20.0, "cost": 4.0})])
BROKEN = Duel("driver", "limit", error="driver: 7 of 10 jobs")


def test_a_cell_has_the_ratio_and_its_spread() -> None:
    rounds = [({"rate": 30.0}, {"rate": 20.0}), ({"rate": 20.0}, {"rate": 20.0})]

    head, row = table(a_result(Duel("peer", rounds=rounds)))

    assert head == ["", "rate", "cost"]
    assert row == ["peer", "1.50x (1.25, 1.00-1.50)", "-"]


def test_a_failure_is_in_the_table_and_told() -> None:
    result = a_result(DONE, BROKEN)

    assert table(result)[2] == ["driver (limit)", "failed", "failed"]
    assert errors(result) == ["driver failed: driver: 7 of 10 jobs"]


def test_the_figures_themselves_are_the_best_of_each() -> None:
    rounds = [({"rate": 30.0, "cost": 2.0}, {"rate": 2.0}), ({"rate": 400.0}, {"rate": 5.0})]

    assert raw(a_result(Duel("peer", rounds=rounds))) == [
        ["", "rate, jobs/s", "cost, s"],
        ["Sempre", "400", "2.00"],
        ["peer", "5.00", "-"],
    ]


def test_a_target_says_whether_it_is_met_and_one_without_a_figure_says_nothing() -> None:
    assert targets(a_result(DONE, BROKEN)) == ["T1: rate at least 1.2x peer: met, 1.50x"]

    slow = Duel("peer", rounds=[({"rate": 1.0}, {"rate": 2.0})])
    assert targets(a_result(slow)) == ["T1: rate at least 1.2x peer: NOT met, 0.50x"]


def test_a_target_without_a_contestant_is_about_our_own_figure() -> None:
    result = a_result(DONE)
    own = [Target("T3", "", "cost", at_most=0.5), Target("T3", "", "rate", at_least=30.0)]

    assert targets(replace(result, targets=own)) == [
        "T3: cost at most 0.5: NOT met, 1.00",
        "T3: rate at least 30: met, 30.0",
    ]


def test_a_table_on_the_screen_is_aligned() -> None:
    assert plain([["", "rate"], ["peer", "1.50x"]]) == "       rate\npeer  1.50x"


def test_numbers_have_as_many_digits_as_they_deserve() -> None:
    numbers = (0.0, 0.0123, 0.123, 12.34, 61_600.4)

    assert [shown(number) for number in numbers] == ["0", "0.012", "0.12", "12.3", "61,600"]


def test_who_failed_after_some_rounds_is_in_the_table_with_both() -> None:
    _, row = table(a_result(replace(DONE, error="peer: 7 of 10 jobs")))

    assert row[1] == "1.50x (1.50, 1.50-1.50), then failed"


def test_the_report_has_machine_ratios_targets_failures_and_figures() -> None:
    text = markdown(Results({RUN: {"kernel": "Linux 6"}}, {"x": a_result(DONE, BROKEN)}))

    for part in (
        f"Run of {RUN}:\n\n- kernel: Linux 6",
        f"## A title\n\nA note.\n\nMeasured {RUN}.",
        "| peer | 1.50x (1.50, 1.50-1.50) | 4.00x (4.00, 4.00-4.00) |",
        "- T1: rate at least 1.2x peer: met, 1.50x\n- driver failed: driver: 7 of 10 jobs",
        "| Sempre | 30.0 | 1.00 |",
    ):
        assert part in text


def test_what_comes_from_an_earlier_run_is_told_with_its_date() -> None:
    result = a_result(DONE)
    measured = [*result.measured, Measured(BROKEN, EARLIER)]

    text = markdown(Results({}, {"x": replace(result, measured=measured)}))

    assert f"Measured {RUN}. Measured {EARLIER}, beside ours of then: driver." in text
