"""The SQL stores keep the contract of a transactional store, on every database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.testing.contracts.transactional import *  # noqa: F403
from sempre.testing.contracts.transactional import Database
from tests.contract.databases import (
    Servers,
    on_mariadb,
    on_postgresql,
    on_sqlite,
    opened,
)

EVERY = [on_mariadb, on_postgresql, on_sqlite]


@pytest.fixture(params=EVERY, ids=lambda each: each.__name__)
def database(
    request: pytest.FixtureRequest, servers: Servers, tmp_path: Path
) -> Iterator[Database]:
    with opened(request.param, servers, tmp_path) as made:
        yield made
