"""Every statement has a name and a description, is complete, and is used."""

import re
from pathlib import Path

import pytest

from sempre.stores.sql import statements
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.stores.sql.migrations import VERSION, steps

SOURCES = Path(statements.__file__).parent
DIALECTS = sorted(path.parent.name for path in SOURCES.glob("dialects/*/statements.sql"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_says_what_it_is_for(dialect: str) -> None:
    for statement in statements.load(dialect).values():
        assert statement.description, statement.name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_is_used(dialect: str) -> None:
    files = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.sql")]
    text = "\n".join(path.read_text() for path in files)

    unused = [
        name
        for name in statements.load(dialect)
        if not re.search(rf'"{name}"|\{{{name}[:}}]', text)
    ]

    assert unused == []


# Called only where a statement that reads can write as well.
AT_ONCE = {"notify", "start_slots", "claim_one_off"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_that_is_called_exists(dialect: str) -> None:
    text = "\n".join(path.read_text() for path in SOURCES.glob("*.py"))
    called = set(re.findall(r'transaction\.(?:rows|run|many)\(\s*"(\w+)"', text))

    if dialect != "postgresql":
        called -= AT_ONCE

    assert called
    assert called <= statements.load(dialect).keys()


# How databases call their clocks, and what else stands for the present.
CLOCKS = re.compile(
    r"clock_timestamp|statement_timestamp|transaction_timestamp|utc_timestamp|unix_timestamp|"
    r"current_timestamp|sysdate|julianday|unixepoch|strftime|\bnow\s*\(",
    re.IGNORECASE,
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_statement_only_reads_the_clock_of_a_server(dialect: str) -> None:
    """Others include it, so that a test that steers the clock steers all of them."""
    found = statements.load(dialect).values()

    assert {each.name for each in found if CLOCKS.search(each.text)} <= {"now"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_steps_of_the_schema_are_numbered_without_a_gap(dialect: str) -> None:
    assert [number for number, _ in steps(dialect)] == list(range(1, VERSION + 1))


def test_no_place_is_left_open(tmp_path: Path) -> None:
    dialect = Sqlite(tmp_path / "jobs.db")

    for name, text in dialect.statements.items():
        assert not re.search(r"\{\w", text), name
    dialect.close()


def test_a_file_is_parsed_into_named_statements() -> None:
    found = statements.parse(
        "-- A file.\n\n-- name: one\n-- The first.\nSELECT 1\n\n"
        "-- name: two\n-- The other.\nSELECT 2\n"
    )

    assert [(each.name, each.description, each.text) for each in found.values()] == [
        ("one", "The first.", "SELECT 1"),
        ("two", "The other.", "SELECT 2"),
    ]
