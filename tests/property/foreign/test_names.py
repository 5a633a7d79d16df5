"""Names that become part of a statement, a key or a lane."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sempre.errors import InvalidInput, StoreRefused
from sempre.stores.redis import RedisStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.property.foreign.strategies import any_text

PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,40}", re.ASCII)
OPENERS: dict[str, Callable[[str], object]] = {
    "prefix of sqlite": lambda word: Sqlite("jobs.db", prefix=word),
    "schema of postgresql": lambda word: Postgresql("", schema=word),
    "prefix of mariadb": lambda word: Mariadb("mariadb://root@localhost/jobs", prefix=word),
    "prefix of redis": lambda word: RedisStore("redis://localhost", prefix=word),
}


@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS.keys())
@given(word=st.one_of(any_text, st.text("abz_09A;'\"`. \n", max_size=45)))
@example(word="sempre\n")
@example(word="\u017f")
def test_any_text_is_a_plain_schema_or_prefix_or_refused(
    opener: Callable[[str], object], word: str
) -> None:
    try:
        opener(word)
    except (InvalidInput, StoreRefused):
        return
    assert PLAIN.fullmatch(word)
