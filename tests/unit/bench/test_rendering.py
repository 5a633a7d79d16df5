"""What is drawn from figures: pictures, tables and paragraphs, and that those on record are so."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.__main__ import RESULTS
from bench.charts import charts
from bench.drawing import Chart, Panel, Row, draw, scale_of
from bench.environments import ROOT
from bench.pages import PERFORMANCE, README, filled, machines, plots, summary, targets
from bench.rendering import PLOTS, render, rendered
from bench.reporting import NOTHING
from bench.results import Results, read
from tests.unit.bench.figures import comparison, measured, queues

SVG = "{http://www.w3.org/2000/svg}"
PAGE = "before\n<!-- bench: summary -->\nold\n<!-- end of bench -->\nafter\n"


def texts(svg: str) -> list[str]:
    """Return the texts of a picture; what is not well formed cannot be read."""
    return [each.text or "" for each in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def bars(svg: str) -> dict[str, list[float]]:
    """Return how long the bars of each kind are."""
    found: dict[str, list[float]] = {}
    for each in ET.fromstring(svg).iter(f"{SVG}rect"):  # noqa: S314 - ours
        found.setdefault(each.attrib["class"], []).append(float(each.attrib["width"]))
    return found


def test_a_picture_has_the_best_figures_and_says_who_failed() -> None:
    [(name, svg)] = charts(queues()).items()
    shown = texts(svg)

    assert name == "throughput-postgresql.svg"
    assert {"A title", "Sempre", "20,000", "5,000", "bare psycopg (limit)", "40,000"} <= set(shown)
    assert shown.index("chancy & <more>") > shown.index("pgqueuer, default")
    assert shown.count("failed") == 2


def test_bars_are_as_long_as_their_figures_and_who_failed_has_none() -> None:
    found = bars(next(iter(charts(queues()).values())))

    for panel in (0, 1):
        ours = found["ours"][panel]
        assert found["peer"][panel] == pytest.approx(ours / 4, rel=0.001)
        assert found["limit"][panel] == pytest.approx(ours * 2, rel=0.001)
    assert len(found["peer"]) == 2


def test_a_picture_is_told_to_those_who_do_not_see_it() -> None:
    svg = ET.fromstring(next(iter(charts(queues()).values())))  # noqa: S314 - ours

    assert svg.attrib["role"] == "img"
    assert svg.findtext(f"{SVG}title") == "A title"
    told = svg.findtext(f"{SVG}desc") or ""
    assert "pgqueuer, default: enqueue 10,000 jobs/s, drain 5,000 jobs/s." in told
    assert "chancy & <more>: enqueue failed, drain failed." in told


def test_figures_that_are_far_apart_are_on_a_logarithmic_scale() -> None:
    near, far = scale_of([1.0, 19.0], 100), scale_of([0.3, 30.0], 300)

    assert not near.is_log
    assert near.ticks() == [0, 5, 10, 15]
    assert far.is_log
    assert far.ticks() == [0.1, 1.0, 10.0]
    assert far.place(1.0) - far.place(0.1) == pytest.approx(far.place(10.0) - far.place(1.0))
    assert far.place(30.0) == pytest.approx(300)
    assert far.place(0.0) == 0


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [0.001, 1e6], [1e-9], [100.0, 1.0]])
def test_whatever_the_figures_are_a_scale_has_a_few_lines_on_it(values: list[float]) -> None:
    scale = scale_of(values, 100)

    assert 1 <= len(scale.ticks()) <= 6
    assert all(0 <= scale.place(tick) <= 100.1 for tick in scale.ticks())


def test_a_contestant_that_failed_later_keeps_its_figure_and_a_remark() -> None:
    row = Row("peer", "peer", [3.0], remark=", then failed")

    assert "3.00, then failed" in texts(draw(Chart("", "", [Panel("drain", "")], [row])))


def test_the_table_of_targets_has_the_worst_and_whether_all_are_met() -> None:
    lines = targets(queues()).splitlines()
    [fourth] = [line for line in lines if line.startswith("| T4 |")]

    assert len(lines) == 16
    assert fourth.endswith("| 4.00x pgqueuer, default (drain; A title) | yes |")
    assert lines[2].endswith("| - | not measured |")


def test_a_target_that_is_missed_is_told() -> None:
    again = measured(10.0, 5.0, "pgqueuer, default")
    others = comparison("pgqueuer, default", "chancy & <more>", "bare psycopg")

    told = targets(queues().with_duel("postgresql", others, again))

    assert "| 2.00x pgqueuer, default (drain; A title) | **no**, 1 of 1 |" in told


def test_the_paragraph_has_our_figures_and_ratios() -> None:
    told = " ".join(summary(queues()).split())

    assert "one worker does 20,000 one-off jobs a second" in told
    assert "4.00 times its default, 0.50 of what the bare driver can do." in told
    assert "1 of the 1 targets that were measured are met" in told


def test_without_figures_every_page_says_so() -> None:
    assert [each(Results()) for each in (summary, plots, machines)] == [NOTHING] * 3
    assert targets(Results()).count("not measured") == 14
    assert charts(Results()) == {}


def test_only_what_is_between_the_marks_is_written_anew() -> None:
    text = filled(README, PAGE, Results())

    assert text == PAGE.replace("old", NOTHING)
    assert filled(README, text, Results()) == text


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for summary"):
        filled(README, "nothing here", Results())


def test_pictures_of_what_is_no_longer_measured_are_removed(tmp_path: Path) -> None:
    for name in (README, PERFORMANCE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "bench").mkdir()

    render(queues(), tmp_path)
    drawn = [path.name for path in (tmp_path / PLOTS).iterdir()]
    render(Results(), tmp_path)

    assert drawn == ["throughput-postgresql.svg"]
    assert not list((tmp_path / PLOTS).iterdir())


def test_the_pages_and_pictures_on_record_are_what_the_data_gives() -> None:
    wanted = rendered(read(RESULTS), ROOT)
    found = {name: (ROOT / name).read_text() for name in wanted if (ROOT / name).exists()}
    pictures = {path.relative_to(ROOT).as_posix() for path in (ROOT / PLOTS).glob("*.svg")}

    assert found == wanted, "run python -m bench --render"
    assert pictures == {name for name in wanted if name.endswith(".svg")}
    # Every picture there is, is shown.
    page = found[PERFORMANCE]
    assert all(f"]({name.removeprefix('docs/')})" in page for name in pictures)
