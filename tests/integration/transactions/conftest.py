"""One server of each kind for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.sql.mariadb_server import mariadb_server
from tests.integration.sql.postgresql_server import postgresql_server
from tests.integration.transactions.places import (
    Place,
    Shop,
    on_mariadb,
    on_postgresql,
    on_sqlite,
    opened,
)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    with postgresql_server(fsync="off") as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    with mariadb_server() as path:
        yield path


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return on_sqlite(tmp_path)
    server = request.getfixturevalue(request.param)
    return on_postgresql(server) if request.param == "postgresql" else on_mariadb(server)


@pytest.fixture
def shop(place: Place) -> Iterator[Shop]:
    with opened(place) as shop:
        yield shop
