"""Secrets are masked by their names, in values and texts, and what is kept is of bounded size."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.arguments import Json
from sempre.domain.redaction import (
    MASK,
    capped,
    kept_text,
    redacted,
    redacted_text,
    withheld,
)

SECRET = "hunter2"  # noqa: S105 - it is hunted for below
NAMES = ["password", "PassWord", "token", "accessToken", "secret", "API-Key", "Authorization"]
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


WHOLE_NAMES = ["pwd", "pass", "cookie", "credential", "credentials", "auth", "session"]


@pytest.mark.parametrize("name", WHOLE_NAMES)
def test_short_names_of_secrets_count_as_whole_names_only(name: str) -> None:
    assert redacted({name.upper(): SECRET}) == {name.upper(): MASK}
    assert redacted_text(f"{name}={SECRET}") == f"{name}={MASK}"
    assert redacted({f"{name}enger": 7, f"my{name}": 7}) == {f"{name}enger": 7, f"my{name}": 7}
    assert redacted_text(f"com{name}={SECRET}") == f"com{name}={SECRET}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("secret", [SECRET, 7, None, [SECRET], {"plain": SECRET}])
def test_whatever_stands_under_the_name_of_a_secret_is_masked(name: str, secret: Json) -> None:
    assert redacted({"rows": [{name: secret, "id": 3}]}) == {"rows": [{name: MASK, "id": 3}]}


def test_harmless_keys_and_values_are_left_alone() -> None:
    value: Json = {"region": "eu", "rows": [1, 2.5, None, True, "password"]}

    assert redacted(value) == value


@pytest.mark.parametrize(
    "name", ["key", "monkey", "primary_key", "tokens", "token_count", "secretary", "authorized"]
)
def test_a_name_that_only_contains_that_of_a_secret_is_none(name: str) -> None:
    assert redacted({name: 7}) == {name: 7}


def test_a_password_in_a_url_is_masked_wherever_it_stands() -> None:
    masked = redacted({"dsn": "postgresql://ann:hunter2@db/x"})

    assert masked == {"dsn": f"postgresql://ann:{MASK}@db/x"}


def test_patterns_add_whole_names_with_wildcards_in_any_case() -> None:
    value: Json = {"IBAN": "a", "card_1_number": "b", "card": "c", "iban_main": "d"}

    masked = redacted(value, ["iban", "card_*number", ""])

    assert masked == {"IBAN": MASK, "card_1_number": MASK, "card": "c", "iban_main": "d"}


def test_what_is_withheld_is_what_the_patterns_name_and_no_more() -> None:
    value: dict[str, Json] = {"iban": "IT60", "password": SECRET, "url": f"x://ann:{SECRET}@host"}

    assert withheld(value, ["Iban"]) == {**value, "iban": MASK}
    assert withheld(value, []) is value


@pytest.mark.parametrize("pattern", ["(", "[", "a|", "\\", "#", "a b", "{2}"])
def test_no_pattern_is_invalid(pattern: str) -> None:
    assert redacted({pattern: SECRET}, [pattern]) == {pattern: MASK}
    assert SECRET not in redacted_text(f"{pattern}={SECRET}", [pattern])


@given(VALUES)
def test_redaction_keeps_the_shape_and_changes_nothing_twice(value: Json) -> None:
    before = json.dumps(value)

    once = redacted(value)

    assert redacted(once) == once
    assert json.dumps(value) == before
    assert type(once) is type(value)


@given(VALUES, st.sampled_from(NAMES))
def test_no_secret_survives_anywhere_under_its_key(value: Json, name: str) -> None:
    hidden: Json = [value, {"deep": {name: [SECRET * 3, value]}}]

    assert SECRET * 3 not in json.dumps(redacted(hidden))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter2", f"password={MASK}"),
        ("PASSWORD = hunter2, region=eu", f"PASSWORD = {MASK}, region=eu"),
        ("token: hunter2", f"token: {MASK}"),
        ("{'api_key': 'hunter2', 'id': 3}", f"{{'api_key': '{MASK}', 'id': 3}}"),
        ('{"secret":"hun\\"ter2"}', f'{{"secret":"{MASK}"}}'),
        ("login(password='two words', user='ann')", f"login(password='{MASK}', user='ann')"),
        ("password=b'hunter2'", f"password='{MASK}'"),
        ("headers['X-Token'] = 'hunter2'", f"headers['X-Token'] = '{MASK}'"),
        ("Authorization: Bearer hunter2.abc", f"Authorization: {MASK}"),
        ("Authorization: Basic aHVudGVyMg==", f"Authorization: {MASK}"),
        ("sent bearer hunter2.abc to it", f"sent bearer {MASK} to it"),
        ("postgresql://ann:hunter2@db/x", f"postgresql://ann:{MASK}@db/x"),
        ("redis://:hunter2@db", f"redis://:{MASK}@db"),
        ("http://ann:hun@ter2@db/x", f"http://ann:{MASK}@db/x"),
        ("DB_PASSWORD=hunter2", f"DB_PASSWORD={MASK}"),
        ("https://host/p?token=hunter2&page=2", f"https://host/p?token={MASK}&page=2"),
    ],
)
def test_values_after_suspicious_words_are_masked_in_texts(text: str, masked: str) -> None:
    assert redacted_text(text) == masked
    assert redacted_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'region'",
        "tokenize.TokenError: ('EOF in multi-line string', (1, 0))",
        "jwt.InvalidTokenException: expired",
        "http://host:8080/path?mail=ann@example.org",
        "if password == expected:",
        "primary_key=7, monkey: 1",
        "token_count=512",
        "a token of gratitude",
        "ann@example.org: no such mailbox",
    ],
)
def test_what_names_no_secret_stays_readable(text: str) -> None:
    assert redacted_text(text) == text


@given(
    st.sampled_from(["password={!r}", "{{'token': {!r}}}", "secret: {!r}", "call(pwd={!r})"]),
    st.text(min_size=4, max_size=40),
    st.text(max_size=20),
)
def test_no_quoted_secret_survives_in_a_text(form: str, secret: str, around: str) -> None:
    # As Python shows it; marked, so that the surroundings cannot hold it by chance.
    marked = f"<{secret}>"

    masked = redacted_text(f"{around}\n{form.format(marked)} {around}")

    assert repr(marked)[1:-1] not in masked


@given(
    st.sampled_from(["password={}", "api_key: {}", "x://ann:{}@host", "Authorization: Bearer {}"]),
    st.text(string.ascii_letters + string.digits + "._~+-", min_size=8, max_size=40),
)
def test_no_plain_secret_survives_in_a_text(form: str, secret: str) -> None:
    assert f"1{secret}" not in redacted_text(form.format(f"1{secret}"))


@given(st.text(), st.integers(min_value=0, max_value=400))
def test_a_capped_text_has_at_most_its_limit_and_a_short_one_is_unchanged(
    text: str, limit: int
) -> None:
    kept = capped(text, limit)

    assert len(kept.encode()) <= limit
    assert kept == text or len(text.encode()) > limit


def test_a_capped_text_keeps_its_head_and_its_tail() -> None:
    kept = capped("HEAD" + "è" * 9_000 + "TAIL")

    assert kept.startswith("HEAD")
    assert kept.endswith("TAIL")
    assert "18,008 bytes in all" in kept


@pytest.mark.parametrize(
    "text",
    [
        "a" * 400_000,
        "key" * 200_000,
        "token=" * 100_000,
        "://a:" * 100_000,
        'secret="' * 80_000,
        "password" + " " * 400_000,
        "bearer " * 100_000,
        "key='" + "\\" * 400_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_of_any_kind_are_read_once(text: str) -> None:
    # A pattern that reads a text again from every character would not come back from this.
    assert len(kept_text(text).encode()) <= 8192


def test_a_secret_is_masked_before_the_text_is_cut() -> None:
    text = "x" * 20_000 + f"\npassword='{SECRET * 1_000}'"

    assert "hunter" not in kept_text(text)


def test_a_kept_text_has_nothing_that_a_store_refuses() -> None:
    assert kept_text("a\0b \udce9 è") == "a\\x00b \\udce9 è"
