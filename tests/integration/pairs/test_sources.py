"""What a pair's query may return, with the drivers and libraries that people use."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pymysql.cursors  # type: ignore[import-untyped]
import pytest
from psycopg.rows import dict_row, namedtuple_row
from sqlalchemy import (
    Column,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
    create_engine,
    literal,
    select,
)

from sempre.app.pairs.sources import Source
from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tests.integration.pairs.tables import BIG, derive, fill, index
from tests.integration.transactions.places import Place

WANTED = Table("wanted", MetaData(), Column("id", Integer), Column("state", String))
PENDING = "SELECT id FROM wanted WHERE state = 'pending'"
IDS = [{"id": number} for number in range(1, BIG, 1000)]
SERVERS = pytest.mark.parametrize("place", ["postgresql", "mariadb"], indirect=True)
Sources = dict[str, tuple[Callable[[], object], dict[str, Any]]]


@pytest.fixture
def engine(place: Place) -> Iterator[Engine]:
    made = create_engine(place.alchemy)
    yield made
    made.dispose()


def sources(place: Place, engine: Engine) -> Sources:
    """Return queries for what is pending, and options of their pairs."""
    bound = select(WANTED.c.id).where(WANTED.c.state == "pending")
    return {
        "text": (lambda: PENDING, {}),
        "text elsewhere": (lambda: PENDING, {"database": place.connect}),
        "text by an engine": (lambda: PENDING, {"database": engine}),
        "select": (lambda: bound, {"database": engine}),
        "list": (lambda: place.run(PENDING), {}),
        "generator": (lambda: (row[0] for row in place.run(PENDING)), {}),
    }


@pytest.mark.parametrize(
    "named", ["text", "text elsewhere", "text by an engine", "select", "list", "generator"]
)
def test_what_a_query_finds_is_put_in(place: Place, engine: Engine, named: str) -> None:
    fill(place, BIG)
    query, options = sources(place, engine)[named]

    found = derive(place, query, batch=5, **options)

    assert found.scan.found == found.scan.enqueued == len(IDS)
    assert sorted(found.args, key=lambda args: args["id"]) == IDS


@pytest.mark.parametrize("named", ["text", "text elsewhere", "text by an engine", "select"])
def test_a_big_table_without_an_index_is_told_of(place: Place, engine: Engine, named: str) -> None:
    fill(place, BIG)
    query, options = sources(place, engine)[named]

    without = derive(place, query, **options)
    index(place)
    with_index = derive(place, query, **options)

    assert without.scan.full_scans == ["wanted"]
    assert with_index.scan.full_scans == []


class Unspeakable(TypeDecorator[str]):
    """A type whose values cannot be written into the text of a query."""

    impl = String
    cache_ok = True

    def process_literal_param(self, value: str | None, dialect: object) -> str:
        raise NotImplementedError


def test_a_select_whose_values_cannot_be_explained_is_read(place: Place, engine: Engine) -> None:
    fill(place, BIG)
    pending = select(WANTED.c.id).where(WANTED.c.state == literal("pending", Unspeakable()))

    found = derive(place, lambda: pending, database=engine)

    assert found.scan.enqueued == len(IDS)
    assert found.scan.full_scans == []


NAMED_ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "psycopg dict_row": ("postgresql", {"row_factory": dict_row}),
    "psycopg namedtuple_row": ("postgresql", {"row_factory": namedtuple_row}),
    "psycopg autocommit": ("postgresql", {"row_factory": dict_row, "autocommit": True}),
    "PyMySQL DictCursor": ("mariadb", {"cursorclass": pymysql.cursors.DictCursor}),
    "PyMySQL autocommit": ("mariadb", {"autocommit": True}),
}


@pytest.mark.parametrize(
    ("place", "options"),
    [pytest.param(*case, id=name) for name, case in NAMED_ROWS.items()],
    indirect=["place"],
)
def test_rows_may_have_names_and_their_columns_another_order(
    place: Place, options: dict[str, Any]
) -> None:
    fill(place, BIG)
    by_name = any(each in str(options) for each in ("dict_row", "DictCursor"))
    columns = "state, id" if by_name else "id, state"
    query = f"SELECT {columns} FROM wanted WHERE state = 'pending'"  # noqa: S608

    found = derive(place, lambda: query, database=partial(place.connect, **options))

    assert [args["id"] for args in found.args] == sorted((each["id"] for each in IDS), key=str)
    assert {args["state"] for args in found.args} == {"pending"}
    assert found.scan.full_scans == ["wanted"]


@SERVERS
@pytest.mark.parametrize("by_engine", [False, True], ids=["text", "select"])
def test_the_server_keeps_what_nobody_has_asked_for_yet(
    place: Place, engine: Engine, *, by_engine: bool
) -> None:
    fill(place, 20_000, width=2000)
    text = "SELECT id, note FROM wanted"
    columns = WANTED.c.id, Column("note", String)
    answer: object = select(*columns).select_from(WANTED) if by_engine else text
    source = Source(engine if by_engine else place.connect, lambda: None, batch=100)

    items = source.items(answer)
    first = next(items)
    eventually(lambda: is_being_read(place))
    read = 1 + sum(1 for _ in items)

    assert first[0] == 1  # type: ignore[index]
    assert read == 20_000


def is_being_read(place: Place) -> bool:
    """Tell whether the server has rows that were not yet sent."""
    if place.error is psycopg.Error:
        asked = "query LIKE 'FETCH%' AND state = 'idle in transaction'"
        text = f"SELECT count(*) FROM pg_stat_activity WHERE {asked}"  # noqa: S608
    else:
        asked = "info LIKE 'SELECT%note%' AND state LIKE '%net%'"
        text = f"SELECT count(*) FROM information_schema.processlist WHERE {asked}"  # noqa: S608
    return bool(place.run(text)[0][0])


def test_a_look_that_ends_early_gives_its_connection_back(place: Place) -> None:
    fill(place, BIG)
    opened: list[Any] = []

    def connect() -> Any:  # noqa: ANN401 - of any driver
        opened.append(place.connect())
        return opened[-1]

    items = Source(connect, lambda: None, batch=10).items("SELECT id FROM wanted")
    next(items)
    items.close()  # type: ignore[attr-defined]

    with pytest.raises(place.error):
        opened[0].cursor().execute("SELECT 1")


def test_a_table_that_is_not_there_is_a_failure_with_its_name(place: Place) -> None:
    with pytest.raises(place.error, match="nowhere"):
        derive(place, lambda: "SELECT id FROM nowhere")


@pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
def test_a_queryset_of_django_is_read(place: Place) -> None:
    """In a process of its own, as Django reads its settings once."""
    fill(place, BIG)
    program = [sys.executable, "-m", "tests.integration.pairs.django_program"]
    ended = subprocess.run(
        [*program, place.store, place.alchemy],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert said["args"] == sorted(IDS, key=str)
    assert said["again"] == len(IDS)
    assert said["full_scans"] == ["wanted"]
