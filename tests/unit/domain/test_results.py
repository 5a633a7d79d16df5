"""A result is kept as plain JSON, masked and capped, or refused by the name of its type."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.arguments import Json, check_arguments
from sempre.domain.redaction import MASK
from sempre.domain.results import kept_result
from sempre.errors import ResultError


class Level(IntEnum):
    HIGH = 3


class Opaque:
    def __repr__(self) -> str:
        raise RuntimeError("no text for you")


def numbers() -> Iterator[int]:
    yield 1


def circle() -> list[Any]:
    whole: list[Any] = []
    whole.append(whole)
    return whole


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2.5, 2.5),
        ("è 東", "è 東"),
        ((1, (2,)), [1, [2]]),
        ({1: "a"}, {"1": "a"}),
        (Level.HIGH, 3),
        ({"token": "hunter2", "rows": 3}, {"token": MASK, "rows": 3}),
    ],
)
def test_a_result_is_kept_as_plain_json(value: object, kept: object) -> None:
    result = kept_result(value)

    assert result == kept
    assert type(result) is type(kept)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (datetime(2026, 1, 31, tzinfo=UTC), "datetime"),
        ({"rows": [{1, 2}]}, "set"),
        (b"raw", "bytes"),
        (Opaque(), "Opaque"),
        (numbers(), "generator"),
        (object, "type"),
        ({(1, 2): 3}, "tuple"),
        (math.nan, "float"),
        (circle(), "Circular"),
        (nested(40), "levels"),
        (nested(400), "levels"),
        (2**63, "64-bit"),
        ("a\0b", "NUL"),
        ("\udce9", "surrogates"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_by_name(value: object, word: str) -> None:
    with pytest.raises(ResultError, match=r"^result") as refusal:
        kept_result(value)

    assert word in str(refusal.value)


def test_a_large_result_becomes_a_note_rather_than_a_failure() -> None:
    note = kept_result(["x" * 100] * 1_000)

    assert isinstance(note, str)
    assert "bytes of JSON" in note
    assert isinstance(kept_result([0] * 100_000), str)


@pytest.mark.parametrize("size", range(65_480, 65_540))
def test_a_result_of_any_size_is_kept_or_noted(size: int) -> None:
    assert isinstance(kept_result("x" * size), str)


def test_patterns_of_the_job_mask_more() -> None:
    assert kept_result({"iban": "IT60", "id": 1}, ("iban",)) == {"iban": MASK, "id": 1}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.just("a"), inner),
    max_leaves=20,
)


@given(JSON)
def test_plain_json_is_kept_as_it_is_and_every_store_takes_it(value: Json) -> None:
    kept = kept_result(value)

    assert kept == value
    assert check_arguments({"result": kept}) == {"result": value}
