"""The time vectors: what other programs and their manuals agree on, kept as facts."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sempre import Cron, Every, Grid
from sempre.errors import NeverFires, SempreError

Vector = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "vectors"
MICROSECOND = timedelta(microseconds=1)
ELSEWHERE = (
    ZoneInfo("Asia/Tokyo"),
    ZoneInfo("America/New_York"),
    timezone(timedelta(hours=-9, minutes=-30)),
    timezone(timedelta(hours=5, minutes=45, seconds=17)),
)


def load() -> list[Vector]:
    paths = sorted(FOLDER.glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


VECTORS = load()


def of_kind(*kinds: str, optional: bool = False) -> list[Any]:
    chosen = (
        vector
        for vector in VECTORS
        if vector["kind"] in kinds and (vector.get("tier") == "optional") is optional
    )
    return [pytest.param(vector, id=vector["id"]) for vector in chosen]


ANSWERED = of_kind("cron", "anchor")


def grid_of(vector: Vector) -> Grid:
    if vector["kind"] == "cron":
        return Cron(vector["expr"], timezone=vector["tz"])
    interval, unit, anchor = vector["interval"], vector["unit"], vector["anchor"]
    return Every(interval, unit, anchor=anchor, timezone=vector["tz"])


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def expected_of(vector: Vector) -> list[datetime]:
    return [instant(text) for text in vector["expect"]]


def in_between(start: datetime, slots: Iterable[datetime], *, seed: str) -> list[datetime]:
    """Return one instant between each two slots, always the same ones for one vector."""
    random = Random(seed)  # noqa: S311 - the same instants every time, not secrets
    chosen = []
    for slot in slots:
        chosen.append(start + random.randrange((slot - start) // MICROSECOND) * MICROSECOND)
        start = slot
    return chosen


def test_all_vectors_are_here() -> None:
    counts = {path.name: len(path.read_text().splitlines()) for path in FOLDER.glob("*.jsonl")}

    assert counts == {
        "anchor.jsonl": 76,
        "cron.jsonl": 242,
        "cron_invalid.jsonl": 81,
        "dst.jsonl": 121,
    }
    assert len({vector["id"] for vector in VECTORS}) == sum(counts.values())


@pytest.mark.parametrize("vector", ANSWERED)
def test_a_vector_gives_its_times(vector: Vector) -> None:
    expected = expected_of(vector)

    assert grid_of(vector).times(instant(vector["after"]), len(expected)) == expected


@pytest.mark.parametrize("vector", of_kind("cron", optional=True))
def test_optional_syntax_is_right_or_refused(vector: Vector) -> None:
    expected = expected_of(vector)

    try:
        grid = grid_of(vector)
    except SempreError:
        return

    assert grid.times(instant(vector["after"]), len(expected)) == expected


@pytest.mark.parametrize("vector", of_kind("cron_invalid"))
def test_an_invalid_expression_is_refused(vector: Vector) -> None:
    with pytest.raises(SempreError) as refused:
        Cron(vector["expr"])

    assert not isinstance(refused.value, NeverFires)


@pytest.mark.parametrize("vector", of_kind("cron_never"))
def test_an_expression_without_a_date_never_fires(vector: Vector) -> None:
    with pytest.raises(NeverFires):
        Cron(vector["expr"])


@pytest.mark.parametrize("vector", ANSWERED)
def test_the_chain_is_the_same_from_wherever_it_is_asked(vector: Vector) -> None:
    grid, start, slots = grid_of(vector), instant(vector["after"]), expected_of(vector)
    before = [start, *slots[:-1]]

    from_each = [grid.after(slot) for slot in before]
    from_just_before = [grid.after(slot - MICROSECOND) for slot in slots]
    from_between = [grid.after(t) for t in in_between(start, slots, seed=vector["id"])]

    assert from_each == from_just_before == from_between == slots


@pytest.mark.parametrize("vector", ANSWERED)
def test_between_and_passed_agree_with_times(vector: Vector) -> None:
    grid, start, slots = grid_of(vector), instant(vector["after"]), expected_of(vector)

    for number, slot in enumerate(slots, start=1):
        passed = grid.passed(start, slot)
        assert grid.between(start, slot) == slots[:number]
        assert passed is not None
        assert (passed.first, passed.last, passed.count) == (slots[0], slot, number)
    assert grid.between(start, slots[0] - MICROSECOND) == []
    assert grid.passed(start, slots[0] - MICROSECOND) is None


@pytest.mark.parametrize("vector", ANSWERED)
def test_a_grid_comes_back_from_json_with_the_same_answers(vector: Vector) -> None:
    grid, start, slots = grid_of(vector), instant(vector["after"]), expected_of(vector)

    again = Grid.from_json(json.loads(json.dumps(grid.to_json())))

    assert again == grid
    assert hash(again) == hash(grid)
    assert again.times(start, len(slots)) == slots


@pytest.mark.parametrize("vector", ANSWERED)
def test_an_instant_asked_in_another_zone_is_the_same_instant(vector: Vector) -> None:
    grid, start, slots = grid_of(vector), instant(vector["after"]), expected_of(vector)

    for zone in ELSEWHERE:
        assert grid.times(start.astimezone(zone), len(slots)) == slots
        assert grid.between(start.astimezone(zone), slots[-1].astimezone(zone)) == slots
