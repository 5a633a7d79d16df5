"""A result is kept exactly as plain JSON, or marked with what is known of it."""

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
from sempre.domain.results import (
    MARK,
    NotJson,
    TooLarge,
    UnknownMark,
    kept_result,
    read_result,
    result_in_words,
    shown_result,
)


class Level(IntEnum):
    HIGH = 3


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
        ({"token": "hunter2", "rows": 3}, {"token": "hunter2", "rows": 3}),
    ],
)
def test_a_result_is_kept_as_plain_json(value: object, kept: object) -> None:
    result = kept_result(value)

    assert result == kept
    assert type(result) is type(kept)


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (datetime(2026, 1, 31, tzinfo=UTC), "datetime.datetime"),
        ({"rows": [{1, 2}]}, "dict"),
        (b"raw", "bytes"),
        (numbers(), "generator"),
        (object, "type"),
        ({(1, 2): 3}, "dict"),
        ({1: "a", "1": "b"}, "dict"),
        (math.nan, "float"),
        (circle(), "list"),
        (nested(40), "list"),
        (nested(400), "list"),
        (2**63, "int"),
        ("a\0b", "str"),
        ("\udce9", "str"),
    ],
)
def test_a_value_that_is_no_json_is_kept_as_its_repr(value: object, type_name: str) -> None:
    stored = kept_result(value)

    assert read_result(stored) == NotJson(type_name, repr(value))
    assert check_arguments({"result": stored})


@pytest.mark.parametrize("raises", [RuntimeError, SystemExit, KeyboardInterrupt, MemoryError])
def test_a_value_whose_repr_raises_is_kept_by_the_name_of_its_type(
    raises: type[BaseException],
) -> None:
    class Opaque:
        def __repr__(self) -> str:
            raise raises("no text for you")

    found = read_result(kept_result(Opaque()))

    assert isinstance(found, NotJson)
    assert found.type_name.endswith("Opaque")
    assert f"whose repr raised {raises.__name__}" in found.text


class Hostile(dict[str, Any]):
    def items(self) -> Any:  # noqa: ANN401 - it returns nothing
        raise OSError("not today")


def test_a_value_that_raises_while_it_is_written_is_kept_as_its_repr() -> None:
    assert read_result(kept_result([Hostile(a=1)])) == NotJson("list", "[{'a': 1}]")


def test_a_long_repr_is_capped() -> None:
    found = read_result(kept_result({"x" * 1_000_000}))

    assert isinstance(found, NotJson)
    assert len(found.text.encode()) <= 8192
    assert found.text.startswith("{'xxx")
    assert found.text.endswith("xxx'}")


def test_a_result_over_the_limit_is_marked_with_its_size() -> None:
    assert read_result(kept_result("è" * 32_767)) == "è" * 32_767
    assert read_result(kept_result("è" * 32_768)) == TooLarge(65_538, 65_536)
    assert read_result(kept_result([0] * 100_000)) == TooLarge(200_001, 65_536)
    assert read_result(kept_result("x" * 100, limit=101)) == TooLarge(102, 101)
    assert kept_result("x" * 99_998, limit=100_000) == "x" * 99_998


@pytest.mark.parametrize("kind", ["plain", "repr", "too_large", "of tomorrow", None])
def test_an_object_of_the_jobs_own_is_no_mark(kind: str | None) -> None:
    own: Json = {MARK: kind, "value": 1, "type": "int", "text": "1", "bytes": 1, "limit": 1}

    assert read_result(kept_result(own)) == own
    assert read_result(kept_result([own])) == [own]


def test_a_mark_of_a_newer_release_is_not_taken_for_a_value() -> None:
    assert read_result({MARK: "compressed", "text": "..."}) == UnknownMark("compressed")


def test_a_result_is_masked_where_it_is_shown() -> None:
    plain = {"token": "hunter2", "key": 7}

    class Login:
        def __repr__(self) -> str:
            return "Login(password='hunter2')"

    assert shown_result(kept_result(plain)) == {"token": MASK, "key": 7}
    assert result_in_words(kept_result(plain)) == '{"token": "[redacted]", "key": 7}'
    assert result_in_words(kept_result(Login())) == "Login(password='[redacted]')"
    assert "hunter2" not in str(shown_result(kept_result(Login())))
    assert result_in_words(kept_result("x" * 99, limit=9)) == ("(not stored: 101 bytes, limit 9)")
    assert result_in_words(None) == ""


def test_patterns_of_the_job_mask_a_repr_too() -> None:
    class Paid:
        def __repr__(self) -> str:
            return "Paid(iban='IT60', token='kept')"

    found = read_result(kept_result(Paid(), ("iban",)))

    assert isinstance(found, NotJson)
    assert found.text == "Paid(iban='[redacted]', token='kept')"


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

    assert read_result(kept) == kept == value
    assert check_arguments({"result": kept}) == {"result": value}
