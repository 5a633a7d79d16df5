"""Arguments are plain JSON of a bounded size; anything else is refused, at once, by its path."""

import json
from collections import OrderedDict, UserDict
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.arguments import check_arguments
from sempre.errors import ArgumentsError

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)
ANYTHING = st.recursive(
    SCALARS
    | st.text()
    | st.floats()
    | st.integers()
    | st.binary(max_size=3)
    | st.datetimes()
    | st.decimals()
    | st.tuples(st.integers())
    | st.frozensets(st.integers(), max_size=2)
    | st.sampled_from([..., object, len, range(3)]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=4)
    ),
)


def nested_lists(levels: int, inner: object = None) -> object:
    for _ in range(levels):
        inner = [] if inner is None else [inner]
    return inner


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_plain_json_is_taken_and_survives_storing_unchanged(args: dict[str, object]) -> None:
    taken = check_arguments(args)

    assert repr(taken) == repr(args)
    assert repr(json.loads(json.dumps(taken))) == repr(taken)


@given(st.dictionaries(st.text() | st.integers(), ANYTHING, max_size=5))
def test_whatever_is_taken_survives_storing_unchanged(args: dict[str, object]) -> None:
    try:
        taken = check_arguments(args)
    except ArgumentsError:
        return

    stored = json.dumps(taken, allow_nan=False)
    assert repr(json.loads(stored)) == repr(taken) == repr(args)
    assert "\\u0000" not in stored.replace("\\\\", "")


@pytest.mark.parametrize(
    ("bad", "hint"),
    [
        ({1}, "Write a list."),
        ((1, 2), "Write a list."),
        (b"x", "Write base64 text."),
        (bytearray(b"x"), ""),
        (datetime(2026, 1, 1, tzinfo=UTC), ""),
        (object(), ""),
        (1j, ""),
        (range(3), ""),
        (float("nan"), "JSON has no NaN and no infinity; pass null."),
        (float("inf"), "JSON has no NaN and no infinity; pass null."),
        (2**63, "Pass larger numbers as text."),
        (-(2**63) - 1, "Pass larger numbers as text."),
        ("a\0b", ""),
        ("\ud800", ""),
    ],
)
def test_what_is_not_json_is_refused_by_its_path(bad: object, hint: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"rows": [{"price": 1}, {"price": bad}]})

    assert caught.value.field == "args.rows[1].price"
    assert caught.value.allowed
    assert caught.value.hint == hint


@pytest.mark.parametrize("key", [1, None, True, 1.5, b"a", ("a",)])
def test_keys_must_be_texts(key: object) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"outer": {key: 1}})

    assert (caught.value.field, caught.value.value) == ("args.outer", key)


@pytest.mark.parametrize("key", ["a\0", "\ud800"])
def test_keys_are_texts_like_any_other(key: str) -> None:
    with pytest.raises(ArgumentsError):
        check_arguments({key: 1})


@pytest.mark.parametrize(
    "number",
    [
        2**63 - 1,
        pytest.param(-(2**63)),
    ],
)
def test_every_64_bit_integer_is_taken(number: int) -> None:
    assert check_arguments({"n": number}) == {"n": number}


@pytest.mark.parametrize(
    "number",
    [10**30, pytest.param(10**5000), pytest.param(-(10**5000))],
    ids=["30", "5000", "-5000"],
)
def test_integers_beyond_64_bits_are_refused_however_long(number: int) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"n": number})

    assert caught.value.allowed == "64-bit integers"


def test_thirty_two_levels_are_taken() -> None:
    assert check_arguments({"a": nested_lists(31)}) == {"a": nested_lists(31)}


def test_thirty_two_levels_are_taken_with_something_in_the_innermost() -> None:
    deepest = {"a": nested_lists(31, inner=1)}

    assert check_arguments(deepest) == deepest


@pytest.mark.parametrize("levels", [32, 33, 1000, 100_000])
def test_more_levels_are_refused(levels: int) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"a": nested_lists(levels)})

    assert "32 levels" in caught.value.allowed


def test_a_list_that_contains_itself_is_refused() -> None:
    circle: list[object] = [1]
    circle.append(circle)

    with pytest.raises(ArgumentsError, match="32 levels"):
        check_arguments({"a": circle})


def test_an_object_that_contains_itself_is_refused() -> None:
    circle: dict[str, object] = {}
    circle["again"] = circle

    with pytest.raises(ArgumentsError, match="32 levels"):
        check_arguments(circle)


def test_a_value_that_unfolds_beyond_all_bounds_is_refused_at_once() -> None:
    visits = 0

    class Visited(list[object]):
        def __iter__(self) -> Iterator[object]:
            nonlocal visits
            visits += 1
            return super().__iter__()

    unfolding = Visited()
    for _ in range(18):
        unfolding = Visited([unfolding, unfolding])

    with pytest.raises(ArgumentsError):
        check_arguments({"a": unfolding})
    assert visits < 100_000


def test_sixty_four_kibibytes_are_taken_and_one_more_byte_is_not() -> None:
    room = 65_536 - len('{"a":""}')

    assert check_arguments({"a": "x" * room})
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"a": "x" * (room + 1)})

    assert caught.value.field == "args"
    assert "65,536 bytes" in caught.value.allowed
    assert "65,537 bytes" in caught.value.hint


def test_bytes_are_counted_not_characters() -> None:
    assert check_arguments({"a": "€" * 21_000})
    with pytest.raises(ArgumentsError, match="65,536"):
        check_arguments({"a": "€" * 22_000})


@pytest.mark.parametrize(
    "huge",
    ["x" * 50_000_000, [0] * 500_000, {"k": [None] * 500_000}],
    ids=["text", "list", "object"],
)
def test_what_is_far_too_large_is_refused(huge: object) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments({"a": huge})

    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "a=1",
        1,
        [("a", 1)],
        pytest.param(nested_lists(100_000)),
        list(range(100_000)),
        pytest.param(10**5000),
    ],
    ids=["none", "list", "text", "number", "pairs", "deep", "long", "huge"],
)
def test_arguments_must_be_an_object(value: object) -> None:
    with pytest.raises(ArgumentsError) as caught:
        check_arguments(value)

    assert caught.value.field == "args"
    assert "keyword arguments by name" in caught.value.allowed


@pytest.mark.parametrize(
    "value", [OrderedDict(a=1), UserDict(a=1), MappingProxyType({"a": 1})], ids=type
)
def test_any_mapping_is_taken_as_an_object(value: object) -> None:
    taken = check_arguments({"m": value})

    assert repr(taken) == "{'m': {'a': 1}}"


class Plain(str, Enum):  # noqa: UP042 - the older way, whose text is not its value
    RED = "red"


class Modern(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param(
            Plain.RED,
            "red",
        ),
        (Modern.RED, "red"),
        (Number.ONE, 1),
    ],
)
def test_an_enumeration_is_kept_by_its_value_as_json_does(value: object, kept: object) -> None:
    taken = check_arguments({"v": value})

    assert taken == {"v": kept}
    assert type(taken["v"]) is type(kept)
    assert json.loads(json.dumps({"v": value})) == taken
