"""Every bad value is refused by its own kind of error, which names field, value and remedy."""

from datetime import UTC, date, datetime, timedelta
from enum import Enum

import pytest

from sempre.domain.definition import define
from sempre.domain.names import check_name, check_word
from sempre.errors import (
    ArgumentsError,
    GridError,
    InstantError,
    IntervalError,
    InvalidInput,
    NamingError,
    PolicyError,
)
from sempre.grids import Every

NAMES = ["", " ", "a" * 201, " a", "a ", "a\n", "a\tb", "a\0b", "\x1b[31m", "a\u200bb", "\ud800"]
WORDS = ["", "a b", "a\r\nput 1", "a\n", "-a", ".a", "ä", "a" * 101, "a\0", "a,b", "a;b", "*"]
NOT_TEXT = [None, 1, True, b"a", ["a"], object()]
DURATIONS = ["soon", "", "-1s", -1, True, None, float("nan"), float("inf"), "1 month", [1], "1 x"]
COUNTS = [-1, True, 1.0, "1", [1]]

REFUSED: list[tuple[str, object, type[InvalidInput]]] = [
    *(("job", bad, NamingError) for bad in [*NAMES, *NOT_TEXT]),
    *(("queue", bad, NamingError) for bad in [*WORDS, *NOT_TEXT]),
    *(("owner", bad, NamingError) for bad in [*WORDS, *NOT_TEXT[1:]]),
    *(("tags", [bad], NamingError) for bad in [*WORDS, None, 1]),
    *(("tags", bad, PolicyError) for bad in ["a", None, 1, {"a": 1}, b"a"]),
    *(("grid", bad, GridError) for bad in ["0 2 * * *", None, 60, Every, timedelta(hours=1)]),
    *(("priority", bad, PolicyError) for bad in [*COUNTS, None, 2**31, 2**70]),
    *(("catch_up_max", bad, PolicyError) for bad in COUNTS),
    *(("limit", bad, PolicyError) for bad in [*COUNTS, 0]),
    *(("keep", bad, PolicyError) for bad in [*COUNTS, None]),
    *(("retention", bad, IntervalError) for bad in [*DURATIONS[:5], "0s", "59s", "101 y"]),
    *(("retry", bad, PolicyError) for bad in [*COUNTS, None, {"limit": 3}]),
    *(("enabled", bad, PolicyError) for bad in [1, 0, "true", None]),
    *(("catch_up", bad, PolicyError) for bad in [1, 0, "all", None]),
    *(("overlap", bad, PolicyError) for bad in ["forbid", "", None, 1, ["skip"], "SKIP"]),
    *(("on_unknown", bad, PolicyError) for bad in ["retry", "", None, 1, "Rerun"]),
    *(("jitter", bad, IntervalError) for bad in DURATIONS),
    *(("tolerance", bad, IntervalError) for bad in DURATIONS),
    *(("deadline", bad, IntervalError) for bad in [*DURATIONS[:5], "0s", "0.5s", "101 y"]),
    *(("timeout", bad, IntervalError) for bad in [0, "500 weeks 1 month", "40000d"]),
    *(("catch_up_within", bad, IntervalError) for bad in [0, "0s", "never"]),
    *(("until", bad, InstantError) for bad in ["soon", "2026-01-01", 0, 1.5, True, b"", []]),
    ("until", datetime(2026, 1, 1), InstantError),  # noqa: DTZ001 - it is what is refused
    ("until", date(2026, 1, 1), InstantError),
    ("until", "0001-01-01T00:00+14:00", InstantError),
    *(("note", bad, PolicyError) for bad in [None, 1, "a" * 2001, "a\0b", b"a"]),
    *(("args", bad, ArgumentsError) for bad in [None, [], "a", 1, [("a", 1)], {1}]),
]


@pytest.mark.parametrize(("field", "value", "error"), REFUSED)
def test_a_bad_value_is_refused_by_its_own_kind_of_error(
    field: str, value: object, error: type[InvalidInput]
) -> None:
    given = {"job": "bill", "grid": Every("1h"), field: value}

    with pytest.raises(InvalidInput) as caught:
        define(**given)  # type: ignore[arg-type]

    assert type(caught.value) is error
    assert caught.value.field.split(".")[0] in (field, "unit")
    assert caught.value.allowed
    assert str(caught.value).startswith(f"{caught.value.field}: ")
    assert str(caught.value).isprintable()


def test_the_refused_value_is_kept_as_it_was_given() -> None:
    with pytest.raises(PolicyError) as caught:
        define(job="bill", grid=Every("1h"), overlap="wiat")

    assert caught.value.value == "wiat"
    assert caught.value.allowed == "skip, wait, allow, replace"
    assert caught.value.hint == "Did you mean wait?"
    assert str(caught.value) == (
        'overlap: "wiat" is not accepted; allowed: skip, wait, allow, replace. Did you mean wait?'
    )


@pytest.mark.parametrize(
    ("name", "better"),
    [(" bill ", "bill"), ("bill\n", "bill"), ("night\tly  run", "night ly run"), ("a\0b", "a b")],
)
def test_a_name_with_stray_characters_is_refused_with_a_better_one(name: str, better: str) -> None:
    with pytest.raises(NamingError) as caught:
        check_name("job", name)

    assert caught.value.hint == f"Perhaps {better}?"
    assert check_name("job", better) == better


@pytest.mark.parametrize("name", [" ", "\n\n", "\u200b"])
def test_a_name_of_nothing_but_stray_characters_has_no_better_one(name: str) -> None:
    with pytest.raises(NamingError) as caught:
        check_name("job", name)

    assert caught.value.hint == ""


@pytest.mark.parametrize("name", ["a", "a" * 200, "päivä", "日次", "pair:bill/3", "a b", "☃"])
def test_a_readable_name_is_taken_as_it_is(name: str) -> None:
    assert check_name("job", name) == name


@pytest.mark.parametrize("word", ["a", "A_9", "a.b:c/d-e", "0", "_", "a" * 100])
def test_a_plain_word_is_taken_as_it_is(word: str) -> None:
    assert check_word("queue", word) == word


def nested(levels: int) -> list[object]:
    inner: list[object] = []
    for _ in range(levels):
        inner = [inner]
    return inner


class Unshowable:
    """Something whose text cannot be had."""

    def __repr__(self) -> str:
        message = "no text"
        raise RuntimeError(message)


class Colour(Enum):
    RED = 1


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)
STRANGE = {
    "deep": nested(100_000),
    "huge integer": 10**5000,
    "unshowable": Unshowable(),
    "enum": Colour.RED,
    "class": Unshowable,
    "long text": "x" * 1_000_000,
    "circle": CIRCLE,
}
FIELDS = [
    *("job", "grid", "args", "queue", "priority", "enabled", "catch_up", "catch_up_within"),
    *("catch_up_max", "tolerance", "deadline", "overlap", "jitter", "until", "limit", "retry"),
    *("timeout", "on_unknown", "retention", "keep", "tags", "owner", "note"),
]


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("deep"),
        pytest.param("huge integer"),
        pytest.param("unshowable"),
        "enum",
        "class",
        "long text",
        "circle",
    ],
)
def test_whatever_is_given_for_any_field_is_refused_as_bad_input(what: str) -> None:
    for field in FIELDS:
        given = {"job": "bill", "grid": Every("1h"), field: STRANGE[what]}

        with pytest.raises(InvalidInput) as caught:
            define(**given)  # type: ignore[arg-type]

        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("field", ["limit", "catch_up_max", "keep"])
def test_a_count_that_no_store_can_hold_is_refused(field: str) -> None:
    with pytest.raises(PolicyError):
        define(job="bill", grid=Every("1h"), **{field: 2**63})


@pytest.mark.parametrize("field", ["tolerance", "deadline", "timeout", "jitter", "catch_up_within"])
def test_a_duration_of_more_than_a_century_is_refused_however_written(field: str) -> None:
    for value in ("36600d1s", 36_600 * 86_400 + 1, timedelta(days=36_601), timedelta.max):
        with pytest.raises(IntervalError):
            define(job="bill", grid=Every("1h"), **{field: value})


def test_a_note_that_no_store_can_encode_is_refused() -> None:
    with pytest.raises(InvalidInput):
        define(job="bill", grid=Every("1h"), note="\ud800")


@pytest.mark.parametrize("year", [9999, 2200])
def test_any_end_that_was_accepted_can_be_counted_with(year: int) -> None:
    until = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)

    assert define(job="bill", grid=Every("1h"), until=until).until == until
