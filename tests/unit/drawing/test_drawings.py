"""Drawings are well-formed SVG that a page with a strict policy can embed, whatever names say."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from sempre.drawing import (
    STYLE,
    Bar,
    Day,
    Lane,
    LoadCurve,
    Planned,
    Point,
    Ran,
    bars_table,
    calendar,
    calendar_table,
    gantt,
    gantt_table,
    load,
    sparkline,
    trend,
    trend_table,
)

NOW = datetime(2026, 10, 24, 20, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
EVIL = """"><script>alert(1)</script><a href="https://evil.example/">&amp;]]>\x00\x1b\ud800'"""
NAMESPACE = "{http://www.w3.org/2000/svg}"


def a_load(text: str, *, embedded: bool) -> str:
    curve = LoadCurve(NOW, HOUR / 60, [1, 2] * 300, [3, 5] * 300, [1, 0] * 300, "Europe/Rome", 4)
    return load(curve, title=text, embedded=embedded)


def a_sparkline(text: str, *, embedded: bool) -> str:
    bars = [Bar(3, "succeeded", text), Bar(9, "failed", text), Bar(0, text)]
    return sparkline(bars, title=text, embedded=embedded)


def a_calendar(text: str, *, embedded: bool) -> str:
    days = [Day(date(2026, 1, 1) + timedelta(days=n), n % 5, n % 3 % 2, n % 7) for n in range(365)]
    return calendar(days, title=text, embedded=embedded)


def a_trend(text: str, *, embedded: bool) -> str:
    points = [Point(NOW + n * HOUR, n * 1.5, text, text) for n in range(30)]
    return trend(points, title=text, levels=[(text, 20), ("p95", 40)], embedded=embedded)


def a_gantt(text: str, *, embedded: bool) -> str:
    ran = [Ran(NOW - 2 * HOUR, NOW - HOUR, "failed", text), Ran(NOW - HOUR / 2, None, "running")]
    lanes = [Lane(text, ran, [Planned(NOW + HOUR, HOUR, text), Planned(NOW + 2 * HOUR)])]
    window = NOW - 6 * HOUR, NOW + 6 * HOUR
    return gantt(lanes, window, NOW, title=text, load=[1, 4, 2], embedded=embedded)


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - drawn here


DRAWINGS = [a_load, a_sparkline, a_calendar, a_trend, a_gantt]
Draw = Callable[..., str]


@pytest.fixture(params=DRAWINGS, ids=lambda draw: draw.__name__)
def draw(request: pytest.FixtureRequest) -> Draw:
    found: Draw = request.param
    return found


@pytest.mark.parametrize("text", ["Load", EVIL])
@pytest.mark.parametrize("embedded", [True, False])
def test_a_drawing_is_well_formed_and_has_a_title_and_a_role(
    draw: Draw, text: str, *, embedded: bool
) -> None:
    root = parsed(draw(text, embedded=embedded))

    title = root.find("title") if embedded else root.find(f"{NAMESPACE}title")
    assert title is not None
    assert (
        title.text
        == root.get("aria-label")
        == re.sub("[\x00\x1b\ud800]", "\N{REPLACEMENT CHARACTER}", text)
    )
    assert root.get("role") == "img"
    assert root[0] is title


@pytest.mark.parametrize("text", ["Load", EVIL])
def test_a_drawing_has_no_script_no_link_and_no_style_of_its_own(draw: Draw, text: str) -> None:
    root = parsed(draw(text, embedded=True))

    for element in root.iter():
        assert element.tag in {
            *("svg", "title", "desc", "rect", "line", "polyline", "polygon", "text"),
        }
        assert not {"style", "href", "onload", "id"} & element.attrib.keys()
        assert re.fullmatch(r"[a-z0-9 -]*", element.get("class", ""))


def test_a_drawing_names_no_foreign_address(draw: Draw) -> None:
    assert "://" not in draw("Load", embedded=True)
    assert set(re.findall(r"\w+://[^\s\"']+", draw("Load", embedded=False))) == {
        "http://www.w3.org/2000/svg"
    }


def test_a_file_of_its_own_carries_the_style_and_a_page_does_not(draw: Draw) -> None:
    standalone = parsed(draw("Load", embedded=False))

    style = standalone.find(f"{NAMESPACE}style")
    assert style is not None
    assert style.text == STYLE
    assert "prefers-color-scheme: dark" in STYLE
    assert "<style" not in draw("Load", embedded=True)


def test_every_class_of_a_drawing_has_a_rule(draw: Draw) -> None:
    root = parsed(draw("Load", embedded=True))

    rules = set(re.findall(r"\.([a-z0-9-]+)", STYLE))
    charts = {"load", "sparkline", "calendar", "trend", "gantt"}
    used = {word for each in root.iter() for word in each.get("class", "").split()}
    assert used - rules - charts <= {"load"}, used - rules


def test_every_place_lies_inside_the_drawing(draw: Draw) -> None:
    root = parsed(draw("Load", embedded=True))

    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in root.iter():
        for name, most in (("x", width), ("x1", width), ("x2", width), ("y", height)):
            assert 0 <= float(element.get(name, 0)) <= most, element.attrib


def test_drawings_of_nothing_are_drawings() -> None:
    nothing = [
        load(LoadCurve(NOW, HOUR, [], [])),
        sparkline([]),
        calendar([]),
        trend([]),
        gantt([], (NOW, NOW + HOUR), NOW),
    ]

    for text in nothing:
        assert parsed(text).get("role") == "img"


def test_days_are_labelled_in_one_zone_also_where_clocks_change() -> None:
    curve = LoadCurve(NOW, HOUR, [1] * 72, [1] * 72, (), "Europe/Rome")

    root = parsed(load(curve))

    labels = [each.text for each in root.iter("text")]
    assert [each for each in labels if each in {"Sun 25", "Mon 26", "Tue 27"}] == [
        *("Sun 25", "Mon 26", "Tue 27")
    ]
    assert "times: Europe/Rome" in labels


@pytest.mark.parametrize("hours", [1, 6, 24, 168])
def test_a_timeline_has_a_few_labels_at_every_zoom(hours: int) -> None:
    lanes = [Lane(f"s{n}", [], [Planned(NOW + HOUR / 2)]) for n in range(250)]

    root = parsed(gantt(lanes, (NOW, NOW + hours * HOUR), NOW))

    labels = [each for each in root.iter("text") if each.get("class") == "faint middle"]
    assert 3 <= len(labels) <= 14
    names = [each for each in root.iter("text") if each.get("class") == "end"]
    assert len(names) == 200


def test_a_run_in_flight_ends_at_the_present() -> None:
    lane = Lane("a", [Ran(NOW, None, "running")])

    root = parsed(gantt([lane], (NOW - HOUR, NOW + HOUR), NOW + HOUR / 2))

    [bar] = [each for each in root.iter("rect") if "running" in each.get("class", "")]
    [line] = [each for each in root.iter("line") if each.get("class") == "now"]
    assert float(bar.get("x", 0)) + float(bar.get("width", 0)) == pytest.approx(
        float(line.get("x1", 0)), abs=0.2
    )


def test_missed_days_are_hatched_and_days_without_runs_are_empty() -> None:
    days = [Day(date(2026, 1, 1), 4, 4), Day(date(2026, 1, 2), 0, 0, 2), Day(date(2026, 1, 4), 9)]

    root = parsed(calendar(days))

    kinds = [each.get("class") for each in root.iter("rect")]
    assert kinds == ["failures-3", "empty", "empty", "failures-0"]
    assert len([each for each in root.iter("line") if each.get("class") == "hatch"]) == 3


def test_a_bucket_shows_the_highest_load_and_all_starts() -> None:
    curve = LoadCurve(NOW, HOUR, [1, 5, 2, 0], [1, 9, 2, 3], [1, 1, 1, 4])

    short = curve.bucketed(2)

    assert (list(short.p50), list(short.p95), list(short.starts)) == ([5, 2], [9, 3], [2, 5])
    assert short.step == 2 * HOUR


def test_every_drawing_has_its_table() -> None:
    lanes = [Lane("a", [Ran(NOW, NOW + HOUR, "failed")], [Planned(NOW + HOUR, HOUR)])]

    assert bars_table([Bar(90, "failed", "run 1")]).rows == (("run 1", "failed", "1.5m"),)
    assert calendar_table([Day(date(2026, 1, 1), 4, 1)]).rows == (("2026-01-01", "4", "1", "0"),)
    assert trend_table([Point(NOW, 0.25)]).rows[0][1:] == ("0.25s", "succeeded")
    assert [row[2:] for row in gantt_table(lanes).rows] == [("1h", "failed"), ("1h", "planned")]
    assert LoadCurve(NOW, HOUR, [1], [2], [3]).table().rows == (
        ("2026-10-24 20:00+00:00", "3", "1", "2"),
    )
