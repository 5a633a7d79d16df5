"""Random lives in the SQL store and in the memory store: every answer is the same.

Lives must have gone through every fast path of their dialect, and through the path beside it: a
fast path that finds nothing proves nothing. Kept bugs show that the comparison finds what it is
there to find.
"""

from pathlib import Path

import pytest

from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite
from tests.integration.sql.lives import BUGS, lead, lead_with_bug
from tests.integration.sql.mariadb_server import new_database

LIVES = 4
# A bug that so many lives do not meet is not found.
MOST = 40


@pytest.mark.parametrize("first", range(0, 16, 2 * LIVES))
def test_sqlite_answers_as_the_memory_store_does(first: int, tmp_path: Path) -> None:
    lead(
        lambda seed, clock: Sqlite(tmp_path / f"{seed}.db", clock=clock),
        range(first, first + 2 * LIVES),
    )


@pytest.mark.parametrize("first", range(100, 108, LIVES))
def test_postgresql_answers_as_the_memory_store_does(first: int, server: str) -> None:
    lead(
        lambda seed, _: Postgresql(server, schema=f"beside_{seed}"),
        range(first, first + LIVES),
    )


def test_postgresql_without_prepared_statements_answers_as_the_memory_store_does(
    server: str,
) -> None:
    """As behind a pooler: each statement waits for its answer, and nothing is kept."""

    def opened(seed: int, _: object) -> Postgresql:
        dialect = Postgresql(server, schema=f"plain_{seed}")
        dialect._can_prepare = False  # noqa: SLF001 - what a pooler makes of it
        return dialect

    lead(opened, range(100, 100 + LIVES))


@pytest.mark.parametrize("first", range(200, 208, LIVES))
def test_mariadb_answers_as_the_memory_store_does(first: int, mariadb: str) -> None:
    lead(lambda _, __: Mariadb(new_database(mariadb)), range(first, first + LIVES))


@pytest.mark.parametrize("bug", BUGS["sqlite"])
def test_a_bug_of_sqlite_is_found(bug: str, tmp_path: Path) -> None:
    assert lead_with_bug(
        lambda seed, clock: Sqlite(tmp_path / f"{seed}.db", clock=clock),
        range(300, 300 + MOST),
        BUGS["sqlite"][bug],
    )


@pytest.mark.parametrize("bug", BUGS["postgresql"])
def test_a_bug_of_postgresql_is_found(bug: str, server: str) -> None:
    place = f"bug_{list(BUGS['postgresql']).index(bug)}"

    assert lead_with_bug(
        lambda seed, _: Postgresql(server, schema=f"{place}_{seed}"),
        range(100, 100 + MOST),
        BUGS["postgresql"][bug],
    )


@pytest.mark.parametrize("bug", BUGS["mariadb"])
def test_a_bug_of_mariadb_is_found(bug: str, mariadb: str) -> None:
    assert lead_with_bug(
        lambda _, __: Mariadb(new_database(mariadb)), range(200, 200 + MOST), BUGS["mariadb"][bug]
    )
