"""The SQL store keeps its contract behind a PgBouncer that gives connections out by transaction.

So nothing that it relies on is bound to a session: no lock, no setting, no prepared statement.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.postgresql.dialect import PREPARED_AFTER
from sempre.testing.contracts.store import *  # noqa: F403
from sempre.testing.contracts.transactional import *  # noqa: F403
from sempre.testing.contracts.transactional import Database
from tests.contract.databases import database_of
from tests.integration.sql.postgresql_server import postgresql_server
from tools.guardian import Guarded
from tools.servers import environment, locate

NUMBERS = count()
PORT = 6543
SETTINGS = """\
[databases]
* = host={folder} user=postgres
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 500
log_connections = 0
log_disconnections = 0
log_pooler_errors = 0
log_stats = 0
"""


@contextmanager
def bouncer_before(conninfo: str) -> Iterator[str]:
    """Run a PgBouncer before a server and yield how to connect to it; skip where there is none."""
    program = locate("pgbouncer")
    if program is None:
        pytest.skip("PgBouncer is not installed; `make servers` installs it")
    folder = Path(dict(part.split("=") for part in conninfo.split())["host"])
    settings = folder / "pgbouncer.ini"
    settings.write_text(SETTINGS.format(folder=folder, port=PORT))
    owner = folder.owner()
    shutil.chown(settings, owner)
    process = Guarded(
        [program, settings],
        folder=folder,
        user=owner if os.geteuid() == 0 else None,
        environment=environment(),
        output=subprocess.PIPE,
        ends_by=signal.SIGTERM,
    )
    try:
        told = []
        for line in process.output or ():
            told.append(str(line))
            if b"process up" in line:
                break
        else:
            pytest.fail("PgBouncer did not start:\n" + "\n".join(told))
        yield f"{conninfo} port={PORT}"
    finally:
        process.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql_server(fsync="off") as conninfo, bouncer_before(conninfo) as bounced:
        yield bounced


@pytest.fixture
def store(server: str) -> Iterator[Store]:
    opened = SqlStore(Postgresql(server, schema=f"bounced_{next(NUMBERS)}", any_flush=True))
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def database(server: str) -> Iterator[Database]:
    """Callers that have the connections of this very pool, of which there are few."""
    made = database_of(server, prepare_threshold=None)
    made.store.upgrade()
    yield made
    made.store.close()


def test_no_plan_is_kept_on_a_server_that_changes_with_every_transaction(server: str) -> None:
    dialect = Postgresql(server, schema=f"bounced_{next(NUMBERS)}", any_flush=True)
    dialect.statements["kept"] = "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"
    store = SqlStore(dialect)
    store.upgrade()

    for _ in range(2 * PREPARED_AFTER):
        store.sessions()

    assert dialect.read(lambda transaction: transaction.rows("kept")) == [(0,)]
    store.close()
