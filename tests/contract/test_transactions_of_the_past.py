"""Callers whose transactions read the past are told the truth all the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.testing.contracts import collect
from sempre.testing.contracts.transactional import Database
from tests.contract.databases import (
    Servers,
    on_mariadb_of_old_snapshots,
    on_repeatable_postgresql,
    opened,
)

SUITE = "sempre.testing.contracts.transactional"
globals().update(collect(f"{SUITE}.enqueue", f"{SUITE}.races"))

EVERY = [on_mariadb_of_old_snapshots, on_repeatable_postgresql]


@pytest.fixture(params=EVERY, ids=lambda each: each.__name__)
def database(
    request: pytest.FixtureRequest, servers: Servers, tmp_path: Path
) -> Iterator[Database]:
    with opened(request.param, servers, tmp_path) as made:
        yield made
