"""Wall clocks: the instants of a wall time, in gaps and folds too."""

from datetime import UTC, datetime

from sempre.grids.wall_clock import gap_before, showings_of, wall_of

ROME = "Europe/Rome"


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_an_ordinary_wall_time_has_one_instant() -> None:
    found = showings_of(wall("2026-05-04T12:00"), ROME)

    assert found == ((utc("2026-05-04T10:00"),), None)


def test_a_wall_time_in_a_fold_has_two_instants() -> None:
    found = showings_of(wall("2026-10-25T02:30"), ROME)

    assert found.instants == (utc("2026-10-25T00:30"), utc("2026-10-25T01:30"))


def test_a_wall_time_in_a_gap_names_the_gap() -> None:
    found = showings_of(wall("2026-03-29T02:30"), ROME)

    assert found.instants == (utc("2026-03-29T01:30"),)
    assert found.gap == (
        utc("2026-03-29T01:00"),
        wall("2026-03-29T02:00"),
        wall("2026-03-29T03:00"),
    )


def test_a_gap_ends_at_its_jump_only() -> None:
    assert gap_before(utc("2026-03-29T01:00"), ROME) is not None
    assert gap_before(utc("2026-03-29T01:00:01"), ROME) is None
    assert gap_before(utc("2026-10-25T01:00"), ROME) is None


def test_a_wall_clock_shows_no_zone() -> None:
    assert wall_of(utc("2026-03-29T01:00"), ROME) == wall("2026-03-29T03:00")
