from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import RESULTS, TRIAL, Book, command_of, read_arguments, run
from bench.comparisons import COMPARISONS
from bench.measuring import Comparison, Duel
from bench.results import Measured, Results, read, write
from bench.servers import Place
from tests.unit.bench.figures import FACTS, RUN, comparison, measured, queues

LATER = "2026-11-17 06:00:00 UTC"


def test_what_is_written_reads_back_equal(tmp_path: Path) -> None:
    results = queues()

    write(results, tmp_path / "results.json")

    assert read(tmp_path / "results.json") == results


def test_a_file_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "results.json") == Results()


def test_numbers_have_no_more_digits_than_a_measurement_has() -> None:
    others = comparison("peer")

    results = Results().with_duel("x", others, measured(123_456.789, 0.000123456789, "peer"))

    [duel] = results.comparisons["x"].duels
    ((ours, theirs),) = duel.rounds
    assert (ours["drain"], theirs["drain"]) == (123_457.0, 0.000123457)


def test_a_later_run_replaces_what_it_measured_and_nothing_else() -> None:
    results = queues().with_duel("sqlite", comparison("huey"), measured(9.0, 3.0, "huey"))
    again = measured(30_000.0, 6_000.0, "pgqueuer, default", run=LATER)
    others = comparison("pgqueuer, default", "chancy & <more>", "bare psycopg")

    merged = results.with_run(LATER, FACTS).with_duel("postgresql", others, again)

    assert merged.comparisons["sqlite"] == results.comparisons["sqlite"]
    runs = {each.duel.name: each.run for each in merged.comparisons["postgresql"].measured}
    assert runs == {"pgqueuer, default": LATER, "chancy & <more>": RUN, "bare psycopg": RUN}
    assert list(merged.ordered(["sqlite", "postgresql"]).runs) == [RUN, LATER]


def test_our_own_figures_are_those_of_the_newest_run() -> None:
    others = comparison("pgqueuer, default", "chancy & <more>", "bare psycopg")
    again = measured(7.0, 6.0, "pgqueuer, default", run=LATER)

    result = queues().with_duel("postgresql", others, again).comparisons["postgresql"]

    assert result.last_run == LATER
    assert [numbers["drain"] for numbers in result.own_rounds] == [7.0]


def test_a_contestant_that_is_no_more_is_forgotten_and_so_is_a_run_without_figures() -> None:
    again = measured(7.0, 6.0, "bare psycopg", run=LATER)
    known = queues().with_run(LATER, FACTS)

    results = known.with_duel("postgresql", comparison("bare psycopg"), again)

    assert [duel.name for duel in results.comparisons["postgresql"].duels] == ["bare psycopg"]
    assert list(results.ordered(["postgresql"]).runs) == [LATER]


def test_a_comparison_that_cannot_be_run_is_told_and_keeps_its_figures() -> None:
    results = queues().with_error("postgresql", "no server").with_error("redis", "no server")

    told = results.comparisons["postgresql"]
    assert (told.error, len(told.duels)) == ("no server", 3)
    assert results.comparisons["redis"].duels == []
    again = measured(7.0, 6.0, "bare psycopg", run=LATER)
    assert (
        not results.with_duel("postgresql", comparison("bare psycopg"), again)
        .comparisons["postgresql"]
        .error
    )


def test_one_comparison_that_breaks_leaves_the_book_as_it_was_and_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_place: Place) -> Comparison:
        raise OSError(f"no room in {tmp_path.home()}/x")

    monkeypatch.setitem(COMPARISONS, "postgresql", broken)
    write(queues(), tmp_path / "results.json")
    book = Book(tmp_path / "results.json", "python -m bench", FACTS)
    given = read_arguments(["--data", str(tmp_path)])

    run("postgresql", given, book)

    kept = read(tmp_path / "results.json").comparisons["postgresql"]
    assert "postgresql cannot be run" in capsys.readouterr().err
    assert (kept.error, len(kept.duels)) == ("OSError('no room in ~/x')", 3)
    assert "It could not be run again: OSError" in (tmp_path / "results.md").read_text()


def test_an_interrupted_comparison_leaves_the_pairs_that_had_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = comparison("peer", "bare driver")
    first, second = whole.others

    def interrupted(_count: int) -> dict[str, float]:
        raise KeyboardInterrupt

    others = [first, replace(second, run=interrupted)]
    monkeypatch.setitem(COMPARISONS, "fork", lambda _place: replace(whole, others=others))
    book = Book(tmp_path / "results.json", "python -m bench", FACTS)

    with pytest.raises(KeyboardInterrupt):
        run("fork", read_arguments(["--data", str(tmp_path)]), book)

    [kept] = read(tmp_path / "results.json").comparisons["fork"].measured
    assert kept == Measured(Duel("peer", rounds=(({}, {}),) * 3), book.run)


def test_a_part_of_the_items_is_kept_elsewhere_than_what_may_be_quoted() -> None:
    assert read_arguments([]).results == RESULTS
    assert read_arguments(["--scale", "0.1"]).results == TRIAL
    assert read_arguments(["--results", "mine.json"]).results == Path("mine.json")


def test_the_command_says_how_to_repeat_a_run_and_not_where_its_files_were() -> None:
    words = ["--full", "--only", "sqlite,fork", "--rounds", "5", "--data", "elsewhere"]

    assert command_of(read_arguments([])) == "python -m bench"
    assert command_of(read_arguments(words)) == (
        "python -m bench --full --only sqlite,fork --rounds 5"
    )
